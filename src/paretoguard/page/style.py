"""How a report looks: on screens wide and narrow, light and dark, and on paper."""

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1f2427;--quiet:#5a6267;--line:#d5dadd;--soft:#f3f5f6;
--optimal:#006b4c;--dominated:#005a8c;--infeasible:#a34300;--undecided:#4d4d4d;--link:#005a8c;
--alarm:#8f1d1d;--alarm-soft:#fdeeee}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:58rem;padding:1.5rem 1.25rem 3rem;background:var(--paper);color:var(--ink);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .6rem}
h2{font-size:1.3rem;line-height:1.3;margin:2.8rem 0 .8rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.6rem 0 .4rem}
p,ul,dl{margin:.5rem 0 .9rem}
ul{padding-left:1.2rem}
li+li{margin-top:.3rem}
a{color:var(--link)}
.kind{margin:0;color:var(--quiet);font-size:.9rem}
.answer{font-size:1.3rem;line-height:1.4;font-weight:600;margin:.2rem 0 1.1rem}
.quiet,caption,figcaption,footer{color:var(--quiet);font-size:.9rem}
.note,.alarm{border-left:.3rem solid var(--quiet);background:var(--soft);padding:.6rem .9rem}
.alarm{border-color:var(--alarm);background:var(--alarm-soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;margin:0 0 1.2rem}
.tiles div{background:var(--soft);border-radius:.4rem;padding:.55rem .8rem;margin:0}
.tiles dt{color:var(--quiet);font-size:.82rem}
.tiles dd{margin:0;font-weight:600}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;padding:0;font-size:.92rem}
nav li+li{margin:0}
table{border-collapse:collapse;width:100%;margin:.6rem 0 1.2rem;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:0 0 .4rem}
th,td{padding:.42rem .7rem .42rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
thead th{color:var(--quiet);font-weight:600;font-size:.85rem;border-bottom:2px solid var(--line);vertical-align:bottom}
tbody th{font-weight:600}
tbody th.short,.name{white-space:nowrap}
td.number,th.number{text-align:right;padding-right:1.1rem}
.limits{white-space:nowrap;color:var(--quiet)}
.status{font-weight:600;white-space:nowrap}
.optimal{color:var(--optimal)}.dominated{color:var(--dominated)}
.infeasible{color:var(--infeasible)}.undecided{color:var(--undecided)}
dl div{margin:0 0 .55rem}
dt{font-weight:600}
dd{margin:0}
.facts div{display:grid;grid-template-columns:minmax(9rem,13rem) 1fr;gap:.2rem 1rem;margin:0;padding:.3rem 0;
border-bottom:1px solid var(--line)}
.facts dt{font-weight:400;color:var(--quiet)}
.facts dd,.hash{overflow-wrap:anywhere}
.whys>div{padding:.55rem 0;border-bottom:1px solid var(--line);margin:0}
figure{margin:1rem 0 1.4rem}
.scroll{overflow-x:auto}
.scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px}
svg{display:block;width:100%;height:auto;fill:var(--ink)}
svg *{stroke-linejoin:round;stroke-linecap:butt}
svg [id*=QuadMesh]{shape-rendering:crispEdges}
figcaption{margin-top:.5rem}
pre{background:var(--soft);border-radius:.4rem;padding:.8rem 1rem;overflow-x:auto;white-space:pre-wrap;
overflow-wrap:anywhere;font:.85rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line)}
@media screen and (max-width:40rem){
body{padding:1rem 1rem 2rem}
h1{font-size:1.55rem}.answer{font-size:1.15rem}
.tiles{grid-template-columns:1fr 1fr}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,th,td,caption{display:block}
tr{padding:.55rem 0;border-bottom:1px solid var(--line)}
th,td,td.number{border:0;padding:.12rem 0;text-align:left}
td{display:grid;grid-template-columns:9rem 1fr;gap:.6rem}
td::before{content:attr(data-label);color:var(--quiet)}
.facts div{grid-template-columns:1fr}
figcaption::before{content:"The picture scrolls sideways. "}
}
"""
DARK = """--paper:#15191c;--ink:#e4e7e9;--quiet:#a3adb3;--line:#353d42;--soft:#1f2529;
--optimal:#4fd1a5;--dominated:#7cc4f2;--infeasible:#ff9d5c;--undecided:#c8c8c8;--link:#7cc4f2;
--alarm:#ff8f8f;--alarm-soft:#331d1f"""
PRINT = """
@page{margin:18mm 16mm}
@media print{
:root{color-scheme:light}
body{max-width:none;padding:0;font-size:10pt}
nav{display:none}
h2,h3{break-after:avoid}
tr,figure,.whys>div,.tiles,.facts div{break-inside:avoid}
thead{display:table-header-group;break-after:avoid}
caption{break-after:avoid}
tbody tr:first-child{break-before:avoid}
svg{min-width:0!important;max-height:135mm}
.scroll{overflow:visible}
pre{break-inside:auto}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""
