//===- ProgramOrder.cpp - A program's instructions ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %y = dist.contract %x, %w plus %a batch [] x [] contracting [1] x [0]
//   plan.library on @C #plan.contraction<[m, n, k], beta = 1>
//       operands([read <@x>, read <@w>, readwrite <@a>])
//
// Pointers of a launch: the operands in order, then the results that are not
// tied, in order; what happens to them says the kernel (`dist.kernel`).
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "ProgramOrder.h"
#include "../Frames/PlanFrames.h"
#include "CollectiveOrder.h"
#include "ProgramGraph.h"
#include "llmc/Dialect/Dist/IR/LaunchMarks.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;

namespace llmc::ordering {

namespace {

class ProgramEmitter {
public:
  ProgramEmitter(OpBuilder &builder, PlanNames &names,
                 SymbolTableCollection &tables, const ProgramRequest &request)
      : builder(builder), names(names), tables(tables), request(request) {
    func::FuncOp function = request.program.function;
    name = names.take(function.getSymName());
  }

  FailureOr<plan::ProgramOp> run();

private:
  void addBuffers();
  plan::OperandAttr operandOf(Value value);
  plan::OperandAttr operandOf(int32_t number, RankedTensorType type);
  LogicalResult emitLaunch(dist::LaunchOp launch);
  LogicalResult emitLibrary(graph::LibraryCallOpInterface call);
  LogicalResult emitCollective(dist::CollectiveInterface collective);
  LogicalResult emitMessage(const ProgramGraph::Node &node);
  LogicalResult emit(const ProgramGraph::Node &node);

