"""Build the package: libtalus.so.0, the extension, the generated layer, the hand-written one.

    /usr/bin/python3 python/build.py LIBRARY_FOLDER

LIBRARY_FOLDER holds libtalus.so; the package is made in LIBRARY_FOLDER/package.
"""
import pathlib
import shutil
import sys

import cffi

import generate

HERE = pathlib.Path(__file__).resolve().parent


def extension(root, package, library):
    """The cffi builder (API mode: the compiler checks every declaration)."""
    builder = cffi.FFI()
    builder.cdef((package / "_cdef.h").read_text() + """
        extern "Python" {
            tal_status talpy_force_apply(const void *, const tal_force_context *,
                                         tal_spatial_vec *, double *);
            tal_status talpy_force_energy(const void *, const tal_force_context *, double *);
            tal_status talpy_force_power(const void *, const tal_force_context *, double *);
            void talpy_force_destroy(void *);
            tal_status talpy_handle(void *, const tal_system *, tal_state *, tal_event_cause,
                                    _Bool *);
            tal_status talpy_report(void *, const tal_system *, tal_state *, tal_event_cause);
            tal_status talpy_witness(void *, const tal_system *, tal_state *, double *);
            tal_status talpy_rate(void *, const tal_system *, tal_state *, double *);
            double talpy_next_time(void *, const tal_system *, const tal_state *, double);
        }
        """)
    builder.set_source(
        "talus._talus", "#include <talus/talus.h>",
        include_dirs=[str(root / layer / "include") for layer in generate.LAYERS],
        libraries=["talus"], library_dirs=[str(library)], extra_compile_args=["-O2", "-w"],
        extra_link_args=["-Wl,-rpath,$ORIGIN"])
    return builder


def prepare(root, package, library):
    """The generated layer and the shared library, in the folder of the package."""
    api, writer = generate.generate(root, package)
    shutil.copyfile(pathlib.Path(library) / "libtalus.so.0", package / "libtalus.so.0")
    return api, writer


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    package = library / "package" / "talus"
    package.mkdir(parents=True, exist_ok=True)
    for source in (HERE / "talus").iterdir():
        if source.is_file():
            shutil.copyfile(source, package / source.name)
    shutil.copyfile(HERE / "setup.py", package.parent / "setup.py")
    _, writer = prepare(HERE.parent, package, library)
    print(f"build.py: {len(writer.where)} functions, {len(writer.left)} left out")
    extension(HERE.parent, package, library).compile(tmpdir=str(package.parent), verbose=False)


if __name__ == "__main__":
    main()
