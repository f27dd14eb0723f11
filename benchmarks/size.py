"""How large the source is, now or at commits: lines, files, questions with a body per record, long lists of parameters.

python benchmarks/size.py            the working tree
python benchmarks/size.py HEAD~9 .   a commit, and the working tree (.)
"""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = "src/paretoguard"
MANY = 6  # parameters


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def texts(revision: str) -> dict[str, str]:
    """Return the source files of a revision, or of the working tree for "."."""
    if revision == ".":
        return {str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / SOURCE).rglob("*.py"))}
    names = git("ls-tree", "-r", "--name-only", revision, SOURCE).splitlines()
    return {name: git("show", f"{revision}:{name}") for name in names if name.endswith(".py")}


def functions(text: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]


def is_question(function: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "part" for each in function.decorator_list)


def parameters(function: ast.FunctionDef) -> int:
    given = function.args
    return len([*given.posonlyargs, *given.args, *given.kwonlyargs])


def sizes(revision: str) -> dict[str, int | str]:
    files = texts(revision)
    lines = {name: text.count("\n") for name, text in files.items()}
    found = [function for text in files.values() for function in functions(text)]
    longest = max(lines, key=lambda name: lines[name])
    return {
        "lines": sum(lines.values()),
        "files": len(files),
        "longest file": f"{lines[longest]} ({longest.removeprefix(SOURCE + '/')})",
        "questions": sum(map(is_question, found)),
        f"functions with {MANY} or more parameters": sum(parameters(function) >= MANY for function in found),
    }


def main() -> None:
    for revision in sys.argv[1:] or ["."]:
        print(revision if revision != "." else "working tree")
        for name, value in sizes(revision).items():
            print(f"  {value:>10,}  {name}" if isinstance(value, int) else f"  {value}  {name}")


if __name__ == "__main__":
    main()
