//===- MachineOfMesh.h - The machine that a mesh stands for -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `dist.mesh` may say what its axes cross (`#dist.machine`). What it leaves out
// is as on a machine whose axes are alike and cost no latency.
//
// Test: test/Analysis/Layouts/ReshardOfLayoutsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_MACHINEOFMESH_H
#define LLMC_ANALYSIS_LAYOUTS_MACHINEOFMESH_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Solvers/Reshard/MachineModel.h"
#include "llmc/Support/LLVM.h"

namespace llmc {

/// Where nothing is known of devices and links: a core, which is a virtual
/// device of one process. Operations and bytes a second, seconds of a message.
inline constexpr double kCoreFlops = 1e11, kCoreBandwidth = 1e10,
                        kCoreLatency = 1e-5;

/// The machine of the mesh; reports numbers that no machine has.
FailureOr<MachineModel> readMachine(dist::MeshOp mesh);
/// The same, for decisions that take times: links and operations of which the
/// mesh says nothing are those of a core.
FailureOr<MachineModel> readTimedMachine(dist::MeshOp mesh);

/// Operations a second at which the machine computes the op, by the widest of
/// its operands' floats.
double getOperationsPerSecond(const MachineModel &machine, Operation *op);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_MACHINEOFMESH_H
