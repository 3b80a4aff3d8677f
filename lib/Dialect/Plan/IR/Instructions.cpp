//===- Instructions.cpp - What a program may do ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each instruction reads and writes, and its verifier. Tested by
// test/Dialect/Plan/invalid-instructions.mlir.
//
//===----------------------------------------------------------------------===//

#include "BufferCheck.h"

using namespace mlir;
using namespace llmc::plan;
namespace rt = llmc::rt;

using Uses = SmallVector<OperandUse>;

static void append(Uses &uses, ArrayAttr operands, Access access) {
  for (auto operand : operands.getAsRange<OperandAttr>())
    uses.push_back({operand, access});
}

static void append(Uses &uses, ArrayAttr operands) {
  for (auto use : operands.getAsRange<UseAttr>())
    uses.push_back({use.getOperand(), use.getAccess()});
}

static void append(Uses &uses, MessageAttr message, Access access) {
  for (OperandAttr operand : message.getOperands())
    uses.push_back({operand, access});
}

static void appendScratch(Uses &uses, OperandAttr scratch) {
  if (scratch)
    uses.push_back({scratch, Access::Write});
}

//===----------------------------------------------------------------------===//
// What all have in common
//===----------------------------------------------------------------------===//

/// Verifies the stream and that operands lie inside their buffers.
static LogicalResult verifyInstruction(InstructionInterface op,
                                       SymbolTableCollection &tables) {
  Operation *operation = op;
  if (!tables.lookupNearestSymbolFrom<StreamOp>(operation, op.getStreamAttr()))
    return operation->emitOpError() << "expected stream " << op.getStreamAttr()
                                    << " in the module, got none";
  for (const OperandUse &use : op.getUses())
    if (failed(verifyOperand(operation, use.operand, tables)))
      return failure();
  return success();
}

#define LLMC_VERIFY_INSTRUCTION(Op)                                            \
  LogicalResult Op::verifySymbolUses(SymbolTableCollection &tables) {          \
    return verifyInstruction(*this, tables);                                   \
  }
LLMC_VERIFY_INSTRUCTION(KernelOp)
LLMC_VERIFY_INSTRUCTION(LibraryOp)
LLMC_VERIFY_INSTRUCTION(CollectiveOp)
LLMC_VERIFY_INSTRUCTION(SendOp)
LLMC_VERIFY_INSTRUCTION(ReceiveOp)
LLMC_VERIFY_INSTRUCTION(ExchangeOp)
LLMC_VERIFY_INSTRUCTION(CopyOp)
LLMC_VERIFY_INSTRUCTION(FillOp)
#undef LLMC_VERIFY_INSTRUCTION

//===----------------------------------------------------------------------===//
// Kernels and libraries
//===----------------------------------------------------------------------===//

Uses KernelOp::getUses() {
  Uses uses;
  append(uses, getOperands());
  appendScratch(uses, getScratchAttr());
  return uses;
}

Uses LibraryOp::getUses() {
  Uses uses;
  append(uses, getOperands());
  appendScratch(uses, getWorkspaceAttr());
  return uses;
}

static Access getAccess(const rt::LibraryOperand &operand) {
  if (!operand.isWritten)
    return Access::Read;
  return operand.isRead ? Access::ReadWrite : Access::Write;
}

