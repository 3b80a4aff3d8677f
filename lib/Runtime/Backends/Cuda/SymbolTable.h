//===- SymbolTable.h - Entry points of a library, found when asked for ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table is a struct of function pointers and a list of their names. No
// library of CUDA is linked: one that is not there is an error of the plan that
// asks for it, and of nobody else.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_SYMBOLTABLE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_SYMBOLTABLE_H

#include "llmc/Runtime/Base/Status.h"

#include <string>
#include <vector>

// The name of a function after macros of its header have put a version to it.
#define LLMC_CUDA_TEXT_INNER(name) #name
#define LLMC_CUDA_TEXT(name) LLMC_CUDA_TEXT_INNER(name)
// A member of a table, and its row in the list.
#define LLMC_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
#define LLMC_CUDA_ROW(name)                                                    \
  {LLMC_CUDA_TEXT(name), reinterpret_cast<void **>(&table.name)},

namespace llmc::rt::cuda {

/// A name, and where its address goes.
struct SymbolRow {
  const char *name;
  void **place;
  /// What a library that lacks the name has the same function as; or null.
  const char *before = nullptr;
};

/// Opens the first of `files` that the loader finds and fills the table. The
/// library stays for the life of the process. Errors (15) name the files, with
/// `hint`, or the first symbol that is missing and the file that lacks it.
Status loadSymbols(const std::vector<std::string> &files,
                   const std::vector<SymbolRow> &rows, const char *hint);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_SYMBOLTABLE_H
