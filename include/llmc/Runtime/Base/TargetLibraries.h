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
#include "llmc/Runtime/Base/Status.h"

#include <string_view>

namespace llmc::rt {

/// Whether libraries of `target` compute calls of `kind`, a name of
/// `libraryKindNames`. A target is named as plans name it, and then by the
/// libraries that it has only where the user asks for them: "cuda+cudnn". One
/// that the table does not name has all kinds: processors, and devices whose
/// memory a processor computes in.
bool hasLibrary(std::string_view target, std::string_view kind);

/// Whether `target` computes calls of `kind` at all: by a library, or by
/// kernels that the compiler writes in its place (CallForm.h).
bool isComputed(std::string_view target, std::string_view kind);

/// Elements of depth, or of values, up to which those kernels of attention
/// multiply floats of 16 bits by tensor cores (AttendTiles.cpp).
inline constexpr int64_t attentionTensorDepth = 128;

/// Success where the libraries of `target` are left a call of `descriptor`;
/// else error (15), which says why they are not. A kind that one library alone
/// has is left to it as far as it can express the call, and else is the
/// kernels'.
Status checkLibrary(std::string_view target,
                    const LibraryDescriptor &descriptor);

/// Whether a call that the libraries of `target` compute as it is stays theirs
/// with a bias.
bool takesBias(std::string_view target, const LibraryDescriptor &descriptor);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_TARGETLIBRARIES_H
