//===- TargetLibraries.h - What a target's libraries have -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of which kinds of Library.h a target computes by a library.
// The compiler asks it before it leaves a kind to one, and a backend before it
// prepares one.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_TARGETLIBRARIES_H
#define LLMC_RUNTIME_BASE_TARGETLIBRARIES_H

#include "llmc/Runtime/Base/Library.h"

#include <string_view>

namespace llmc::rt {

/// Whether libraries of `target` (as plans name it) compute calls of `kind`, a
/// name of `libraryKindNames`. A target that the table does not name has all
/// kinds: processors, and devices whose memory a processor computes in.
bool hasLibrary(std::string_view target, std::string_view kind);

/// Whether `target` computes calls of `kind` at all: by a library, or by
/// kernels that the compiler writes in its place (CallForm.h).
bool isComputed(std::string_view target, std::string_view kind);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_TARGETLIBRARIES_H
