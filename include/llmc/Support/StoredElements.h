//===- StoredElements.h - Element types that engines hold -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The language has more element types than memory, kernels and plans: floats of
// 4 and 6 bits, i2, complex numbers are read and printed, but no engine
// computes with them. Each engine asks here once, at its door, so that nothing
// inside it meets an element that it would take for another one.
//
//   f64 f32 bf16 f16   i1   i4 i8 i16 i32 i64   ui4 ui8 ui16 ui32 ui64
//   f8E4M3FN f8E5M2 f8E4M3FNUZ f8E5M2FNUZ f8E4M3B11FNUZ
//
// The floats of 8 bits and the integers of 4 are types to store numbers in: an
// element takes a byte, and what is computed with them is computed in f32 and
// in integers, and rounded or cut after each op.
//
// Test: test/Interpreter/StoredElementsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_STOREDELEMENTS_H
#define LLMC_SUPPORT_STOREDELEMENTS_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Support/LLVM.h"
#include <optional>

namespace llmc {

/// The runtime's type of the elements; nothing for a type that is not stored.
std::optional<rt::DType> getRuntimeDType(Type element);

/// The type that an element has in memory: signless, i8 for i1 and i4.
Type getMemoryType(Type element);

/// Refuses, with an error at the op, the first value, signature or type of a
/// symbol at or inside of `root` whose elements are not stored.
LogicalResult verifyStoredElements(Operation *root);

/// The same of a text, which may have complex<f32> and complex<f64> too: the
/// import splits these into their parts.
LogicalResult verifyTextElements(Operation *root);

} // namespace llmc

#endif // LLMC_SUPPORT_STOREDELEMENTS_H
