//===- Errors.cpp - Errors have names -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

using namespace llmc::standin;

static const char *nameOfError(CUresult error) {
  switch (error) {
#define LLMC_STANDIN_ERROR(name)                                               \
  case name:                                                                   \
    return #name;
#include "Driver/Errors.def"
  default:
    return nullptr;
  }
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  *name = nameOfError(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// The stand-in's description of an error is its name in plain letters.
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  const char *name = nameOfError(error);
  *text = nullptr;
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  static thread_local std::string plain;
  plain =
      error ? std::string(name).substr(sizeof("CUDA_ERROR_") - 1) : "no error";
  for (char &c : plain)
    c = c == '_' ? ' ' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
  *text = plain.c_str();
  return CUDA_SUCCESS;
}