LogicalResult LibraryOp::verify() {
  rt::LibraryDescriptor descriptor = getRuntimeDescriptor();
  std::vector<rt::LibraryOperand> operands = rt::operandsOf(descriptor);
  if (getOperands().size() != operands.size())
    return emitOpError() << "expected " << operands.size() << " operands of "
                         << StringRef(phraseOf(descriptor)) << ", got "
                         << getOperands().size();
  for (auto [use, operand] :
       llvm::zip(getOperands().getAsRange<UseAttr>(), operands))
    if (use.getAccess() != getAccess(operand))
      return emitOpError() << "expected access '"
                           << stringifyAccess(getAccess(operand))
                           << "' of operand " << StringRef(operand.name)
                           << ", got '" << stringifyAccess(use.getAccess())
                           << "'";
  int64_t form = getForm(), bytes = getWorkspaceBytes();
  if (form < 0 || form > UINT8_MAX)
    return emitOpError() << "expected a form from 0 to 255, got " << form;
  if (bytes < 0)
    return emitOpError() << "expected workspace bytes of at least 0, got "
                         << bytes;
  int64_t has = getWorkspace() ? getWorkspace()->getSpan().value_or(0) : 0;
  if (has < bytes)
    return emitOpError() << "expected a workspace of " << bytes
                         << " bytes, got " << has;
  return success();
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

Uses CollectiveOp::getUses() {
  Uses uses;
  append(uses, getInputs(), Access::Read);
  append(uses, getOutputs(), Access::Write);
  if (getCounts())
    uses.push_back({*getCounts(), Access::Read});
  return uses;
}

LogicalResult CollectiveOp::verify() {
  if (getAxes().empty())
    return emitOpError() << "expected at least one axis, got 0";
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (llvm::is_contained(getAxes().getValue().take_front(i), axis))
      return emitOpError() << "expected each axis once, got " << axis
                           << " twice";
  const CollectiveTraits &traits = traitsOf(getKind());
  if (getReduction().has_value() != traits.reduces)
    return emitOpError() << "expected a reduction exactly for reducing kinds, "
                            "got '"
                         << StringRef(traits.name) << "'";
  if (getPeer().has_value() != (traits.peer != CollectivePeer::none))
    return emitOpError() << "expected a peer exactly for broadcast, reduce and "
                            "permute, got '"
                         << StringRef(traits.name) << "'";
  if (getCounts().has_value() != traits.takesCounts)
    return emitOpError() << "expected counts exactly for ragged_all_to_all, "
                            "got '"
                         << StringRef(traits.name) << "'";
  if (getInputs().empty() || getInputs().size() != getOutputs().size())
    return emitOpError() << "expected as many outputs as inputs and at least "
                            "one, got "
                         << getOutputs().size() << " and "
                         << getInputs().size();
  if (getDim() < 0 || getConcatDim() < 0)
    return emitOpError() << "expected dims of at least 0, got " << getDim()
                         << " and " << getConcatDim();
  if (getStages())
    for (auto [i, stage] : llvm::enumerate(*getStages()))
      if (stage < 0 || (i > 0 && stage <= (*getStages())[i - 1]))
        return emitOpError()
               << "expected ascending stages from 0 on, got " << stage;
  return success();
}

Uses SendOp::getUses() {
  Uses uses;
  append(uses, getMessage(), Access::Read);
  return uses;
}

Uses ReceiveOp::getUses() {
  Uses uses;
  append(uses, getMessage(), Access::Write);
  return uses;
}

Uses ExchangeOp::getUses() {
  Uses uses;
  for (auto message : getSends().getAsRange<MessageAttr>())
    append(uses, message, Access::Read);
  for (auto message : getReceives().getAsRange<MessageAttr>())
    append(uses, message, Access::Write);
  return uses;
}

LogicalResult ExchangeOp::verify() {
  if (getSends().empty() && getReceives().empty())
    return emitOpError() << "expected at least one message, got 0";
  return success();
}

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

Uses CopyOp::getUses() {
  Uses uses;
  if (getFrom())
    uses.push_back({*getFrom(), Access::Read});
  if (getTo())
    uses.push_back({*getTo(), Access::Write});
  return uses;
}

static int64_t countElements(OperandAttr operand) {
  int64_t count = 1;
  for (int64_t size : operand.getShape().asArrayRef())
    count *= size;
  return count;
}

LogicalResult CopyOp::verify() {
  HostEnd host = getHost();
  bool toDevice = host == HostEnd::Input || host == HostEnd::Hyper;
  bool toHost = host == HostEnd::Metric || host == HostEnd::Fetch;
  if (getTo().has_value() == toHost || getFrom().has_value() == toDevice)
    return emitOpError() << "expected a target unless the host is, and a "
                            "source unless the host is, got host '"
                         << stringifyHostEnd(host) << "'";
  if (getName().has_value() != (host != HostEnd::None))
    return emitOpError() << "expected a name exactly with the host, got host '"
                         << stringifyHostEnd(host) << "'";
  if (getTo() && getFrom() &&
      countElements(*getTo()) != countElements(*getFrom()))
    return emitOpError() << "expected equal element counts, got "
                         << countElements(*getTo()) << " and "
                         << countElements(*getFrom());
  return success();
}

Uses FillOp::getUses() { return {{getTo(), Access::Write}}; }

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult verifyEvent(Op op, SymbolTableCollection &tables) {
  if (failed(verifyInstruction(op, tables)))
    return failure();
  auto frame = tables.lookupNearestSymbolFrom<FrameOp>(op, op.getFrameAttr());
  if (!frame)
    return op.emitOpError() << "expected frame " << op.getFrameAttr()
                            << " in the module, got none";
  int64_t event = op.getEvent();
  if (event < 0 || event >= frame.getEvents())
    return op.emitOpError()
           << "expected an event of frame " << op.getFrameAttr() << " below "
           << frame.getEvents() << ", got " << event;
  return success();
}

Uses SignalOp::getUses() { return {}; }
Uses WaitOp::getUses() { return {}; }

LogicalResult SignalOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyEvent(*this, tables);
}

