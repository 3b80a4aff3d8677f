//===- BindActions.cpp - Binds each kind of instruction -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "Binder.h"
#include "Objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace llmc::rt::exec {

static Status unsupported(std::string what) {
  return makeError(ErrorKind::unsupported, std::move(what));
}

Result<BoundAction> Binder::bindAction(const plan::Instruction &instruction,
                                       const Origin &origin) {
  const plan::Action &action = instruction.action;
  if (auto *launch = std::get_if<plan::KernelLaunch>(&action)) {
    return bindKernel(*launch);
  }
  if (auto *library = std::get_if<plan::Library>(&action)) {
    return bindLibrary(*library, instruction.stream, origin);
  }
  if (auto *collective = std::get_if<plan::Collective>(&action)) {
    return bindCollective(*collective, origin);
  }
  if (auto *send = std::get_if<plan::Send>(&action)) {
    return bindMessages({send->message}, {}, origin);
  }
  if (auto *receive = std::get_if<plan::Receive>(&action)) {
    return bindMessages({}, {receive->message}, origin);
  }
  if (auto *exchange = std::get_if<plan::Exchange>(&action)) {
    return bindMessages(exchange->sends, exchange->receives, origin);
  }
  if (auto *copy = std::get_if<plan::Copy>(&action)) {
    return bindCopy(*copy, origin);
  }
  if (auto *fill = std::get_if<plan::Fill>(&action)) {
    return bindFill(*fill, origin);
  }
  if (auto *signal = std::get_if<plan::Signal>(&action)) {
    return BoundAction(
        BoundEvent{signal->event.frame, signal->event.event, false});
  }
  if (auto *wait = std::get_if<plan::Wait>(&action)) {
    return BoundAction(BoundEvent{wait->event.frame, wait->event.event, true});
  }
  if (auto *call = std::get_if<plan::Call>(&action)) {
    return bindCall(*call);
  }
  if (auto *loop = std::get_if<plan::Loop>(&action)) {
    return bindLoop(*loop);
  }
  if (auto *loop = std::get_if<plan::While>(&action)) {
    return bindWhile(*loop, instruction.stream);
  }
  return unsupported(
      fmt::format("instruction '{}' is not supported", plan::nameOf(action)));
}

Result<BoundAction> Binder::bindKernel(const plan::KernelLaunch &launch) {
  const std::string &name = shared.plan.kernels[launch.kernel].name;
  const plan::KernelInfo *info = shared.manifest.find(name);
  if (!info) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected kernel '{}' in a manifest of the "
                                 "plan's kernel objects",
                                 name));
  }
  LLMC_TRY_ASSIGN(const Kernel *kernel,
                  local.device->kernel(shapeOf(shared.manifest, *info)));
  BoundKernel bound{kernel, {}, {}, ref(launch.scratch)};
  for (const plan::Operand &operand : launch.operands) {
    bound.operands.push_back(ref(operand));
  }
  for (plan::ExprId scalar : launch.scalars) {
    bound.scalars.push_back(number(scalar));
  }
  return BoundAction(std::move(bound));
}

Result<BoundAction> Binder::bindLibrary(const plan::Library &library,
                                        int32_t stream, const Origin &origin) {
  const LibraryOp *&op = libraryOps[{stream, library.descriptor,
                                     library.workspaceBytes, library.form}];
  if (!op) {
    LibraryShape shape{origin.name, library.descriptor, shared.plan.threads,
                       static_cast<uint64_t>(library.workspaceBytes),
                       static_cast<uint32_t>(library.form)};
    LLMC_TRY_ASSIGN(op, local.device->prepare(shape));
  }
  BoundLibrary bound{op, {}, ref(library.workspace)};
  for (const plan::Operand &operand : library.operands) {
    bound.operands.push_back(ref(operand));
  }
  return BoundAction(std::move(bound));
}

static uint64_t product(const std::vector<int64_t> &shape, size_t begin,
                        size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end),
                         uint64_t(1), std::multiplies<>());
}

