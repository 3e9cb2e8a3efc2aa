# Libraries that libtalus links, each found here and nowhere else. To add one: find it, then list it
# for the programs that link libtalus.a.
find_package(LAPACK REQUIRED)
find_package(EXPAT REQUIRED)
find_package(ZLIB REQUIRED)

# SUNDIALS by name: its own package file asks for MPI, PETSc and others that Talus does not need.
set(TALUS_SUNDIALS sundials_cvode sundials_ida sundials_arkode sundials_kinsol)
find_path(TALUS_SUNDIALS_INCLUDE cvode/cvode_proj.h REQUIRED)
foreach(library IN LISTS TALUS_SUNDIALS)
  find_library(TALUS_FOUND_${library} ${library} REQUIRED)
endforeach()

set(TALUS_PACKAGES LAPACK EXPAT ZLIB)           # find_dependency() in talusConfig.cmake
set(TALUS_PC_REQUIRES "lapack, blas, expat, zlib")  # modules, Requires.private in talus.pc
list(JOIN TALUS_SUNDIALS " -l" sundials_flags)
set(TALUS_PC_LIBS "-l${sundials_flags}")  # libraries without a module, Libs.private in talus.pc
