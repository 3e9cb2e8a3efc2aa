#!/usr/bin/env bash
# cross_root.sh ARCHITECTURE FOLDER
# Libraries of another architecture in a folder, as Debian has them for it: for the cross compiler
# and for qemu. The packages of this machine stay as they are.
set -euo pipefail
arch=$1
mkdir -p "$2/apt"
folder=$(cd "$2" && pwd)
apt=$folder/apt root=$folder/root
packages=(libc6-dev check liblapack-dev libblas-dev libsundials-dev libexpat1-dev zlib1g-dev
    libgcc-12-dev libatomic1)
[ ! -e "$folder/done" ] || exit 0
rm -rf "$root"
mkdir -p "$apt"/state/lists/partial "$apt"/cache/archives/partial "$root"
: >"$apt/status"

ask() {
    apt-get -qq -y -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" \
        -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status" \
        -o "Dir::Cache=$apt/cache" -o APT::Install-Recommends=false -o Debug::NoLocking=1 "$@"
}

ask update
ask --download-only install "${packages[@]}"
for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
# what Debian's alternatives would make
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
for library in lapack blas; do
    for file in "$libraries/$library/lib$library."*; do
        ln -sf "$library/$(basename "$file")" "$libraries/$(basename "$file")"
    done
done
touch "$folder/done"
