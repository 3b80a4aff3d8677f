//===- ActionStructure.cpp - The structure of instructions ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kind of instruction: operands present where they must be, indices in
// their tables, enumerators known, dims within ranks.
//
// Test: test/Runtime/Plan/Format/ActionStructureTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanStructure.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <cmath>
#include <fmt/format.h>

namespace llmc::rt::plan {

static Status malformed(std::string message) {
  return makeError(ErrorKind::malformed, std::move(message));
}

Status StructureCheck::accesses(const std::vector<Operand> &operands,
                                const std::vector<Access> &access) {
  if (access.size() != operands.size()) {
    return malformed(fmt::format("expected {} accesses, got {}",
                                 operands.size(), access.size()));
  }
  for (Access each : access) {
    LLMC_TRY(range("an access", static_cast<int>(each), 0, 2));
  }
  return Status::success();
}

Status StructureCheck::check(const KernelLaunch &launch) const {
  LLMC_TRY(index("a kernel", launch.kernel, plan_.kernels.size()));
  LLMC_TRY(operands("an operand of a kernel", launch.operands));
  LLMC_TRY(operand("the scratch of a kernel", launch.scratch, true));
  LLMC_TRY(accesses(launch.operands, launch.access));
  for (ExprId scalar : launch.scalars) {
    LLMC_TRY(expression("a scalar of a kernel", scalar,
                        plan_.programs[program_].numParameters, false));
  }
  if (!std::isfinite(launch.operations) || launch.operations < 0) {
    return malformed(
        fmt::format("expected finite operations of a kernel of at least 0, got "
                    "{}",
                    launch.operations));
  }
  return Status::success();
}

Status StructureCheck::dtype(DType dtype) {
  return range("a dtype", static_cast<int>(dtype), 0, numDTypes - 1);
}

Status
StructureCheck::checkIndices(const std::vector<ContractionIndex> &indices) {
  LLMC_TRY(range("the indices of a contraction", indices.size(), 0, 32));
  for (const ContractionIndex &index : indices) {
    LLMC_TRY(range("the kind of a contraction's index",
                   static_cast<int>(index.kind), 0,
                   contractionIndexNames.size() - 1));
    for (int64_t value : {index.size, index.strideA, index.strideB,
                          index.strideC, index.strideBias}) {
      LLMC_TRY(range("a size or stride of a contraction", value, 0, INT64_MAX));
    }
  }
  return Status::success();
}

/// Where the window's elements stand is a number of half the range at most, so
/// that sums of two are numbers.
Status StructureCheck::checkWindow(const ConvolutionWindow &window) {
  constexpr int64_t most = int64_t(1) << 62;
  for (int64_t value : {window.sizeA, window.sizeB, window.sizeC,
                        window.strideA, window.strideB, window.strideC}) {
    LLMC_TRY(range("a size or stride of a convolution's window", value, 0,
                   INT64_MAX));
  }
  for (int64_t value : {window.dilationA, window.dilationB, window.stepC}) {
    LLMC_TRY(range("a dilation or step of a convolution's window", value, 1,
                   INT64_MAX));
  }
  LLMC_TRY(
      range("the low edge of a convolution's window", window.low, -most, most));
  Checked far = Checked(window.stepC) * window.sizeC +
                Checked(window.dilationB) * window.sizeB;
  Checked end = Checked(window.dilationA) * window.sizeA;
  if (!far.within(0, most) || !end.within(0, most)) {
    return malformed("expected a convolution's window to reach less than 2^62 "
                     "positions");
  }
  return Status::success();
}

Status StructureCheck::checkDescriptor(const ConvolutionShape &shape) {
  LLMC_TRY(checkIndices(shape.indices));
  LLMC_TRY(range("the windows of a convolution", shape.windows.size(), 0, 32));
  for (const ConvolutionWindow &window : shape.windows) {
    LLMC_TRY(checkWindow(window));
  }
  for (DType each : {shape.a, shape.b, shape.c, shape.bias, shape.accumulate}) {
    LLMC_TRY(dtype(each));
  }
  if (shape.beta != 0 && shape.beta != 1) {
    return malformed("expected a beta of 0 or 1");
  }
  return Status::success();
}

Status StructureCheck::checkDescriptor(const ContractionShape &shape) {
  LLMC_TRY(checkIndices(shape.indices));
  for (DType each : {shape.a, shape.b, shape.c, shape.bias, shape.accumulate}) {
    LLMC_TRY(dtype(each));
  }
  LLMC_TRY(range("an activation", static_cast<int>(shape.activation), 0,
                 activationNames.size() - 1));
  if (!std::isfinite(shape.alpha) || (shape.beta != 0 && shape.beta != 1)) {
    return malformed("expected a finite alpha and beta of 0 or 1");
  }
  return Status::success();
}

Status StructureCheck::checkIndex(const AttentionIndex &index) {
  LLMC_TRY(range("the kind of an attention's index",
                 static_cast<int>(index.kind), 0,
                 attentionIndexNames.size() - 1));
  LLMC_TRY(range("a size or stride of an attention", index.size, 0, INT64_MAX));
  for (const AttentionStride &each : attentionStrides) {
    LLMC_TRY(range("a size or stride of an attention", index.*each.stride, 0,
                   INT64_MAX));
  }
  return Status::success();
}

/// Where the diagonal stands is a number of half the range at most, so that
/// sums with a row and an offset are numbers.
Status StructureCheck::checkDescriptor(const AttentionShape &shape) {
  constexpr int64_t most = int64_t(1) << 61;
  LLMC_TRY(range("the indices of an attention", shape.indices.size(), 0, 32));
  for (const AttentionIndex &index : shape.indices) {
    LLMC_TRY(checkIndex(index));
  }
  for (DType each : {shape.dtype, shape.accumulate, shape.bias}) {
    LLMC_TRY(dtype(each));
  }
  if (!std::isfinite(shape.scale)) {
    return malformed("expected a finite scale of an attention");
  }
  if (!isSound(shape.dropout)) {
    return malformed("expected a dropout of known bits, a limit of so many and "
                     "a positive factor of an attention");
  }
  return range("the shift of an attention", shape.shift, -most, most);
}

/// Positions are numbers of 32 bits.
Status StructureCheck::checkDescriptor(const ArgsortShape &shape) {
  LLMC_TRY(range("the keys of an argsort", shape.keys.size(), 1, INT32_MAX));
  for (const ArgsortKey &key : shape.keys) {
    LLMC_TRY(dtype(key.dtype));
  }
  for (int64_t rows : {shape.outer, shape.inner}) {
    LLMC_TRY(range("the rows of an argsort", rows, 0, INT64_MAX));
  }
  LLMC_TRY(range("the size of an argsort", shape.size, 0, INT32_MAX));
  return range("the count of an argsort", shape.count, 0, shape.size);
}

/// Rows are an m or a k, and nothing is done with the sums.
Status StructureCheck::checkDescriptor(const GroupedContractionShape &shape) {
  const ContractionShape &product = shape.product;
  LLMC_TRY(checkDescriptor(product));
  LLMC_TRY(range("the index of a grouped contraction's rows", shape.rows, 0,
                 static_cast<int64_t>(product.indices.size()) - 1));
  ContractionIndexKind kind = product.indices[shape.rows].kind;
  if (kind != ContractionIndexKind::m && kind != ContractionIndexKind::k) {
    return malformed(fmt::format("expected the rows of a grouped contraction "
                                 "to be an index m or k, got {}",
                                 nameOf(kind)));
  }
  if (product.hasBias || product.alpha != 1 ||
      product.activation != Activation::none) {
    return malformed("expected a grouped contraction without bias, alpha and "
                     "activation");
  }
  LLMC_TRY(dtype(shape.sizes));
  for (int64_t value : {shape.numSizes, shape.groups, shape.stride}) {
    LLMC_TRY(range("the groups of a grouped contraction", value, 0, INT64_MAX));
  }
  return Status::success();
}

Status StructureCheck::check(const Library &library) const {
  LLMC_TRY(operands("an operand of a library call", library.operands));
  LLMC_TRY(operand("the workspace of a library call", library.workspace, true));
  LLMC_TRY(accesses(library.operands, library.access));
  LLMC_TRY(range("the workspace of a library call", library.workspaceBytes, 0,
                 int64_t(1) << 60));
  LLMC_TRY(range("the form of a library call", library.form, 0, UINT8_MAX));
  return std::visit([](const auto &each) { return checkDescriptor(each); },
                    library.descriptor);
}

Status StructureCheck::check(const Collective &collective) const {
  LLMC_TRY(
      index("a collective's symbol", collective.symbol, plan_.symbols.size()));
  LLMC_TRY(range("a collective's kind", static_cast<int>(collective.kind), 0,
                 numCollectiveKinds - 1));
  LLMC_TRY(range("a reduction", static_cast<int>(collective.reduction), 0,
                 static_cast<int>(reductionTraits.size()) - 1));
  std::vector<bool> seen(plan_.mesh.axes.size());
  for (int32_t axis : collective.axes) {
    LLMC_TRY(index("a collective's axis", axis, seen.size()));
    if (seen[axis]) {
      return malformed(fmt::format("axis \"{}\" occurs twice in a collective",
                                   plan_.mesh.axes[axis].name));
    }
    seen[axis] = true;
  }
  LLMC_TRY(stages(collective.stages));
  LLMC_TRY(operands("an input of a collective", collective.inputs));
  LLMC_TRY(operands("an output of a collective", collective.outputs));
  LLMC_TRY(operand("the counts of a collective", collective.counts, true));
  if (collective.inputs.empty() ||
      collective.inputs.size() != collective.outputs.size()) {
    return malformed(fmt::format("expected one output for each input of a "
                                 "collective, got {} and {}",
                                 collective.outputs.size(),
                                 collective.inputs.size()));
  }
  const CollectiveTraits &traits = traitsOf(collective.kind);
  if (collective.counts.present() != traits.takesCounts) {
    return malformed(fmt::format("expected counts exactly for a collective "
                                 "that takes them, got {} with{} counts",
                                 traits.name, traits.takesCounts ? "out" : ""));
  }
  for (const Operand &input : collective.inputs) {
    if (traits.usesDim()) {
      LLMC_TRY(index("a collective's dim", collective.dim, input.shape.size()));
      LLMC_TRY(index("a collective's second dim", collective.concatDim,
                     input.shape.size()));
    }
  }
  return expression("a collective's peer", collective.peer,
                    plan_.programs[program_].numParameters,
                    traits.peer == CollectivePeer::none);
}

Status StructureCheck::checkMessage(const Message &message) const {
  LLMC_TRY(index("a transfer", message.transfer, plan_.transfers.size()));
  LLMC_TRY(operands("an operand of a transfer", message.operands));
  return expression("the peer of a transfer", message.peer,
                    plan_.programs[program_].numParameters, false);
}

Status StructureCheck::check(const Send &send) const {
  return checkMessage(send.message);
}

Status StructureCheck::check(const Receive &receive) const {
  return checkMessage(receive.message);
}

Status StructureCheck::check(const Exchange &exchange) const {
  for (const Message &message : exchange.sends) {
    LLMC_TRY(checkMessage(message));
  }
  for (const Message &message : exchange.receives) {
    LLMC_TRY(checkMessage(message));
  }
  return Status::success();
}

Status StructureCheck::check(const Copy &copy) const {
  LLMC_TRY(range("the host end of a copy", static_cast<int>(copy.host), 0,
                 static_cast<int>(HostEnd::fetch)));
  bool fromHost = copy.host == HostEnd::input || copy.host == HostEnd::hyper;
  bool toHost = copy.host == HostEnd::metric || copy.host == HostEnd::fetch;
  LLMC_TRY(operand("the target of a copy", copy.to, toHost));
  LLMC_TRY(operand("the source of a copy", copy.from, fromHost));
  if ((fromHost && copy.from.present()) || (toHost && copy.to.present())) {
    return malformed("expected one end of a copy to lie on the host");
  }
  return range("the host index of a copy", copy.index, 0, INT32_MAX);
}

Status StructureCheck::check(const Fill &fill) const {
  return operand("the target of a fill", fill.to);
}

Status StructureCheck::check(const Signal &signal) const {
  LLMC_TRY(index("a frame", signal.event.frame, plan_.frames.size()));
  return index("an event", signal.event.event,
               plan_.frames[signal.event.frame].events);
}

Status StructureCheck::check(const Wait &wait) const {
  LLMC_TRY(index("a frame", wait.event.frame, plan_.frames.size()));
  return index("an event", wait.event.event,
               plan_.frames[wait.event.frame].events);
}

Status StructureCheck::arguments(std::string_view what,
                                 const std::vector<ExprId> &list,
                                 int32_t expected) const {
  if (static_cast<int32_t>(list.size()) != expected) {
    return malformed(fmt::format("expected {} arguments of {}, got {}",
                                 expected, what, list.size()));
  }
  for (ExprId argument : list) {
    LLMC_TRY(expression("an argument", argument,
                        plan_.programs[program_].numParameters, false));
  }
  return Status::success();
}

Status StructureCheck::check(const Call &call) const {
  // Smaller indices only: no recursion.
  LLMC_TRY(index("a called program", call.program, program_));
  LLMC_TRY(arguments("a call", call.arguments,
                     plan_.programs[call.program].numParameters));
  return expression("the microbatch of a call", call.microbatch,
                    plan_.programs[program_].numParameters);
}

Status StructureCheck::check(const Loop &loop) const {
  LLMC_TRY(range("the trips of a loop", loop.trips, 0, INT64_MAX));
  LLMC_TRY(index("the body of a loop", loop.program, program_));
  // The first parameter is the trip.
  int32_t parameters = plan_.programs[loop.program].numParameters;
  if (parameters == 0) {
    return malformed("expected the body of a loop to have a parameter for the "
                     "trip");
  }
  return arguments("a loop", loop.arguments, parameters - 1);
}

Status StructureCheck::check(const Branch &branch) const {
  LLMC_TRY(operand("the flag of a branch", branch.flag));
  return index("the body of a branch", branch.program, program_);
}

Status StructureCheck::check(const While &loop) const {
  LLMC_TRY(operand("the flag of a while", loop.flag));
  LLMC_TRY(index("the body of a while", loop.program, program_));
  if (loop.flag.dtype != DType::i1 || elementsOf(loop.flag) != 1) {
    return malformed("expected the flag of a while to be one i1");
  }
  return arguments("the body of a while", {},
                   plan_.programs[loop.program].numParameters);
}

} // namespace llmc::rt::plan
