"""The wheel: the package as build.py has left it, with libtalus.so.0 and the extension inside."""
import pathlib
import re

from setuptools import Distribution, setup

PACKAGE = pathlib.Path(__file__).resolve().parent / "talus"


def version():
    """Of the headers."""
    text = (PACKAGE / "_cdef.h").read_text()
    return re.search(r"version ([0-9.]+)", text)[1]


class Binary(Distribution):
    """A package that holds compiled code, though setuptools does not compile it."""

    def has_ext_modules(self):
        return True


setup(name="talus", version=version(),
      description="Multibody dynamics: System + State + Study", license="Apache-2.0",
      packages=["talus"], package_data={"talus": ["*.so", "libtalus.so.0", "*.pyi", "py.typed",
                                             "viewer.html"]},
      install_requires=["cffi", "numpy"], python_requires=">=3.11", distclass=Binary)
