#!/usr/bin/env bash
# markdown.sh PORTABLE.csv NATIVE.csv
# Two runs of bench_peers as the tables of doc/performance.md: microseconds, best batches.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,3p' "$0" >&2; exit 1; }

awk -F, '
    # us with three digits, "-" when it was not measured
    function us(v) {
        if (v == "") return "-"
        v /= 1000
        return sprintf(v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v)
    }
    function ratio(a, b) { return a == "" || b == "" ? "-" : sprintf("%.1f", a / b) }
    function cell(build, model, quantity, from, who) {
        return ns[build, model, quantity, from, who]
    }
    function row(model, quantity, from,    t, s, tn) {
        t = cell(1, model, quantity, from, "Talus"); tn = cell(2, model, quantity, from, "Talus")
        s = cell(1, model, quantity, from, "Simbody")
        if (t == "") return
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", model, us(t),
            us(cell(1, model, quantity, from, "bare C")), us(s),
            us(cell(1, model, quantity, from, "MuJoCo")), us(tn),
            us(cell(2, model, quantity, from, "bare C")), ratio(s, t),
            ratio(cell(2, model, quantity, from, "Simbody"), tn)
    }
    function table(quantity, from,    i) {
        printf "\n%s, %s\n\n", quantity, from == "qu" ? "from new (q,u)" : "cached"
        print "| model | Talus | bare C | Simbody | MuJoCo | native: Talus | bare C " \
            "| Simbody / Talus, portable | native |"
        print "|---|---|---|---|---|---|---|---|---|"
        for (i = 1; i <= n; ++i) if (plain[order[i]]) row(order[i], quantity, from)
    }
    # a closed loop or a tree with springs, next to the tree alone
    function added(model,    q, t, tree, tn, treen) {
        q = "forward dynamics"
        t = cell(1, model, q, "qu", "Talus"); tree = cell(1, model, q, "qu", "(tree)")
        tn = cell(2, model, q, "qu", "Talus"); treen = cell(2, model, q, "qu", "(tree)")
        if (t == "") return
        printf "| %s | %s | %s | %.2f | %s | %.2f | %s | %s | %s |\n", model, us(t), us(tree),
            t / tree, us(tn), (treen == "" ? 0 : tn / treen),
            us(cell(1, model, q, "qu", "Simbody")),
            ratio(cell(1, model, q, "qu", "Simbody"), t),
            ratio(cell(2, model, q, "qu", "Simbody"), tn)
    }
    FNR == 1 { ++build; next }
    {
        if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1; plain[$1] = 1 }
        if ($6 == "(tree)") plain[$1] = 0
        ns[build, $1, $4, $5, $6] = $7
    }
    END {
        table("forward dynamics", "qu"); table("inverse dynamics", "qu"); table("kinematics", "qu")
        split("M v,M^-1 v,M,Jacobian", operators, ",")
        for (k = 1; k <= 4; ++k) { table(operators[k], "cache"); table(operators[k], "qu") }
        table("inverse dynamics", "cache"); table("forward dynamics", "cache")
        table("copy of a State", "cache")
        print "\nforward dynamics of loops and of a tree with springs\n"
        print "| model | Talus | tree alone | ratio | native: Talus | ratio | Simbody " \
            "| Simbody / Talus, portable | native |"
        print "|---|---|---|---|---|---|---|---|---|"
        for (i = 1; i <= n; ++i) if (!plain[order[i]]) added(order[i])
    }' "$1" "$2"
