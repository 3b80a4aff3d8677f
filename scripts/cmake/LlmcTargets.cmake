# Functions that declare one target for each slot, the same way everywhere.

# llmc_add_slots(dir...): adds each folder that has a CMakeLists.txt.
function(llmc_add_slots)
  foreach(slot ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${slot}/CMakeLists.txt)
      add_subdirectory(${slot})
    endif()
  endforeach()
endfunction()

# llmc_public_headers(name PUBLIC|INTERFACE): where users of a library of ours
# find the headers, here and installed; the library becomes part of the package.
function(llmc_public_headers name scope)
  target_include_directories(${name} ${scope}
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  set_property(GLOBAL APPEND PROPERTY LLMC_LIBRARIES ${name})
endfunction()

# llmc_link_closure(out library): it and all archives of ours that it links.
function(llmc_link_closure out library)
  set(found "")
  set(open ${library})
  while(open)
    list(POP_FRONT open next)
    get_target_property(type ${next} TYPE)
    get_target_property(links ${next} INTERFACE_LINK_LIBRARIES)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND found ${next})
    endif()
    foreach(link ${links})
      if(link MATCHES "^LLMC" AND NOT link IN_LIST found AND NOT link IN_LIST open)
        list(APPEND open ${link})
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

set(LLMC_RUNTIME_FLAGS -Wall -Wextra -Wno-unused-parameter -Wno-deprecated-declarations -ffp-contract=off)

# llmc_runtime_library(name source... [OPTIMIZED] [LINK lib...] [PRIVATE_LINK lib...])
# A slot of the runtime house: C++17, no LLVM. OPTIMIZED: it loops over elements,
# and so gets the build's flags alone.
function(llmc_runtime_library name)
  cmake_parse_arguments(ARG "OPTIMIZED" "" "LINK;PRIVATE_LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llmc_public_headers(${name} PUBLIC)
  target_compile_options(${name} PRIVATE ${LLMC_RUNTIME_FLAGS})
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE ${LLMC_COLD_FLAGS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM llmc_runtime_pch)
  endif()
endfunction()

# llmc_runtime_backend(library source): `source` announces the backend that
# `library` is, and becomes part of every program that links LLMCRuntimeBackends.
# An object file, since a linker leaves out what nobody refers to.
function(llmc_runtime_backend library source)
  add_library(${library}Announcement OBJECT ${source})
  target_compile_options(${library}Announcement PRIVATE ${LLMC_RUNTIME_FLAGS})
  target_link_libraries(${library}Announcement PRIVATE ${library})
  target_sources(LLMCRuntimeBackends INTERFACE $<TARGET_OBJECTS:${library}Announcement>)
  target_link_libraries(LLMCRuntimeBackends INTERFACE ${library})
endfunction()

# llmc_unit_test(name source... [OPTIMIZED] [LINK lib...])
# A GoogleTest program, found and run by lit (test/Unit). The name ends in Test.
# OPTIMIZED: its own code takes long to run, and so gets the build's flags alone.
function(llmc_unit_test name)
  cmake_parse_arguments(ARG "OPTIMIZED" "" "LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/Unit/tests)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE ${LLMC_TEST_FLAGS})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock)
  set_property(GLOBAL APPEND PROPERTY LLMC_UNIT_TESTS ${name})
endfunction()

# llmc_runtime_unit_test(name source... [OPTIMIZED] [LINK lib...]): of the runtime and the solvers.
function(llmc_runtime_unit_test name)
  llmc_unit_test(${name} ${ARGN})
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND NOT "OPTIMIZED" IN_LIST ARGN)
    target_precompile_headers(${name} REUSE_FROM llmc_runtime_test_pch)
  endif()
endfunction()

# llmc_reader_fuzzer(name source library...): a libFuzzer program for a reader of
# files that come from elsewhere, where the compiler has libFuzzer. Only the
# preset `fuzz` builds the libraries so that they tell it where an input came through.
include(CMakePushCheckState)
include(CheckCXXSourceCompiles)
function(llmc_reader_fuzzer name source)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_cxx_source_compiles(
    "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }" LLMC_HAS_LIBFUZZER)
  cmake_pop_check_state()
  if(NOT LLMC_HAS_LIBFUZZER)
    return()
  endif()
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY LLMC_UNIT_TESTS ${name})
endfunction()
