#!/usr/bin/env bash
# documents.sh SOURCE_DIR
# Documents and lists agree with the files they speak of.
set -eu
cd "$1"
failures=0
list_of_tests=$(mktemp)
trap 'rm -f "$list_of_tests"' EXIT

complain() {
    echo "$1"
    failures=$((failures + 1))
}

# every layer's README names its files, and its CMakeLists.txt builds them
for layer in */include; do
    layer=${layer%/include}
    for file in $(cd "$layer" && find include internal src -name '*.[ch]' 2>/dev/null | sort); do
        name=$(basename "$file")
        grep -qF "$file" "$layer/CMakeLists.txt" ||
            complain "$layer/CMakeLists.txt does not list $file"
        case $file in
        include/talus/*/* | internal/* | *.c)
            grep -qF "$name" "$layer/README.md" ||
                complain "$layer/README.md does not mention $name"
            ;;
        esac
    done
done

# and names each of them in one row only
for layer in */include; do
    layer=${layer%/include}
    # shellcheck disable=SC2016 # backquotes of Markdown
    for name in $(sed -n 's/^| *\(`[^|]*\)|.*/\1/p' "$layer/README.md" |
        grep -o '`[^`]*\.[ch]`' | sort | uniq -d); do
        complain "$layer/README.md has several rows for $name"
    done
done

# a room's section names files of that room, and every room has one
for readme in */README.md; do
    layer=${readme%/README.md}
    [ -d "$layer/src" ] || continue
    for room in $(cd "$layer/src" && find . -mindepth 1 -name '*.c' -path './*/*' |
        sed 's,^\./,,; s,/[^/]*$,,' | sort -u); do
        grep -qE "^## $room/: |\`$room/\`" "$readme" ||
            complain "$readme has no section '## $room/: ...'"
    done
    while IFS=: read -r room file; do
        complain "$readme names $file in the section of $room/"
    done < <(awk '/^## /{ room = $2; sub(/\/:$/, "", room) }
        /^\|/ { while (match($0, /`src\/[a-z_\/]*\//)) {
            there = substr($0, RSTART + 5, RLENGTH - 6)
            if (there != room) print room ":" substr($0, RSTART + 1, RLENGTH + 10)
            $0 = substr($0, RSTART + RLENGTH) } }' "$readme")
done

# so do those of the program
for file in cli/*.[ch] cli/*/*.[ch]; do
    for list in cli/CMakeLists.txt cli/README.md; do
        grep -qF "$(basename "$file")" "$list" || complain "$list does not mention $file"
    done
done

# every test program is registered
find tests -name 'test_*.c' | sort >"$list_of_tests"
while IFS= read -r file; do
    room=$(dirname "${file#tests/}")
    name=$(basename "$file" .c)
    grep -qE "talus_add_test\\($room/${name#test_}[ )]" tests/CMakeLists.txt ||
        grep -qsF " $name.c" "tests/$room/CMakeLists.txt" ||
        complain "tests/CMakeLists.txt does not run $file"
done <"$list_of_tests"

# every example is built and has its output
for file in examples/*.c; do
    [ -e "$file" ] || continue
    name=$(basename "$file" .c)
    grep -qF "talus_add_example($name)" examples/CMakeLists.txt ||
        complain "examples/CMakeLists.txt does not build $file"
    [ -e "examples/$name.out" ] || complain "examples/$name.out is missing"
done

# every example model has a page
for file in examples/models/*.talus; do
    name=$(basename "$file" .talus)
    grep -q "^$name\( \|$\)" examples/pages.txt ||
        complain "examples/pages.txt has no line for $name"
done

# references that tests cite are explained
while IFS=: read -r file _ name; do
    grep -q "^| $name |" tests/refs/README.md ||
        complain "$file cites refs:$name, which tests/refs/README.md does not explain"
done < <(grep -roE 'refs:[A-Za-z0-9_]+' tests bench doc --include='*.[ch]' --include='*.md' |
    grep -v '^tests/refs/README.md')

# and by that name: files outside of the repository mean nothing to a reader
while IFS= read -r line; do
    complain "$line: cite it as refs:NAME, and explain it in tests/refs/README.md"
done < <(grep -rnE '(^|[^a-z/])refs/[a-z0-9_]+' tests bench doc ./*/src cli --include='*.[ch]')

# links between documents lead somewhere, to a heading too; "#" is how GitHub names headings: lower
# case, blanks as dashes, no other punctuation
anchors() { # DOCUMENT
    awk '/^```/ { inside = !inside } !inside && /^#+ /' "$1" |
        sed 's/^#* *//; s/\[\([^]]*\)\]([^)]*)/\1/g' |
        tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9_\n -' | tr ' ' '-'
}
while IFS=: read -r file link; do
    link=${link#*](}
    link=${link%)}
    case $link in
    http*:*) continue ;;
    '#'*) target=$file ;;
    *) target=$(dirname "$file")/${link%%#*} ;;
    esac
    if [ ! -e "$target" ]; then
        complain "$file links to $link, which is not there"
    elif [[ $link == *'#'* && $target == *.md ]]; then
        anchors "$target" | grep -qxF -- "${link#*#}" ||
            complain "$file links to $link, but there is no such heading"
    fi
done < <(find . -path ./build -prune -o -name '*.md' -exec grep -HoE '\]\([^) ]+\)' {} +)

# every source that a document names is there: each path is known by all its ends, "src/rod.c" and
# "rod.c"
ends() {
    awk '{ while (sub(/^[^\/]*\//, "")) print }' \
        < <(find . -path ./build -prune -o \( -name '*.[ch]' -o -name '*.sh' \) -print)
}
names() {
    # shellcheck disable=SC2016 # backquotes are Markdown's
    find . -path ./build -prune -o -name '*.md' \
        ! -name CHANGELOG.md -exec grep -HoE '`[A-Za-z0-9_/]+\.(c|h|sh)`' {} + | tr -d '`'
}
while read -r missing; do
    complain "${missing%%:*} names ${missing#*:}, which is not there"
done < <(awk -F : 'FNR == NR { known[$0]; next } !($2 in known)' <(ends) <(names))

# every page is in the index
for page in doc/*.md doc/howto/*.md; do
    [ "$page" = doc/README.md ] || grep -qF "(${page#doc/})" doc/README.md ||
        complain "doc/README.md does not list ${page#doc/}"
done

# one version everywhere
part() {
    sed -n "s/^#define TAL_VERSION_$1 *//p" common/include/talus/common/version.h
}
version=$(part MAJOR).$(part MINOR).$(part PATCH)
grep -qx "version: $version" CITATION.cff || complain "CITATION.cff does not have version $version"
grep -q "^## $version" CHANGELOG.md || complain "CHANGELOG.md has no section for $version"

echo "$failures disagreements"
[ "$failures" -eq 0 ]
