"""The wheel. Beside a package that build.py has made, it is packed as it is; in the unpacked sources
the library and the package are built first, which needs CMake, a C compiler, LAPACK, SUNDIALS,
expat and zlib."""
import pathlib
import re
import subprocess
import sys

from setuptools import Distribution, setup

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = HERE / "build/python"


def build():
    """The package of the sources in this folder."""
    subprocess.run(["cmake", "-S", HERE, "-B", LIBRARY, "-DCMAKE_BUILD_TYPE=Release",
                    "-DBUILD_TESTING=OFF", "-DTALUS_BENCH=OFF"], check=True)
    subprocess.run(["cmake", "--build", LIBRARY, "--parallel", "--target", "talus"], check=True)
    subprocess.run([sys.executable, HERE / "python/build.py", LIBRARY], check=True)
    return LIBRARY / "package"


def version():
    """Of the headers."""
    header = HERE / "common/include/talus/common/version.h"
    if header.exists():
        text = header.read_text()
        return ".".join(re.search(rf"VERSION_{part} +(\d+)", text)[1]
                        for part in ("MAJOR", "MINOR", "PATCH"))
    return re.search(r"version ([0-9.]+)", (HERE / "talus/_cdef.h").read_text())[1]


class Binary(Distribution):
    """A package that holds compiled code, though setuptools does not compile it."""

    def has_ext_modules(self):
        return True


wanted = {"bdist_wheel", "build", "install", "develop", "editable_wheel"} & set(sys.argv)
package = HERE if (HERE / "talus").exists() else build() if wanted else HERE
setup(name="talus", version=version(),
      description="Multibody dynamics: System + State + Study, on numpy arrays",
      long_description="Multibody dynamics for musculoskeletal models, coarse-grained molecules, "
                       "assembly and inverse kinematics. The package holds the C library; LAPACK, "
                       "SUNDIALS, expat and zlib are those of the system.",
      license="Apache-2.0", packages=["talus"] if (package / "talus").exists() else [],
      package_dir={"talus": str((package / "talus").relative_to(HERE))},
      package_data={"talus": ["*.so", "libtalus.so.0", "*.pyi", "py.typed", "viewer.html"]},
      install_requires=["cffi", "numpy"], python_requires=">=3.11", distclass=Binary)
