//===- SymbolTable.cpp - Entry points of a library, found when asked for --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/SymbolTableTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "SymbolTable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>

namespace llmc::rt::cuda {

Status loadSymbols(const std::vector<std::string> &files,
                   const std::vector<SymbolRow> &rows, const char *hint) {
  for (const std::string &file : files) {
    void *module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) {
      continue;
    }
    for (const SymbolRow &row : rows) {
      *row.place = dlsym(module, row.name);
      if (!*row.place && row.before) {
        *row.place = dlsym(module, row.before);
      }
      if (!*row.place) {
        return makeError(ErrorKind::mismatch,
                         fmt::format("expected {} to have '{}', got none", file,
                                     row.name))
            .withHint(hint);
      }
    }
    return Status::success();
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected {} on this machine, got none",
                               fmt::join(files, " or ")))
      .withHint(hint);
}

} // namespace llmc::rt::cuda
