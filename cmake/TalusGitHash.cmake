# Gives common/src/version.c the header git_hash.h. Every build looks at it, so that a commit never
# leaves an old hash behind.
set(generated ${PROJECT_BINARY_DIR}/generated)
add_custom_target(talus_git_hash
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${generated}/git_hash.h
          -P ${PROJECT_SOURCE_DIR}/cmake/WriteGitHash.cmake
  BYPRODUCTS ${generated}/git_hash.h
  COMMENT "Asking git for the commit")
add_dependencies(talus_common talus_git_hash)
target_include_directories(talus_common PRIVATE ${generated})
