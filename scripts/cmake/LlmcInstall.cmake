# What `cmake --install` gives: the tools, the libraries, the headers (those of
# MLIR's generators too), and a package for find_package(llmc).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/llmc)

get_property(libraries GLOBAL PROPERTY LLMC_LIBRARIES)
install(TARGETS ${libraries} EXPORT llmcTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(tool llmc llmc-opt llmc-run llmc-launch llmc-doctor llmc-export llmc-report)
  if(TARGET ${tool})
    install(TARGETS ${tool} EXPORT llmcTargets
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/llmc ${CMAKE_BINARY_DIR}/include/llmc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "*.def"
  PATTERN CMakeFiles EXCLUDE)

install(EXPORT llmcTargets NAMESPACE llmc:: DESTINATION ${package_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/llmcConfig.cmake.in ${CMAKE_BINARY_DIR}/llmcConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/llmcConfigVersion.cmake
  COMPATIBILITY ExactVersion)

# The same package over the build tree, for plugins of who works on llmc:
# find_package(llmc) with CMAKE_PREFIX_PATH=<build>/package.
export(EXPORT llmcTargets NAMESPACE llmc:: FILE ${CMAKE_BINARY_DIR}/package/llmcTargets.cmake)
set(PACKAGE_CMAKE_INSTALL_INCLUDEDIR "${CMAKE_SOURCE_DIR}/include;${CMAKE_BINARY_DIR}/include")
set(PACKAGE_INIT "")
configure_file(${CMAKE_CURRENT_LIST_DIR}/llmcConfig.cmake.in ${CMAKE_BINARY_DIR}/package/llmcConfig.cmake @ONLY)

install(FILES ${CMAKE_BINARY_DIR}/llmcConfig.cmake ${CMAKE_BINARY_DIR}/llmcConfigVersion.cmake
  DESTINATION ${package_dir})
