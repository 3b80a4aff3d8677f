# Functions that declare one target for each slot, the same way everywhere.

# llmc_add_slots(dir...): adds each folder that has a CMakeLists.txt.
function(llmc_add_slots)
  foreach(slot ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${slot}/CMakeLists.txt)
      add_subdirectory(${slot})
    endif()
  endforeach()
endfunction()

# llmc_runtime_library(name source... [LINK lib...] [PRIVATE_LINK lib...])
# A slot of the runtime house: C++17, no LLVM.
function(llmc_runtime_library name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE_LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter -Wno-deprecated-declarations -ffp-contract=off)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

# llmc_unit_test(name source... [LINK lib...])
# A GoogleTest program, found and run by lit (test/Unit). The name ends in Test.
function(llmc_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/Unit/tests)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock)
  set_property(GLOBAL APPEND PROPERTY LLMC_UNIT_TESTS ${name})
endfunction()
