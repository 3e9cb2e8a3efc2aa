# One installed library, shared and static, found by find_package(talus CONFIG) and by pkg-config.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/talus)

foreach(library talus talus_static)
  add_library(talus::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME talus LINKER_LANGUAGE C)
  target_compile_features(${library} INTERFACE c_std_11)
  install(TARGETS ${library} EXPORT ${library}-targets
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${library}-targets NAMESPACE talus:: DESTINATION ${package_dir})
endforeach()
# before 1.0 a minor version may break the binary interface: TAL_VERSION_CHECK() tells
set_target_properties(talus PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR})

configure_package_config_file(cmake/talusConfig.cmake.in talusConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(talusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/talusConfig.cmake ${PROJECT_BINARY_DIR}/talusConfigVersion.cmake
  DESTINATION ${package_dir})

# the prefix is found from where talus.pc lies, so an installed tree may be moved
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(cmake/talus.pc.in talus.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/talus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
