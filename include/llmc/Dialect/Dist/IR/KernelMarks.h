//===- KernelMarks.h - What code of a kernel says of itself -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks on ops within the function of a `dist.kernel`, from those that write it
// (lib/Transforms/Kernels) for those that make machine code (lib/Codegen).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_KERNELMARKS_H
#define LLMC_DIALECT_DIST_IR_KERNELMARKS_H

#include "llvm/ADT/StringRef.h"

namespace llmc::dist {

/// A unit attribute of an `scf.for` of a GPU's kernel: what its body loads is
/// loaded in each iteration, and not kept in registers from before the loop;
/// nor are several iterations written one after the other.
inline constexpr llvm::StringLiteral kStaysLoop = "stays_loop";

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_KERNELMARKS_H
