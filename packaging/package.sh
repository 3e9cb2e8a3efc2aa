#!/usr/bin/env bash
# package.sh FOLDER JOBS
# Debian packages of the library, of what programs are built with, and of the program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
jobs=$2
arch=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
version=$(sed -n 's/^version: //p' CITATION.cff)-1
maintainer="Talus founders <founders@talus.invalid>"
date=$(date -uR -d "@$(git log -1 --format=%ct 2>/dev/null || date +%s)")

echo "== build"
cmake -S . -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR="lib/$triplet" \
    -DCMAKE_SKIP_INSTALL_RPATH=ON -DCMAKE_C_FLAGS="-g -ffile-prefix-map=$PWD=." \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,-z,relro,-z,now -pie" \
    -DCMAKE_SHARED_LINKER_FLAGS="-Wl,-z,relro,-z,now" \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON >/dev/null
cmake --build "$out/build" -j "$jobs" >/dev/null
rm -rf "$out/all" "$out"/libtalus0 "$out"/libtalus-dev "$out"/talus "$out"/debian \
    "$out"/python3-talus "$out"/python "$out"/*.deb
DESTDIR=$out/all cmake --install "$out/build" >/dev/null

# Move files of the installed tree into the tree of a package.
move() { # PACKAGE PATH...
    local package=$1 path
    for path in "${@:2}"; do
        mkdir -p "$out/$package/$(dirname "$path")"
        mv "$out/all/$path" "$out/$package/$path"
    done
}

echo "== files"
(cd "$out/all" && ls -d "usr/lib/$triplet"/libtalus.so.*) >"$out/list"
mapfile -t libraries <"$out/list"
move libtalus0 "${libraries[@]}"
move libtalus-dev usr/include "usr/lib/$triplet"
move talus usr
echo "== python"
modules=$out/python3-talus/usr/lib/python3/dist-packages
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 python/build.py "$out/build" --out "$out/python" --system
mkdir -p "$modules/talus"
cp "$out"/python/talus/*.py "$out"/python/talus/*.pyi "$out"/python/talus/py.typed \
    "$out"/python/talus/_talus.*.so "$modules/talus/"
[ ! -e "$out/python/talus/viewer.html" ] || cp "$out/python/talus/viewer.html" "$modules/talus/"
strip --strip-unneeded "$modules"/talus/_talus.*.so
strip --strip-unneeded "$out"/libtalus0/usr/lib/"$triplet"/libtalus.so.*.*.*
strip --strip-debug "$out"/libtalus-dev/usr/lib/"$triplet"/libtalus.a
strip "$out"/talus/usr/bin/talus
gzip -9n "$out"/talus/usr/share/man/man1/talus.1

# What every package has: copyright and a change log of its own.
add_papers() { # PACKAGE
    local folder=$out/$1/usr/share/doc/$1
    mkdir -p "$folder"
    cat >"$folder/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: talus

Files: *
Copyright: 2026 the Talus authors
License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
END
    printf 'talus (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$date" | gzip -9n >"$folder/changelog.Debian.gz"
}

# Libraries that a program of a package needs, by Debian's own tool.
needs() { # FILE
    mkdir -p "$out/debian"
    printf 'Source: talus\n\nPackage: talus\nArchitecture: any\n' >"$out/debian/control"
    (cd "$out" && dpkg-shlibdeps -O --ignore-missing-info -llibtalus0/usr/lib/"$triplet" "$1" \
        2>/dev/null) | sed -n 's/^shlibs:Depends=//p' | sed 's/libtalus0[^,]*,* *//; s/, *$//'
}

multi_arch() { # PACKAGE
    case $1 in
    talus) printf 'Multi-Arch: no\nSuggests: chromium-headless-shell\n' ;;
    python3-*) printf 'Multi-Arch: no\nSuggests: talus\n' ;;
    *) printf 'Multi-Arch: same\n' ;;
    esac
}

write_control() { # PACKAGE SECTION DEPENDS SUMMARY DESCRIPTION
    local size
    size=$(du -sk "$out/$1" | cut -f1)
    mkdir -p "$out/$1/DEBIAN"
    cat >"$out/$1/DEBIAN/control" <<END
Package: $1
Source: talus
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $size
Depends: $3
Section: $2
Priority: optional
$(multi_arch "$1")
Description: $4
$5
END
    (cd "$out/$1" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) \
        >"$out/$1/DEBIAN/md5sums"
    find "$out/$1" -type d -exec chmod 755 {} +
    find "$out/$1" -type f -exec chmod 644 {} +
    [ ! -e "$out/$1/usr/bin" ] || chmod 755 "$out/$1"/usr/bin/*
    find "$out/$1/DEBIAN" -name 'p*' -exec chmod 755 {} + # postinst, prerm
    dpkg-deb --root-owner-group -Zxz --build "$out/$1" "$out/${1}_${version}_$arch.deb" >/dev/null
}

echo "== packages"
about=" Talus steps models of bodies, joints, constraints and forces through time, fits
 them to markers, and finds their equilibria, modes and forces. It is made for
 musculoskeletal models, coarse-grained molecules, and inverse kinematics."
for package in libtalus0 libtalus-dev talus python3-talus; do add_papers "$package"; done
library_needs=$(needs "$(cd "$out" && ls -d libtalus0/usr/lib/"$triplet"/libtalus.so.*.*.*)")
program_needs=$(needs talus/usr/bin/talus)
mkdir -p "$out/libtalus0/DEBIAN"
echo "libtalus 0 libtalus0 (>= $version)" >"$out/libtalus0/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$out/libtalus0/DEBIAN/triggers"
write_control libtalus0 libs "$library_needs" "multibody dynamics in C: the shared library" "$about
 .
 This package has the shared library."
write_control libtalus-dev libdevel \
    "libtalus0 (= $version), liblapack-dev, libsundials-dev, libexpat1-dev, zlib1g-dev" \
    "multibody dynamics in C: headers and static library" "$about
 .
 This package has what programs are built with: headers, the static library, and
 the files that CMake and pkg-config read."
write_control talus science "libtalus0 (= $version), $program_needs" \
    "multibody dynamics: models from files, studies, tables and plots" "$about
 .
 This package has the program talus, example models and pages to read."

next=$(/usr/bin/python3 -c 'import sys; print(f"3.{sys.version_info.minor + 1}")')
this=$(/usr/bin/python3 -c 'import sys; print(f"3.{sys.version_info.minor}")')
# Debian's tools compile the modules when they are installed, and remove what was compiled.
mkdir -p "$out/python3-talus/DEBIAN"
for step in postinst:py3compile prerm:py3clean; do
    printf '#!/bin/sh\nset -e\nif command -v %s >/dev/null; then %s -p python3-talus; fi\n' \
        "${step#*:}" "${step#*:}" >"$out/python3-talus/DEBIAN/${step%:*}"
done
write_control python3-talus python \
    "libtalus0 (= $version), python3 (>= $this), python3 (<< $next), python3-numpy, python3-cffi-backend, libc6" \
    "multibody dynamics in Python, on numpy arrays" "$about
 .
 This package has the Python package talus: models, States as arrays without
 copies, studies, forces and mobilizers written in Python, pages and plots."

echo "== lintian"
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$out"/*.deb
du -h "$out"/*.deb
