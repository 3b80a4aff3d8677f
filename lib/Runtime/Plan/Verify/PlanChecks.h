//===- PlanChecks.h - The loader's checks, one function each ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PlanVerify.cpp runs in order. All assume a plan that passed
// checkStructure; each assumes that those above it succeeded.
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_PLANCHECKS_H
#define LLMC_LIB_RUNTIME_PLAN_PLANCHECKS_H

#include "EntryWalk.h"

#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <functional>

namespace llmc::rt::plan {

/// Frames within the arena, states apart, buffers within frames.
Status checkFrames(const Plan &plan);

/// Each cell's program suits its stage; one forward (and one backward, in
/// training) of each chunk and microbatch, in an order that respects
/// dependencies; slots of `act` frames for the microbatches in flight.
Status checkTable(const Plan &plan, const Entry &entry);

/// Parts tile each state, places lie within their buffers.
Status checkBoxes(const Plan &plan);

/// What the body of each while may hold.
Status checkWhiles(const Plan &plan);

/// Kernels, features, threads, against the environment.
Status checkEnvironment(const Plan &plan, const Environment &environment);

/// A program as some stage of some entry may run it.
struct Scene {
  const Plan &plan;
  const Entry &entry;
  const Environment &environment;
  int64_t stage;
  IntervalScope scope;
};

/// Operands within their buffers on every device, instruction by instruction.
Status checkInstruction(const Scene &scene, const Instruction &instruction);
Status checkKernel(const Scene &scene, const KernelLaunch &launch);
Status checkLibrary(const Scene &scene, const Library &library);
/// The descriptor against its operands, as many and of the types that
/// `operandsOf` says.
Status checkAttention(const AttentionShape &shape,
                      const std::vector<Operand> &operands);
Status checkCollective(const Scene &scene, const Collective &collective);

/// The bytes of the arena that an operand may touch on some device; absent when
/// the frame is not on the stage or the operand leaves its buffer.
std::optional<Interval> placeOf(const Scene &scene, const Operand &operand,
                                int64_t span);
/// Overlap on some device. Operands of one frame share its slot. Assumes that
/// both have a place.
bool mayOverlap(const Scene &scene, const Operand &a, const Operand &b);
/// The same first byte on every device.
bool sameStart(const Scene &scene, const Operand &a, const Operand &b);

/// Partners meet, nothing deadlocks; reads see their values; accesses are
/// ordered.
Status checkOrder(const EntryWalk &walk);

Status mismatch(std::string message);

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_PLANCHECKS_H
