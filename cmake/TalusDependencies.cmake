# Libraries that libtalus links, each found here and nowhere else. To add one: find it, then list it
# for the programs that link libtalus.a.
find_package(LAPACK REQUIRED)
find_package(EXPAT REQUIRED)

set(TALUS_PACKAGES LAPACK EXPAT)       # find_dependency() in talusConfig.cmake
set(TALUS_PC_REQUIRES "lapack, blas, expat") # pkg-config modules, Requires.private in talus.pc
set(TALUS_PC_LIBS "-lm")               # libraries without a module, Libs.private in talus.pc
