"""Build the package: libtalus.so.0, the extension, the generated layer, the hand-written one.

    /usr/bin/python3 python/build.py LIBRARY_FOLDER [--out FOLDER] [--system]

LIBRARY_FOLDER holds libtalus.so; the package is made in LIBRARY_FOLDER/package, or in FOLDER. With
--system it uses the library that the system has, instead of a copy of its own.
"""
import argparse
import pathlib
import re
import shutil

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


# what is often done together, in one call
TOGETHER = """
#include <talus/talus.h>

static tal_status talpy_realize(const tal_system *system, tal_state *state, const double *q, int nq,
                                const double *u, int nu, tal_stage stage)
{
    tal_status st = q != NULL ? tal_state_set_q(state, q, nq) : TAL_OK;
    if (st == TAL_OK && u != NULL) st = tal_state_set_u(state, u, nu);
    return st == TAL_OK ? tal_system_realize(system, state, stage) : st;
}
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


def extension(api, root, package, library, system):
    """The cffi builder (API mode: the compiler checks every declaration)."""
    builder = cffi.FFI()
    builder.cdef((package / "_cdef.h").read_text() + """
        tal_status talpy_realize(const tal_system *, tal_state *, const double *, int,
                                 const double *, int, tal_stage);
        extern "Python" {
            %s
        }
        """ % ("\n            ".join(callbacks(api)) + EVENTS))
    builder.set_source(
        "talus._talus", TOGETHER,
        include_dirs=[str(root / layer / "include") for layer in headers.LAYERS],
        libraries=["talus"], library_dirs=[str(library)], extra_compile_args=["-O2", "-w"],
        extra_link_args=[] if system else ["-Wl,-rpath,$ORIGIN"])
    return builder


def prepare(root, package, library, system):
    """The generated layer and the shared library, in the folder of the package."""
    api, writer = generate.generate(root, package)
    if not system:
        shutil.copyfile(pathlib.Path(library) / "libtalus.so.0", package / "libtalus.so.0")
    page = root / "build/viewer/viewer.html"
    if page.exists():
        shutil.copyfile(page, package / "viewer.html")
    return api, writer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--system", action="store_true")
    options = parser.parse_args()
    library = options.library.resolve()
    out = (options.out or library / "package").resolve()
    package = out / "talus"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for source in (HERE / "talus").iterdir():
        if source.is_file():
            shutil.copyfile(source, package / source.name)
    shutil.copyfile(HERE / "setup.py", out / "setup.py")
    api, writer = prepare(HERE.parent, package, library, options.system)
    print(f"build.py: {len(writer.where)} functions, {len(writer.left)} left out")
    extension(api, HERE.parent, package, library, options.system).compile(tmpdir=str(out),
                                                                          verbose=False)


if __name__ == "__main__":
    main()
