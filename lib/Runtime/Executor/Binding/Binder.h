//===- Binder.h - Binds programs to a device ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_BINDER_H
#define LLMC_LIB_RUNTIME_EXECUTOR_BINDER_H

#include "Bound.h"
#include "Groups.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Runtime/Plan/Format/PlanPrograms.h"

#include <map>
#include <tuple>

namespace llmc::rt::exec {

/// What the bound programs of all devices share.
struct Shared {
  const plan::Plan &plan;
  const plan::Manifest &manifest;
  Groups &groups;
  /// [program][instruction]
  std::vector<std::vector<Origin>> origins;
  int64_t numMicrobatches = 1; ///< The most of any entry.
};

/// Names and locations of all instructions.
std::vector<std::vector<Origin>> makeOrigins(const plan::Plan &plan);

class Binder {
public:
  Binder(Shared &shared, LocalDevice &local) : shared(shared), local(local) {}

  /// Frames, events, queues, then programs.
  Status bind();

private:
  Status bindFrames();
  Status makeStreams(const std::vector<int32_t> &programs);
  Status bindProgram(int32_t index);
  Result<BoundAction> bindAction(const plan::Instruction &instruction,
                                 const Origin &origin);

  Result<BoundAction> bindKernel(const plan::KernelLaunch &launch);
  Result<BoundAction> bindLibrary(const plan::Library &library, int32_t stream,
                                  const Origin &origin);
  Result<BoundAction> bindCollective(const plan::Collective &collective,
                                     const Origin &origin);
  Result<BoundAction> bindMessages(const std::vector<plan::Message> &sends,
                                   const std::vector<plan::Message> &receives,
                                   const Origin &origin);
  Result<BoundAction> bindCopy(const plan::Copy &copy, const Origin &origin);
  Result<BoundAction> bindFill(const plan::Fill &fill, const Origin &origin);
  Result<BoundAction> bindCall(const plan::Call &call);
  Result<BoundAction> bindLoop(const plan::Loop &loop);
  Result<BoundAction> bindWhile(const plan::While &loop, int32_t stream);

  Number number(plan::ExprId id) const;
  Ref ref(const plan::Operand &operand) const;
  Status setPeers(const plan::Collective &collective, Collective &bound,
                  const std::vector<int> &members, const Origin &origin) const;

  Shared &shared;
  LocalDevice &local;
  /// By stream, what is computed, reserved bytes, and form: instructions that
  /// agree in these share one op.
  std::map<std::tuple<int32_t, LibraryDescriptor, int64_t, int32_t>,
           const LibraryOp *>
      libraryOps;
};

/// What one call of each program enqueues; callees are included.
std::vector<QueueUse> measurePrograms(const plan::Plan &plan);

/// The elements of both operands, in row-major order of each; an absent operand
/// is contiguous. Error (5) where the dims of the two do not divide each other.
Result<CopyBox> copyBox(const plan::Operand &to, const plan::Operand &from);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_BINDER_H
