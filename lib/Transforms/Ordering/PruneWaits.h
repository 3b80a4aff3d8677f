//===- PruneWaits.h - Waits that the places make superfluous ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits are found before buffers have places, so some of them keep accesses
// apart that never touch the same bytes. With places at hand each wait is tried
// again: without any one of those that stay, some conflict is unordered.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PRUNEWAITS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PRUNEWAITS_H

#include "llmc/Support/LLVM.h"

namespace llmc::ordering {

/// Erases superfluous waits, and signals that nothing waits for, in the
/// programs of each entry. All frames and buffers have places.
LogicalResult pruneWaits(ModuleOp module);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PRUNEWAITS_H