  OpBuilder &builder;
  PlanNames &names;
  SymbolTableCollection &tables;
  const ProgramRequest &request;
  std::string name;
  ProgramGraph graph;
  /// Of each class.
  SmallVector<FlatSymbolRefAttr> buffers;
  int64_t numCollectives = 0;
};

} // namespace

/// The call's own buffers in a frame of their own.
void ProgramEmitter::addBuffers() {
  func::FuncOp function = request.program.function;
  FlatSymbolRefAttr frame;
  int64_t number = 0;
  for (const ProgramGraph::Class &values : graph.classes) {
    if (values.slot) {
      buffers.push_back(
          request.places.slots.find(values.slot)->second.place.getBuffer());
      continue;
    }
    if (!frame) {
      FrameShape shape;
      shape.name = name + ".tmp";
      shape.kind = plan::FrameKind::Tmp;
      if (request.isPartial)
        shape.stages = llvm::to_vector(request.program.getStages());
      frame = makeFrame(builder, names, function.getLoc(), shape);
    }
    buffers.push_back(makeBuffer(
        builder, names, function.getLoc(),
        (frame.getValue() + "." + Twine(number++)).str(), frame, values.bytes));
  }
}

/// Of a slot with a row for each trip, the row of the program's parameters: the
/// first one is the trip of the innermost loop.
plan::OperandAttr ProgramEmitter::operandOf(int32_t number,
                                            RankedTensorType type) {
  plan::OperandAttr whole = getOperand(buffers[number], type);
  MLIRContext *context = builder.getContext();
  auto row = plan::ExprAttr::getConstant(context, 0);
  int64_t stride = graph.classes[number].bytes, parameter = 0;
  for (int64_t rows : llvm::reverse(graph.classes[number].rows)) {
    auto trip = plan::ExprAttr::getParameter(context, parameter++);
    if (rows == 0)
      continue;
    row = plan::ExprAttr::getBinary(
        plan::ExprOp::Add, row,
        plan::ExprAttr::getBinary(plan::ExprOp::Mul,
                                  plan::ExprAttr::getConstant(context, stride),
                                  trip));
    stride *= rows;
  }
  if (row.isConstant())
    return whole;
  return plan::OperandAttr::get(context, whole.getBuffer(), whole.getShape(),
                                whole.getDtype(), whole.getOffset(),
                                whole.getStrides(), row);
}

plan::OperandAttr ProgramEmitter::operandOf(Value value) {
  return operandOf(graph.classOf.lookup(value),
                   cast<RankedTensorType>(value.getType()));
}

static plan::Access getAccess(dist::Access access) {
  switch (access) {
  case dist::Access::Read:
    return plan::Access::Read;
  case dist::Access::Write:
    return plan::Access::Write;
  case dist::Access::ReadWrite:
  case dist::Access::Scalar:
    break;
  }
  return plan::Access::ReadWrite;
}

/// The operands of a launch, then the results that are not tied.
static SmallVector<Value> getPointers(dist::LaunchOp launch) {
  SmallVector<Value> pointers(launch.getInputs());
  llvm::SmallDenseSet<int64_t> tied;
  for (auto [result, operand] : launch.getTiedPairs())
    tied.insert(result);
  for (OpResult result : launch.getResults())
    if (!tied.contains(result.getResultNumber()))
      pointers.push_back(result);
  return pointers;
}

LogicalResult ProgramEmitter::emitLaunch(dist::LaunchOp launch) {
  auto module = launch->getParentOfType<ModuleOp>();
  auto kernel = dyn_cast_or_null<dist::KernelOp>(
      tables.lookupSymbolIn(module, launch.getKernel()));
  if (!kernel)
    return launch.emitOpError()
           << "expected a kernel, got " << launch.getKernel();
  SmallVector<Value> pointers = getPointers(launch);
  if (kernel.getArguments().size() != pointers.size())
    return launch.emitOpError()
           << "expected " << kernel.getArguments().size()
           << " operands and untied results, got " << pointers.size();
  SmallVector<Attribute> uses, scalars;
  for (auto [value, argument] :
       llvm::zip(pointers, kernel.getArgumentRange())) {
    dist::CoordinateOp scalar = getScalar(value);
    if (argument.isScalar() != bool(scalar))
      return launch.emitOpError()
             << "expected coordinates exactly where the kernel takes a scalar";
    if (scalar)
      scalars.push_back(
          getCoordinates(scalar.getAxes(), request.streams.getMesh()));
    else
      uses.push_back(plan::UseAttr::get(builder.getContext(),
                                        getAccess(argument.getAccess()),
                                        operandOf(value)));
  }
  plan::OperandAttr scratch;
  if (launch.getScratch() > 0) {
    scratch = request.places.scratch;
    if (!scratch)
      return launch.emitOpError() << "expected a plan.slot for scratch of "
                                  << launch.getScratch() << " bytes, got none";
  }
  auto kernelOp = plan::KernelOp::create(
      builder, launch.getLoc(), request.streams.getCompute(),
      launch.getKernel(), builder.getArrayAttr(uses),
      builder.getArrayAttr(scalars), scratch);
  if (Attribute operations = launch->getAttr(dist::kOperations))
    kernelOp->setAttr(dist::kOperations, operations);
  return success();
}

LogicalResult
ProgramEmitter::emitCollective(dist::CollectiveInterface collective) {
  Operation *op = collective;
  SmallVector<Attribute> inputs, outputs;
  for (Value input : collective.getInputs())
    inputs.push_back(operandOf(input));
  for (Value output : op->getResults())
    outputs.push_back(operandOf(output));
  Value counts = collective.getExchange().counts;
  CollectiveRequest wanted{collective,
                           builder.getArrayAttr(inputs),
                           builder.getArrayAttr(outputs),
                           counts ? operandOf(counts) : plan::OperandAttr(),
                           request.streams,
                           request.meetings.members,
                           name + ".x" + std::to_string(numCollectives++)};
  return ordering::emitCollective(builder, wanted);
}

/// One end of a transfer.
LogicalResult ProgramEmitter::emitMessage(const ProgramGraph::Node &node) {
  bool sends = node.from >= 0;
  auto found = request.meetings.transfers.find(node.transfer.getValue());
  if (found == request.meetings.transfers.end())
    return request.program.function->emitOpError()
           << "expected a route of transfer " << node.transfer << ", got none";
  const TransferEnds &ends = found->second;
  MLIRContext *context = builder.getContext();
  auto message = plan::MessageAttr::get(
      context, node.transfer,
      plan::ExprAttr::getConstant(
          context,
          sends != isSeeded(Fault::sendNamesItsOwnStage) ? ends.to : ends.from),
      {operandOf(sends ? node.from : node.to, node.type)});
  if (sends)
    plan::SendOp::create(builder, node.loc, ends.sends, message);
  else
    plan::ReceiveOp::create(builder, node.loc, ends.receives, message);
  return success();
}

static plan::Access getAccess(const rt::LibraryOperand &operand) {
  if (!operand.isWritten)
    return plan::Access::Read;
  return operand.isRead ? plan::Access::ReadWrite : plan::Access::Write;
}

LogicalResult ProgramEmitter::emitLibrary(graph::LibraryCallOpInterface call) {
  FailureOr<rt::LibraryDescriptor> descriptor = call.getDescriptor();
  if (failed(descriptor))
    return failure();
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> uses;
  for (auto [value, operand] :
       llvm::zip(call.getBuffers(), rt::operandsOf(*descriptor)))
    uses.push_back(
        plan::UseAttr::get(context, getAccess(operand), operandOf(value)));
  plan::LibraryOp::create(builder, call.getLoc(), request.streams.getCompute(),
                          plan::getDescriptorAttr(context, *descriptor),
                          builder.getArrayAttr(uses),
                          builder.getI64IntegerAttr(0), plan::OperandAttr());
  return success();
}

LogicalResult ProgramEmitter::emit(const ProgramGraph::Node &node) {
  if (auto launch = dyn_cast_or_null<dist::LaunchOp>(node.op))
    return emitLaunch(launch);
  if (auto call = dyn_cast_or_null<graph::LibraryCallOpInterface>(node.op))
    return emitLibrary(call);
  if (auto collective = dyn_cast_or_null<dist::CollectiveInterface>(node.op))
    return emitCollective(collective);
  if (node.transfer)
    return emitMessage(node);
  plan::CopyOp::create(
      builder, node.loc, request.streams.getCompute(),
      operandOf(node.to, node.type), operandOf(node.from, node.type),
      plan::HostEndAttr::get(builder.getContext(), plan::HostEnd::None),
      StringAttr());
  return success();
}

plan::Phase getPlanPhase(dist::Phase phase) {
  switch (phase) {
  case dist::Phase::Forward:
    return plan::Phase::Forward;
  case dist::Phase::Backward:
    return plan::Phase::Backward;
  case dist::Phase::BackwardInput:
    return plan::Phase::BackwardInput;
  case dist::Phase::BackwardWeight:
    return plan::Phase::BackwardWeight;
  case dist::Phase::Update:
    return plan::Phase::Update;
  case dist::Phase::Prepare:
    break;
  }
  return plan::Phase::Other;
}

FailureOr<plan::ProgramOp> ProgramEmitter::run() {
  // 1 read the function
  func::FuncOp function = request.program.function;
  FailureOr<ProgramGraph> built = buildProgramGraph(function);
  if (failed(built))
    return failure();
  graph = std::move(*built);
  // 2 solve
  FailureOr<std::vector<int32_t>> order = orderNodes(graph, function);
  if (failed(order))
    return failure();
  // 3 write
  addBuffers();
  dist::ProgramAttr attr = request.program.attr;
  IntegerAttr chunk;
  plan::Phase phase =
      request.isPart ? plan::Phase::Other : getPlanPhase(attr.getPhase());
  if (attr.getPhase() != dist::Phase::Update && !request.isPart)
    chunk = builder.getI64IntegerAttr(attr.getChunk());
  auto program = plan::ProgramOp::create(
      builder, function.getLoc(), builder.getStringAttr(name),
      plan::PhaseAttr::get(builder.getContext(), phase), chunk,
      builder.getI64IntegerAttr(attr.getLoop() &&
                                        !attr.getLoop().getConditional()
                                    ? attr.getLoop().getDepth()
                                    : 0));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&program.getBody());
  for (const HostCopy &copy : request.copies.before)
    emitHostCopy(builder, function.getLoc(), request.streams, copy);
  for (int32_t node : *order)
    if (failed(emit(graph.nodes[node])))
      return failure();
  for (const HostCopy &copy : request.copies.after)
    emitHostCopy(builder, function.getLoc(), request.streams, copy);
  return program;
}

FailureOr<plan::ProgramOp> emitProgram(OpBuilder &builder, PlanNames &names,
                                       SymbolTableCollection &tables,
                                       const ProgramRequest &request) {
  return ProgramEmitter(builder, names, tables, request).run();
}

} // namespace llmc::ordering