LogicalResult WaitOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyEvent(*this, tables);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The program named, which must stand before the caller's: so calls end.
template <typename Op>
static FailureOr<ProgramOp> findCallee(Op op, SymbolTableCollection &tables) {
  if (failed(verifyInstruction(op, tables)))
    return failure();
  auto callee =
      tables.lookupNearestSymbolFrom<ProgramOp>(op, op.getProgramAttr());
  Operation *caller = op->getParentOp();
  if (!callee || !callee->isBeforeInBlock(caller))
    return op.emitOpError() << "expected program " << op.getProgramAttr()
                            << " before the caller";
  return callee;
}

FlatSymbolRefAttr llmc::plan::getCallee(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    return call.getProgramAttr();
  if (auto loop = dyn_cast<LoopOp>(op))
    return loop.getProgramAttr();
  if (auto loop = dyn_cast<WhileOp>(op))
    return loop.getProgramAttr();
  return {};
}

Uses CallOp::getUses() { return {}; }

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<ProgramOp> callee = findCallee(*this, tables);
  if (failed(callee))
    return failure();
  if (static_cast<int64_t>(getArguments().size()) != callee->getParameters())
    return emitOpError() << "expected " << callee->getParameters()
                         << " arguments of " << getProgramAttr() << ", got "
                         << getArguments().size();
  return success();
}

Uses LoopOp::getUses() { return {}; }

LogicalResult LoopOp::verify() {
  if (getTrips() < 0)
    return emitOpError() << "expected trips of at least 0, got " << getTrips();
  return success();
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<ProgramOp> callee = findCallee(*this, tables);
  if (failed(callee))
    return failure();
  auto given =
      static_cast<int64_t>(getArguments() ? getArguments()->size() : 0) + 1;
  if (given < callee->getParameters())
    return emitOpError() << "expected " << callee->getParameters()
                         << " parameters of " << getProgramAttr()
                         << ", the trip first, got " << given;
  return success();
}

Uses WhileOp::getUses() { return {{getFlag(), Access::Read}}; }

LogicalResult WhileOp::verify() {
  if (getFlag().getShape().empty() && getFlag().getDtype().isInteger(1))
    return success();
  return emitOpError() << "expected a flag of one i1, got " << getFlag();
}

LogicalResult WhileOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<ProgramOp> callee = findCallee(*this, tables);
  if (failed(callee))
    return failure();
  if (callee->getParameters() != 0)
    return emitOpError() << "expected no parameters of " << getProgramAttr()
                         << ", got " << callee->getParameters();
  return success();
}

Uses IfOp::getUses() { return {{getFlag(), Access::Read}}; }

LogicalResult IfOp::verifySymbolUses(SymbolTableCollection &tables) {
  return success(succeeded(findCallee(*this, tables)));
}
