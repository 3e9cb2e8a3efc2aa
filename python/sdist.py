"""The sources as an archive that pip can build a wheel from.

    /usr/bin/python3 python/sdist.py FOLDER
"""
import io
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEFT_OUT = ("tests/", "bench/", "viewer/test/", ".ci/", "doc/dive.png")
PROJECT = '[build-system]\nrequires = ["setuptools", "wheel", "cffi"]\n'


def version():
    """Of the headers."""
    text = (ROOT / "common/include/talus/common/version.h").read_text()
    return ".".join(re.search(rf"VERSION_{part} +(\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def files():
    """What git knows, without tests and benchmarks."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True,
                            text=True).stdout.splitlines()
    return [name for name in listed
            if not name.startswith(LEFT_OUT) and (ROOT / name).is_file()]


def add_text(archive, name, text):
    entry = tarfile.TarInfo(name)
    data = text.encode()
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def plain(entry):
    """The same bytes whoever packs, and whenever."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def main():
    name = f"talus-{version()}"
    path = pathlib.Path(sys.argv[1]) / f"{name}.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for file in files():
            archive.add(ROOT / file, f"{name}/{file}", filter=plain)
        archive.add(ROOT / "python/setup.py", f"{name}/setup.py", filter=plain)
        page = ROOT / "build/viewer/viewer.html"
        if page.exists():
            archive.add(page, f"{name}/build/viewer/viewer.html", filter=plain)
        add_text(archive, f"{name}/pyproject.toml", PROJECT)
        add_text(archive, f"{name}/PKG-INFO",
                 f"Metadata-Version: 2.1\nName: talus\nVersion: {version()}\n")
    print(path)


if __name__ == "__main__":
    main()