/// The buffer as [outer, count] around `dim`, as Communicator.h has it.
static CollectiveBuffer bufferOf(const plan::Collective &collective,
                                 const plan::Operand &in,
                                 const plan::Operand &out, size_t members) {
  const CollectiveTraits &traits = traitsOf(collective.kind);
  CollectiveBuffer buffer;
  if (!traits.usesDim()) {
    buffer.count = product(in.shape, 0, in.shape.size());
    return buffer;
  }
  auto dim = static_cast<size_t>(collective.dim);
  buffer.outer = product(in.shape, 0, dim);
  buffer.count = product(in.shape, dim, in.shape.size());
  if (traits.splitsInput) {
    buffer.count /= members;
  }
  if (traits.splitsInput && traits.joinsOutput) {
    buffer.outerOut =
        product(out.shape, 0, static_cast<size_t>(collective.concatDim));
  }
  return buffer;
}

/// What the counts of a collective count, if it takes any.
static CollectiveRows rowsOf(const plan::Collective &collective) {
  if (!collective.counts.present()) {
    return {};
  }
  const std::vector<int64_t> &in = collective.inputs.front().shape;
  auto dim = static_cast<size_t>(collective.dim);
  return {product(in, dim + 1, in.size()), static_cast<uint64_t>(in[dim]),
          static_cast<uint64_t>(collective.outputs.front().shape[dim]),
          static_cast<uint64_t>(collective.counts.shape.back())};
}

/// The root, or for each member whose value it gets. Peers do not depend on a
/// call, and every member of a broadcast names the same root.
Status Binder::setPeers(const plan::Collective &collective, Collective &bound,
                        const std::vector<int> &members,
                        const Origin &origin) const {
  if (collective.peer == plan::noExpr) {
    return Status::success();
  }
  for (int member : members) {
    std::optional<int64_t> peer = fold(shared.plan.expressions, collective.peer,
                                       shared.plan.mesh.coordinatesOf(member));
    if (!peer || *peer < -1 || *peer >= static_cast<int64_t>(members.size())) {
      return makeError(ErrorKind::mismatch,
                       fmt::format("expected a member in [0, {}) that does not "
                                   "depend on the microbatch in '{}'",
                                   members.size(), origin.name));
    }
    bound.sources.push_back(static_cast<int>(*peer));
  }
  if (traitsOf(bound.kind).peer != CollectivePeer::source) {
    bound.root = bound.sources.front();
    bool same =
        std::count(bound.sources.begin(), bound.sources.end(), bound.root) ==
        static_cast<std::ptrdiff_t>(members.size());
    bound.sources.clear();
    if (!same || bound.root < 0) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected one root of all members in '{}'", origin.name));
    }
  }
  return Status::success();
}

Result<BoundAction> Binder::bindCollective(const plan::Collective &collective,
                                           const Origin &origin) {
  std::vector<int> members = Groups::members(shared.plan.mesh, collective.axes,
                                             collective.stages, local.number);
  Collective bound;
  bound.kind = collective.kind;
  bound.reduction = collective.reduction;
  bound.symbol = shared.plan.symbols[collective.symbol];
  bound.type = collective.inputs.front().dtype;
  bound.accumulate = bound.type == DType::f64 ? DType::f64 : DType::f32;
  LLMC_TRY(setPeers(collective, bound, members, origin));
  BoundCollective action{
      shared.groups.collective(collective, local.number), nullptr, {}, {}};
  if (!action.communicator) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected stage {} among those of the "
                                 "collective",
                                 local.stage));
  }
  for (size_t i = 0; i < collective.inputs.size(); ++i) {
    const plan::Operand &in = collective.inputs[i];
    const plan::Operand &out = collective.outputs[i];
    if (!plan::isContiguous(in) || !plan::isContiguous(out) ||
        in.dtype != bound.type) {
      return unsupported("expected contiguous buffers of one element type");
    }
    bound.buffers.push_back(bufferOf(collective, in, out, members.size()));
    action.ins.push_back(ref(in));
    action.outs.push_back(ref(out));
  }
  bound.rows = rowsOf(collective);
  if (collective.counts.present()) {
    action.ins.push_back(ref(collective.counts));
  }
  local.collectives.push_back(std::make_unique<Collective>(std::move(bound)));
  action.collective = local.collectives.back().get();
  return BoundAction(std::move(action));
}

