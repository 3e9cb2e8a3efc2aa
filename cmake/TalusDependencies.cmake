# Libraries that libtalus links, each found here and nowhere else. To add one: find it, then list it
# for the programs that link libtalus.a.
find_package(LAPACK REQUIRED)

set(TALUS_PACKAGES LAPACK)             # find_dependency() in talusConfig.cmake
set(TALUS_PC_REQUIRES "lapack, blas")  # pkg-config modules, Requires.private in talus.pc
set(TALUS_PC_LIBS "-lm")               # libraries without a module, Libs.private in talus.pc
