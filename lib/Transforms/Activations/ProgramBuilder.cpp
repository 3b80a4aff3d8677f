//===- ProgramBuilder.cpp - One program of a timeline ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using dist::PortAttr;
using dist::PortKind;

ProgramBuilder::ProgramBuilder(TimelineContext &context, func::FuncOp source,
                               Location loc, StringRef name)
    : context(context), source(source), builder(context.module.getContext()) {
  builder.setInsertionPointToEnd(context.module.getBody());
  program =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  program.setPrivate();
  builder.setInsertionPointToStart(program.addEntryBlock());
}

/// The type in which sums over microbatches are kept: f32 at least.
static RankedTensorType getSumType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto element = dyn_cast<FloatType>(tensor.getElementType());
  if (!element || element.getWidth() >= 32)
    return tensor;
  return RankedTensorType::get(tensor.getShape(),
                               Float32Type::get(type.getContext()));
}

Value ProgramBuilder::addArgument(Type type, PortAttr port, Location loc) {
  signature.arguments.push_back(port);
  return program.getBody().front().addArgument(type, loc);
}

/// A state is its buffer from here on.
FailureOr<PortAttr> ProgramBuilder::portOfState(PortAttr port) {
  dist::BufferOp buffer = context.buffers.lookup(port.getSymbol().getAttr());
  if (!buffer)
    return source.emitOpError()
           << "expected a buffer of state " << port.getSymbol() << ", got none";
  return PortAttr::get(builder.getContext(), PortKind::Buffer,
                       FlatSymbolRefAttr::get(buffer.getSymNameAttr()));
}

FailureOr<PortAttr> ProgramBuilder::portOfArgument(unsigned i) {
  PortAttr port = dist::getArgumentPort(source, i);
  if (port.isState())
    return portOfState(port);
  if (port.isSum() || dist::isAnyPort(port, {PortKind::Hyper, PortKind::Input}))
    return port;
  return emitRefusal(source, rt::ErrorKind::unsupported)
         << "expected argument " << i
         << " to be an input, a state, a hyper value or a sum, got '"
         << dist::stringifyPortKind(port.getKind())
         << "', which is not supported yet";
}

FailureOr<Value> ProgramBuilder::addSlotOf(BlockArgument argument) {
  FailureOr<PortAttr> port = portOfArgument(argument.getArgNumber());
  if (failed(port))
    return failure();
  bool isSum = port->isSum() && context.microbatches > 1;
  Type type = isSum ? getSumType(argument.getType()) : argument.getType();
  Value value = addArgument(type, *port, argument.getLoc());
  if (type == argument.getType())
    return value;
  return stablehlo::convertTo(
      builder, argument.getLoc(), value,
      cast<RankedTensorType>(argument.getType()).getElementType());
}

FailureOr<Value> ProgramBuilder::addRowOf(BlockArgument argument,
                                          ArrayRef<int64_t> rows) {
  FailureOr<PortAttr> port = portOfArgument(argument.getArgNumber());
  if (failed(port))
    return failure();
  auto type = cast<RankedTensorType>(argument.getType());
  auto dims = llvm::count_if(rows, [](int64_t count) { return count != 0; });
  return addArgument(RankedTensorType::get(type.getShape().drop_front(dims),
                                           type.getElementType()),
                     port->withTrips(rows), argument.getLoc());
}

/// What the verifiers of steps and entries let through: an output is one also
/// where training makes a metric of it, and so is the loss.
FailureOr<PortAttr> ProgramBuilder::portOfReturn(unsigned i) {
  PortAttr port = dist::getResultPort(source, i);
  if (port.isState())
    return portOfState(port);
  if (port.getKind() != PortKind::Loss)
    return port.withMetric({});
  return PortAttr::get(builder.getContext(), PortKind::Output,
                       dist::stringifyPortKind(port.getKind()))
      .withLayout(port.getLayout())
      .withShape(port.getShape());
}

/// The sum of `value` and what earlier microbatches left in `slot`.
Value ProgramBuilder::accumulate(Value value, PortAttr slot) {
  RankedTensorType type = getSumType(value.getType());
  Location loc = value.getLoc();
  Value sum = addArgument(type, slot, loc);
  if (type != value.getType())
    value = stablehlo::convertTo(builder, loc, value, type.getElementType());
  return isSeeded(Fault::microbatchSumKeepsTheLast)
             ? value
             : stablehlo::add(builder, loc, sum, value);
}

void ProgramBuilder::addResult(Value value, PortAttr port) {
  results.push_back(value);
  signature.results.push_back(port);
}

LogicalResult ProgramBuilder::addReturn(Value value, unsigned index,
                                        ArrayRef<int64_t> rows) {
  FailureOr<PortAttr> port = portOfReturn(index);
  if (failed(port))
    return failure();
  if (port->isSum() && context.microbatches > 1)
    value = accumulate(value, port->getSlot().withTrips(rows));
  addResult(value, port->withTrips(rows));
  return success();
}

dist::ProgramAttr ProgramBuilder::finish(int64_t chunk, dist::Phase phase,
                                         ArrayRef<int64_t> at,
                                         dist::LoopAttr loop) {
  func::ReturnOp::create(builder, program.getLoc(), results);
  program.setType(
      builder.getFunctionType(program.getBody().front().getArgumentTypes(),
                              ValueRange(results).getTypes()));
  signature.write(program);
  return dist::ProgramAttr::get(
      builder.getContext(), FlatSymbolRefAttr::get(program.getNameAttr()),
      chunk, phase, builder.getDenseI64ArrayAttr(at), loop);
}

bool llmc::isPassedThrough(func::FuncOp source, OpOperand &returned) {
  auto argument = dyn_cast<BlockArgument>(returned.get());
  if (!argument)
    return false;
  FlatSymbolRefAttr held =
      dist::getState(dist::getArgumentPort(source, argument.getArgNumber()));
  FlatSymbolRefAttr replaced =
      dist::getState(dist::getResultPort(source, returned.getOperandNumber()));
  return !held || held != replaced;
}
