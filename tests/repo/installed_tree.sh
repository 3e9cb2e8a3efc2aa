#!/usr/bin/env bash
# installed_tree.sh SOURCE_DIR BUILD_DIR CMAKE GENERATOR CC CXX
# A program finds an installed Talus by find_package and by pkg-config, links it shared and static,
# and runs. The tree is moved after the installation, so it must not remember where it was.
set -eu
source_dir=$1
build_dir=$2
cmake=$3
generator=$4
cc=$5
cxx=$6

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! "$cmake" --install "$build_dir" --prefix "$work/first" >"$work/log"; then
    cat "$work/log"
    exit 1
fi
mv "$work/first" "$work/prefix"
prefix=$work/prefix

die() {
    echo "$1"
    exit 1
}

private=$(find "$prefix" -name '*_internal.h' -o -name 'talus_*.a')
[ -z "$private" ] || die "private files were installed: $private"

echo "== the program"
[ "$("$prefix/bin/talus" version | awk '$1 == "talus" { print $2 }')" = \
    "$(sed -n 's/^version: //p' "$source_dir/CITATION.cff")" ] || die "bin/talus does not run"
[ -n "$(find "$prefix" -name talus.1)" ] || die "the manual page was not installed"

for file in share/bash-completion/completions/talus share/zsh/vendor-completions/_talus \
    share/fish/vendor_completions.d/talus.fish share/talus/models/pendulum.talus \
    share/doc/talus/quick_start.md; do
    [ -s "$prefix/$file" ] || die "$file was not installed"
done

programs=("$source_dir/tests/repo/consumer/consumer.c")
[ ! -e "$source_dir/examples/01_subsystem.c" ] || programs+=("$source_dir/examples/01_subsystem.c")

echo "== find_package"
with_cmake() {
    "$cmake" -S "$source_dir/tests/repo/consumer" -B "$work/build" -G "$generator" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
        -DPROGRAMS="$(IFS=';'; echo "${programs[*]}")" &&
        "$cmake" --build "$work/build"
}
if ! with_cmake >"$work/log"; then
    cat "$work/log"
    die "find_package(talus CONFIG) gave no program"
fi

echo "== pkg-config"
pc=$(find "$prefix" -name talus.pc)
[ -n "$pc" ] || die "talus.pc was not installed"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir talus)
read -ra flags < <(pkg-config --cflags talus)
read -ra shared < <(pkg-config --libs talus)
read -ra static < <(pkg-config --static --libs talus | sed 's/-ltalus\b/-l:libtalus.a/')
for program in "${programs[@]}"; do
    name=$work/build/$(basename "$program" .c)
    "$cc" -std=c17 "${flags[@]}" "$program" -o "${name}_pc_shared" "${shared[@]}"
    "$cc" -std=c17 "${flags[@]}" "$program" -o "${name}_pc_static" "${static[@]}"
done
"$cxx" -std=c++17 "${flags[@]}" -x c++ "${programs[0]}" -o "$work/consumer_cxx" "${shared[@]}"

echo "== run"
for program in "${programs[@]}"; do
    short=$(basename "$program" .c)
    name=$work/build/$short
    for kind in cmake_shared cmake_static pc_shared pc_static; do
        LD_LIBRARY_PATH=$libdir "${name}_$kind" >"$work/$kind.out" || die "$short ($kind) failed"
        cmp "$work/cmake_shared.out" "$work/$kind.out" || die "$short ($kind) prints something else"
    done
    if ldd "${name}_cmake_static" "${name}_pc_static" | grep -q libtalus; then
        die "$short was to be linked statically, but needs libtalus.so"
    fi
    if ! ldd "${name}_cmake_shared" | grep -q "libtalus.*$prefix"; then
        die "$short does not run with the installed libtalus.so"
    fi
done
LD_LIBRARY_PATH=$libdir "$work/consumer_cxx"
