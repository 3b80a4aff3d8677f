# Finds MLIR 22.1 and declares how a slot of the compiler house is built:
# with one shared precompiled header, and what of MLIR its programs link.
set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir CACHE PATH "MLIR's CMake package")
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
find_package(MLIR 22.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(LLMC_TABLEGEN_INCLUDES ${CMAKE_SOURCE_DIR}/include ${MLIR_INCLUDE_DIRS})

# LLMCMLIR: libMLIR.so and libLLVM.so; of a program that is STANDALONE their
# archives, where they are installed. Without 340,000 relocations such a program
# starts in 10 ms instead of 50, and it needs no LLVM where it runs. What loads
# plugins shares the libraries with them.
file(GLOB mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
file(GLOB llvm_archives ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER mlir_archives EXCLUDE REGEX "libMLIRCAPI")
set(archives "")
if(mlir_archives AND llvm_archives)
  execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --system-libs
    OUTPUT_VARIABLE system_libraries OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(system_libraries)
  list(JOIN mlir_archives "," mlir_archives)
  list(JOIN llvm_archives "," llvm_archives)
  set(archives "$<LINK_GROUP:RESCAN,${mlir_archives},${llvm_archives}>" ${system_libraries})
endif()
add_library(LLMCMLIR INTERFACE)
set_property(GLOBAL APPEND PROPERTY LLMC_LIBRARIES LLMCMLIR)
if(archives)
  set(standalone "$<BOOL:$<TARGET_PROPERTY:LLMC_STANDALONE>>")
  target_link_libraries(LLMCMLIR INTERFACE
    "$<BUILD_INTERFACE:$<${standalone}:${archives}>$<$<NOT:${standalone}>:MLIR;LLVM>>"
    "$<INSTALL_INTERFACE:MLIR;LLVM>")
else()
  target_link_libraries(LLMCMLIR INTERFACE MLIR LLVM)
endif()

# What tablegen makes of the dialects that the precompiled headers include.
set(LLMC_PRECOMPILED_DIALECTS LLMCBatchingGen LLMCDistGen LLMCDistInterfaceGen LLMCGraphInterfacesGen LLMCLibraryCallGen
  LLMCPlanGen LLMCPlanInterfaceGen LLMCStableHLOGen)

# Everything that a compiler directory needs; a macro, since flags are by directory.
macro(llmc_compiler_directory)
  include_directories(${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
  include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  separate_arguments(llmc_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  add_definitions(${llmc_llvm_definitions})
  set(LLVM_ENABLE_RTTI ON)
endmacro()

# llmc_compiler_library(name source... [INTERNAL] [OPTIMIZED] [DEPENDS target...] [LINK our-lib...])
# INTERNAL: no slot, but a part of a tool that tests call too; it is not installed.
# OPTIMIZED: it loops over elements or searches, and so gets the build's flags alone.
function(llmc_compiler_library name)
  cmake_parse_arguments(ARG "INTERNAL;OPTIMIZED" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE ${LLMC_COLD_FLAGS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} LLMCMLIR)
  if(NOT ARG_INTERNAL)
    llmc_public_headers(${name} INTERFACE)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM llmc_pch)
  endif()
endfunction()

# llmc_tablegen(target file.td output generator-args... [output generator-args... ...])
# written as: llmc_tablegen(LLMCFooGen Foo.td Foo.h.inc -gen-op-decls | Foo.cpp.inc -gen-op-defs)
# Outputs lie in the build tree beside the .td (include/llmc/... mirrors the source).
function(llmc_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(current "")
  foreach(word ${ARGN} "|")
    if(word STREQUAL "|")
      mlir_tablegen(${current} EXTRA_INCLUDES ${LLMC_TABLEGEN_INCLUDES})
      set(current "")
    else()
      list(APPEND current ${word})
    endif()
  endforeach()
  add_public_tablegen_target(${target})
  set_property(GLOBAL APPEND PROPERTY LLMC_TABLEGEN_TARGETS ${target})
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()

# llmc_compiler_tool(name source... [STANDALONE] [LINK our-lib...])
function(llmc_compiler_tool name)
  cmake_parse_arguments(ARG "STANDALONE" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  # As the libraries, whose precompiled header it takes.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF LLMC_STANDALONE ${ARG_STANDALONE})
  target_compile_options(${name} PRIVATE -fPIC -ffp-contract=off ${LLMC_COLD_FLAGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} LLMCMLIR)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM llmc_pch)
  endif()
endfunction()

# llmc_compiler_unit_test(name source... [LINK our-lib...])
function(llmc_compiler_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  llmc_unit_test(${name} ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK} LLMCMLIR)
  llvm_update_compile_flags(${name})
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM llmc_test_pch)
  endif()
endfunction()
