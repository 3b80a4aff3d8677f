//===- Passes.h - Passes of the group Partition -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 4: global programs become programs of one device.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_PARTITION_PASSES_H
#define LLMC_TRANSFORMS_PARTITION_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

#define GEN_PASS_DECL
#include "llmc/Transforms/Partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmc/Transforms/Partition/Passes.h.inc"

/// Phase 4: local shapes, segments.
void buildPartitionPipeline(mlir::OpPassManager &manager);

} // namespace llmc

#endif // LLMC_TRANSFORMS_PARTITION_PASSES_H
