"""Build the package: libtalus.so.0, the extension, the generated layer, the hand-written one.

    /usr/bin/python3 python/build.py LIBRARY_FOLDER

LIBRARY_FOLDER holds libtalus.so; the package is made in LIBRARY_FOLDER/package.
"""
import pathlib
import re
import shutil
import sys

import cffi

import generate
import headers

HERE = pathlib.Path(__file__).resolve().parent


ENTRIES = {
    "force": "apply calc_potential_energy calc_dissipated_power",
    "controller": "calc_control",
    "mobilizer": "calc_X_FM calc_H_FM calc_Hdot_FM mul_N check_params",
    "constraint": "calc_p calc_v calc_a add_forces check_params",
    "motion": "calc",
    "function": "calc_value calc_derivative destroy",
}
# those of events are types of their own
EVENTS = """
            tal_status talpy_event_handle(void *, const tal_system *, tal_state *, tal_event_cause,
                                          _Bool *);
            tal_status talpy_event_report(void *, const tal_system *, tal_state *, tal_event_cause);
            tal_status talpy_event_witness(void *, const tal_system *, tal_state *, double *);
            tal_status talpy_event_rate(void *, const tal_system *, tal_state *, double *);
            double talpy_event_next_time(void *, const tal_system *, const tal_state *, double);
"""


def callbacks(api):
    """A declaration for each entry of a table that Python can fill: talpy_<table>_<entry>."""
    for table, entries in ENTRIES.items():
        text = api.structs[f"tal_{table}_ops"]
        for entry in entries.split():
            found = re.search(rf"(\w+) \(\*{entry}\)\((.*?)\);", text)
            if not found:
                raise SystemExit(f"build.py: {table} has no entry {entry}")
            yield f"{found[1]} talpy_{table}_{entry}({found[2]});"


def extension(api, root, package, library):
    """The cffi builder (API mode: the compiler checks every declaration)."""
    builder = cffi.FFI()
    builder.cdef((package / "_cdef.h").read_text() + """
        extern "Python" {
            %s
        }
        """ % ("\n            ".join(callbacks(api)) + EVENTS))
    builder.set_source(
        "talus._talus", "#include <talus/talus.h>",
        include_dirs=[str(root / layer / "include") for layer in headers.LAYERS],
        libraries=["talus"], library_dirs=[str(library)], extra_compile_args=["-O2", "-w"],
        extra_link_args=["-Wl,-rpath,$ORIGIN"])
    return builder


def prepare(root, package, library):
    """The generated layer and the shared library, in the folder of the package."""
    api, writer = generate.generate(root, package)
    shutil.copyfile(pathlib.Path(library) / "libtalus.so.0", package / "libtalus.so.0")
    page = root / "build/viewer/viewer.html"
    if page.exists():
        shutil.copyfile(page, package / "viewer.html")
    return api, writer


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    package = library / "package" / "talus"
    package.mkdir(parents=True, exist_ok=True)
    for source in (HERE / "talus").iterdir():
        if source.is_file():
            shutil.copyfile(source, package / source.name)
    shutil.copyfile(HERE / "setup.py", package.parent / "setup.py")
    api, writer = prepare(HERE.parent, package, library)
    print(f"build.py: {len(writer.where)} functions, {len(writer.left)} left out")
    extension(api, HERE.parent, package, library).compile(tmpdir=str(package.parent), verbose=False)


if __name__ == "__main__":
    main()
