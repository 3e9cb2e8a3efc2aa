#!/usr/bin/env bash
# exported_symbols.sh SOURCE_DIR LIBTALUS_SO
# What the shared library exports is exactly what the public headers declare with TAL_API.
set -eu
export LC_ALL=C
source_dir=$1
library=$2

# the name declared after each TAL_API: the identifier before the first "(", "[" or ";"
declared() {
    find "$source_dir"/*/include -name '*.h' -exec cat {} + | awk '
        /^[ \t]*#/ || continued { continued = /\\$/; next }
        { sub(/\/\/.*/, ""); text = text " " $0 }
        END {
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", text)
            gsub(/TAL_PRINTF\([^)]*\)/, " ", text)
            while (match(text, /(^|[^A-Za-z0-9_])TAL_API[^A-Za-z0-9_]/)) {
                text = substr(text, RSTART + RLENGTH)
                match(text, /[(;[]/)
                head = substr(text, 1, RSTART - 1)
                match(head, /[A-Za-z_][A-Za-z0-9_]*[ \t]*$/)
                name = substr(head, RSTART)
                sub(/[ \t]+$/, "", name)
                print name
            }
        }' | sort -u
}

exported() {
    nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u
}

missing=$(comm -23 <(declared) <(exported))
surplus=$(comm -13 <(declared) <(exported))
badly_named=$(exported | grep -v '^tal_' || true)
for name in $missing; do
    echo "$name is declared TAL_API but the library does not export it"
done
for name in $surplus; do
    echo "$name is exported but no public header declares it with TAL_API"
done
for name in $badly_named; do
    echo "$name is exported without the prefix tal_"
done
echo "$(exported | wc -l) exported symbols"
[ -n "$(exported)" ] && [ -z "$missing$surplus$badly_named" ]
