//===- LibraryCost.h - What calls of a library cost -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_LIBRARYCOST_H
#define LLMC_RUNTIME_BASE_LIBRARYCOST_H

#include "llmc/Runtime/Base/Library.h"

#include <array>
#include <string_view>

namespace llmc::rt {

/// Types of factors whose products a machine may have a rate of its own for;
/// fp8: all floats of eight bits.
inline constexpr std::array<std::string_view, 5> rateNames = {
    "f64", "f32", "f16", "bf16", "fp8"};

/// Of factors of the type; "" of others than floats.
std::string_view rateNameOf(DType type);
/// The type of the factors that a call multiplies, the wider of two; "" of
/// integers, and of calls without products.
std::string_view rateNameOf(const LibraryDescriptor &descriptor);

/// Floating-point operations of a call, as published counts have them: two of
/// each term of a sum. Of a convolution all terms of its windows, of an
/// attention those of its products over all scores; an argsort has none.
double operationsOf(const LibraryDescriptor &descriptor);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_LIBRARYCOST_H
