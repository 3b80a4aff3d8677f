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
// All of it may be absent: without links axes are alike and cost no latency;
// an axis that is not named crosses the first class.
//
// Test: test/Analysis/Layouts/ReshardOfLayoutsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_MACHINEOFMESH_H
#define LLMC_ANALYSIS_LAYOUTS_MACHINEOFMESH_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Solvers/Reshard/MachineModel.h"
#include "llmc/Support/LLVM.h"

namespace llmc {

/// The machine of the mesh; reports an attribute that cannot be read, an axis
/// with an unknown link class, and numbers out of range.
FailureOr<MachineModel> readMachine(dist::MeshOp mesh);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_MACHINEOFMESH_H
