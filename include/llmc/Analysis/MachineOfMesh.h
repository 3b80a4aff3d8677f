//===- MachineOfMesh.h - The machine that a mesh stands for -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `dist.mesh` may say what its axes cross, as a dictionary:
//
//   dist.mesh @mesh = <"data"=2, "tensor"=2> {llmc.machine = {
//       links = [{name = "nvlink", latency = 1.0e-6, bandwidth = 4.5e11},
//                {name = "network", latency = 5.0e-6, bandwidth = 5.0e10}],
//       axes = {data = "network", tensor = "nvlink"},
//       flops = 1.0e15, memory = 80000000000}}
//
// All of it may be absent: links are then alike and cost no latency.
//
// Test: test/Analysis/ReshardOfLayoutsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_MACHINEOFMESH_H
#define LLMC_ANALYSIS_MACHINEOFMESH_H

#include "llmc/Analysis/MachineModel.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"

namespace llmc {

/// Name of the attribute.
inline constexpr llvm::StringLiteral kMachineAttr = "llmc.machine";

/// The machine of the mesh; reports an attribute that cannot be read, an axis
/// without a link, and numbers out of range.
FailureOr<MachineModel> readMachine(dist::MeshOp mesh);

/// The dictionary for a machine; axes are named by `axes`.
mlir::DictionaryAttr toAttribute(const MachineModel &machine,
                                 dist::MeshAxesAttr axes);

} // namespace llmc

#endif // LLMC_ANALYSIS_MACHINEOFMESH_H
