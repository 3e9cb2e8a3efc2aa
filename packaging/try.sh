#!/usr/bin/env bash
# try.sh FOLDER
# Install the packages of a folder on a bare Debian 12 root, use them, remove them. Needs root, and
# the package mirror of this machine.
set -euo pipefail
packages=$(cd "$1" && pwd)
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list.d /etc/apt/sources.list \
    2>/dev/null | head -1 || true)
echo "== a bare root"
debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$packages/debootstrap.log" ||
    { tail -5 "$packages/debootstrap.log"; exit 1; }
cp -a /etc/apt/. "$root/etc/apt/"
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
cp "$packages"/*.deb "$root/tmp/"
cp "$source_dir/examples/00_pendulum.c" "$root/tmp/pendulum.c"

inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
echo "== install"
inside sh -c 'apt-get -qq update && apt-get -qq -y install --no-install-recommends /tmp/*.deb gcc libc6-dev pkg-config' \
    >"$packages/install.log" 2>&1 || { tail -5 "$packages/install.log"; exit 1; }
echo "== the program"
inside talus version
inside talus simulate /usr/share/talus/models/pendulum.talus --end 1 -o /tmp/swing.sto -q
inside talus rerun /tmp/swing.sto
inside talus plot /tmp/swing.sto -o /tmp/swing.png
inside talus convert /tmp/swing.sto -o /tmp/swing.npz
inside talus stats /tmp/swing.npz -c total_energy
inside test -s /usr/share/bash-completion/completions/talus
echo "== Python"
cp "$source_dir/python/examples/pendulum_00.py" "$root/tmp/"
inside python3 /tmp/pendulum_00.py
echo "== a program of one's own"
# shellcheck disable=SC2016 # expanded inside
inside sh -c 'gcc /tmp/pendulum.c -o /tmp/pendulum $(pkg-config --cflags --libs talus) && /tmp/pendulum'
# shellcheck disable=SC2016 # expanded inside
inside sh -c 'libraries=$(pkg-config --static --libs talus | sed "s/-ltalus//") &&
    gcc /tmp/pendulum.c -o /tmp/still /usr/lib/*/libtalus.a $libraries && /tmp/still'
echo "== remove"
inside apt-get -qq -y purge python3-talus talus libtalus-dev libtalus0 >>"$packages/install.log" 2>&1
left=$(find "$root/usr" -name '*talus*' -not -path '*/var/*' | head)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "packages: installed, used and removed"
