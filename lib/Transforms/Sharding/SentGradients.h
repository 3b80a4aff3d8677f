//===- SentGradients.h - Gradients are sent as their row says ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.state @w {row = #dist.row<sent = bf16>}
//
//   %g = reshard %terms           %n = convert %terms  f32 -> bf16, of terms
//     f32, sum{"data"}       ->   %m = reshard %n      bf16, sum{"data"}
//                                 %g = convert %m      bf16 -> f32
//
// Each device rounds its term before it is sent; terms are added up in f32, in
// rank order, and each collective rounds its result once. Where nothing is
// added up between devices, nothing is rounded. This is the place at which a
// gradient is first reduced: in the update where it stays partial over
// microbatches, which are thus added up before, and in the microbatch where its
// row splits it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_SENTGRADIENTS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_SENTGRADIENTS_H

#include "StateRows.h"
#include "llmc/Analysis/Program/Program.h"

namespace llmc {

/// Converts the terms of the gradients of states whose row has `sent`.
void narrowSentGradients(const ProgramFunction &program, const StateRows &rows);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_SENTGRADIENTS_H
