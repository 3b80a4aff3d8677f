//===- DistOps.td - All of the dist dialect ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the generator reads; each theme has its own file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTOPS
#define LLMC_DIALECT_DIST_IR_DISTOPS

include "llmc/Dialect/Dist/IR/DistAttrs.td"
include "llmc/Dialect/Dist/IR/DistCollectiveOps.td"
include "llmc/Dialect/Dist/IR/DistKernelOps.td"
include "llmc/Dialect/Dist/IR/DistLayout.td"
include "llmc/Dialect/Dist/IR/DistLayoutOps.td"
include "llmc/Dialect/Dist/IR/DistLoopOps.td"
include "llmc/Dialect/Dist/IR/DistProgramOps.td"
include "llmc/Dialect/Dist/IR/DistScheduleOps.td"

#endif // LLMC_DIALECT_DIST_IR_DISTOPS
