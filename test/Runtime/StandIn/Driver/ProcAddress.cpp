//===- ProcAddress.cpp - Functions by name and version --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Report.h"

#include <cstring>
#include <cuda.h>
#include <dlfcn.h>

using namespace llmc::standin;

namespace {
struct Entry {
  const char *name;
  int since, before;
  const char *symbol;
};
} // namespace

static const Entry entries[] = {
#define LLMC_STANDIN_TEXT(symbol) #symbol
#define LLMC_STANDIN_ENTRY(name, since, before, symbol)                        \
  {#name, since, before, #symbol},
#include "Driver/Entries.def"
};

/// The folder of this library may be any, so it asks itself.
static void *ownSymbol(const char *symbol) {
  static void *self = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&cuGetErrorName), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return dlsym(self, symbol);
}

static CUresult find(const char *name, void **function, int version,
                     cuuint64_t flags, CUdriverProcAddressQueryResult *status) {
  constexpr cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                               CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!name || !function || version > CUDA_VERSION || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
    explain("cuGetProcAddress: the stand-in has no functions whose default "
            "stream is that of the thread");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  *function = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  for (const Entry &entry : entries) {
    if (std::strcmp(entry.name, name) != 0)
      continue;
    found = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    if (version < entry.since || version >= entry.before)
      continue;
    *function = ownSymbol(entry.symbol);
    found = CU_GET_PROC_ADDRESS_SUCCESS;
    break;
  }
  if (!*function)
    explain("cuGetProcAddress: no '%s' of version %d", name, version);
  if (status)
    *status = found;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress(const char *name, void **function,
                                  int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status) {
  return find(name, function, version, flags, status);
}

#undef cuGetProcAddress
extern "C" CUresult CUDAAPI cuGetProcAddress(const char *name, void **function,
                                             int version, cuuint64_t flags) {
  return find(name, function, version, flags, nullptr);
}