Result<BoundAction>
Binder::bindMessages(const std::vector<plan::Message> &sends,
                     const std::vector<plan::Message> &receives,
                     const Origin &origin) {
  BoundExchange bound;
  for (bool isSend : {true, false}) {
    for (const plan::Message &message : isSend ? sends : receives) {
      std::optional<int64_t> peer =
          fold(shared.plan.expressions, message.peer, local.coordinates);
      if (!peer) {
        return unsupported("expected a peer that does not depend on the "
                           "microbatch");
      }
      Communicator *communicator = shared.groups.transfer(
          isSend, static_cast<int32_t>(local.stage),
          static_cast<int32_t>(*peer), message.transfer, local.number);
      if (!communicator) {
        return makeError(ErrorKind::mismatch,
                         fmt::format("expected somebody to send transfer '{}'",
                                     shared.plan.transfers[message.transfer]));
      }
      for (const plan::Operand &operand : message.operands) {
        if (!plan::isContiguous(operand)) {
          return unsupported("expected a contiguous buffer");
        }
        auto bytes = static_cast<uint64_t>(plan::elementsOf(operand) *
                                           sizeOf(operand.dtype));
        bound.parts.push_back({isSend, communicator, ref(operand), bytes});
      }
    }
  }
  return BoundAction(std::move(bound));
}

Result<BoundAction> Binder::bindCopy(const plan::Copy &copy,
                                     const Origin &origin) {
  LLMC_TRY_ASSIGN(CopyBox box, copyBox(copy.to, copy.from));
  return BoundAction(BoundCopy{ref(copy.to), ref(copy.from), copy.host,
                               copy.index, std::move(box)});
}

Result<BoundAction> Binder::bindFill(const plan::Fill &fill,
                                     const Origin &origin) {
  LLMC_TRY_ASSIGN(CopyBox box, copyBox(fill.to, {}));
  return BoundAction(BoundFill{ref(fill.to), fill.pattern,
                               static_cast<unsigned>(sizeOf(fill.to.dtype)),
                               std::move(box)});
}

static Status checkArguments(size_t count) {
  if (count <= mostArguments) {
    return Status::success();
  }
  return makeError(ErrorKind::unsupported,
                   fmt::format("expected at most {} arguments, got {}",
                               mostArguments, count));
}

Result<BoundAction> Binder::bindLoop(const plan::Loop &loop) {
  BoundLoop bound{loop.program, loop.trips, {}};
  for (plan::ExprId argument : loop.arguments) {
    bound.arguments.push_back(number(argument));
  }
  LLMC_TRY(checkArguments(bound.arguments.size() + 1));
  return BoundAction(std::move(bound));
}

Result<BoundAction> Binder::bindWhile(const plan::While &loop, int32_t stream) {
  std::vector<Stream *> streams;
  for (int32_t each : plan::streamsOf(shared.plan, loop, stream)) {
    streams.push_back(local.streams[each]);
  }
  LLMC_TRY_ASSIGN(Repeat * repeat, local.device->repeat(std::move(streams)));
  return BoundAction(BoundWhile{loop.program, ref(loop.flag), repeat});
}

Result<BoundAction> Binder::bindCall(const plan::Call &call) {
  BoundCall bound{call.program,
                  number(call.microbatch),
                  call.microbatch != plan::noExpr,
                  {}};
  for (plan::ExprId argument : call.arguments) {
    bound.arguments.push_back(number(argument));
  }
  LLMC_TRY(checkArguments(bound.arguments.size()));
  return BoundAction(std::move(bound));
}

} // namespace llmc::rt::exec
