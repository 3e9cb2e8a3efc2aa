# The version has one home, the public header version.h; CMake reads it from there.
set(version_header ${CMAKE_CURRENT_LIST_DIR}/../common/include/talus/common/version.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${version_header})

set(TALUS_VERSION "")
foreach(part MAJOR MINOR PATCH)
  file(STRINGS ${version_header} line REGEX "^#define TAL_VERSION_${part}[ ]+[0-9]+$")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND TALUS_VERSION ${number})
endforeach()
list(JOIN TALUS_VERSION "." TALUS_VERSION)
