# Run at every build: cmake -DSOURCE_DIR=... -DOUTPUT=... -P WriteGitHash.cmake
#
# Writes OUTPUT, a header that defines TALI_GIT_HASH as the commit of SOURCE_DIR, with "-dirty"
# when tracked files differ from it, and "unknown" when SOURCE_DIR is no git work tree (a tarball,
# even one unpacked inside another repository). An unchanged header is not touched, so nothing
# is rebuilt.
cmake_minimum_required(VERSION 3.25)

set(hash "unknown")
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0
            ${GIT} describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE answer RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0)
    set(hash "${answer}")
  endif()
endif()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"// Written by cmake/WriteGitHash.cmake at every build.
#define TALI_GIT_HASH \"@hash@\"
")
