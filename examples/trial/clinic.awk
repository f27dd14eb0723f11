# A stand-in for the clinic: for each line of `paretoguard ask`, the outcome of one made-up patient, as CSV.
# The outcome depends on the ticket alone, so that every run of this example is the same.

BEGIN {
    FS = "\t"
    efficacy["standard"] = 0.30; safety["standard"] = 0.50
    efficacy["10mg"] = 0.65; safety["10mg"] = 0.95
    efficacy["30mg"] = 0.97; safety["30mg"] = 0.65
    efficacy["100mg"] = 0.97; safety["100mg"] = 0.03
    print "ticket,efficacy,safety"
}

{ printf "%d,%d,%d\n", $1, chance(2 * $1) < efficacy[$2], chance(2 * $1 + 1) < safety[$2] }

# A number from 0 to 1 that looks random. All products stay below 2^53, so that every awk gives the same.
function chance(place,    x, k) {
    x = 1009 + 7919 * place
    for (k = 1; k <= 8; k++) x = ((x % 67108859) * (x % 67108859) + 104729 * k) % 67108859
    return x / 67108859
}
