//===- LoopEmission.cpp - Loops and lanes of a kernel ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop is written once, as scalar code; its vector form is made from that
// (LoopWidening.h) and runs first, the scalar loop does what is left over.
// Both forms of a reduction use the same lanes, so where the one ends and the
// other begins does not show in the bits.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "LoopEmission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace llmc::kernels {

KernelBody::KernelBody(OpBuilder &builder, const KernelSpec &spec,
                       StringRef name)
    : builder(builder), loc(spec.ops.back()->getLoc()), spec(spec),
      elements(builder, loc), opSet(spec.ops.begin(), spec.ops.end()) {
  SmallVector<Type> types;
  for (Value value : spec.inputs)
    types.push_back(
        getScalarInput(value)
            ? Type(builder.getIndexType())
            : getFlatMemRef(cast<RankedTensorType>(value.getType())));
  for (Value value : spec.outputs)
    types.push_back(getFlatMemRef(cast<RankedTensorType>(value.getType())));
  types.append(2, builder.getIndexType());
  types.push_back(MemRefType::get({0}, builder.getI8Type()));
  function = func::FuncOp::create(builder, loc, name,
                                  builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  unsigned next = 0;
  for (Value value : spec.inputs) {
    Value argument = entry->getArgument(next++);
    if (getScalarInput(value))
      elements.addScalar(
          value, arith::IndexCastOp::create(
                     builder, loc, getScalarType(value.getType()), argument));
    else
      elements.addBuffer(value, argument);
  }
  for (Value value : spec.outputs)
    outputs[value] = entry->getArgument(next++);
  begin = entry->getArgument(next++);
  end = entry->getArgument(next++);
  scratch = entry->getArgument(next++);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(entry->getTerminator());
}

Value KernelBody::makeLocal(Type elementType, int64_t size) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  return memref::AllocaOp::create(builder, loc,
                                  MemRefType::get({size}, elementType),
                                  builder.getI64IntegerAttr(64));
}

Value KernelBody::makeScratch(Type elementType, int64_t size) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  Value shift = math().constant(scratchBytes);
  int64_t bytes =
      size * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  scratchBytes += llvm::alignTo(bytes, 64);
  return memref::ViewOp::create(builder, loc,
                                MemRefType::get({size}, elementType), scratch,
                                shift, ValueRange{});
}

Value KernelBody::openRowLoop() {
  Value one = math().constant(1);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

void KernelBody::storeOutput(Value output, Value scalar, ValueRange indices) {
  bool inPlace = false;
  auto type = cast<RankedTensorType>(output.getType());
  Value position = elements.linearize(type.getShape(), indices, inPlace);
  elements.store(outputs.lookup(output), scalar, position);
  stores[output] = {elements.getLoopNumber(), elements.getNumReads()};
}

/// Whether the last read stands in front of the store. Both are at one place of
/// the same loop, or the read's loop is an earlier one.
static bool isOverAt(const BufferUse &use, std::pair<int, int> store) {
  return use.lastLoop < store.first ||
         (use.lastLoop == store.first && use.lastRead < store.second);
}

SmallVector<std::pair<unsigned, unsigned>> KernelBody::findTieable() const {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (auto [number, output] : llvm::enumerate(spec.outputs)) {
    for (auto [index, input] : llvm::enumerate(spec.inputs)) {
      auto use = elements.getUses().find(input);
      if (use == elements.getUses().end() || !use->second.onlyInPlace ||
          !isOverAt(use->second, stores.lookup(output)) ||
          getFlatMemRef(cast<RankedTensorType>(input.getType())) !=
              getFlatMemRef(cast<RankedTensorType>(output.getType())))
        continue;
      pairs.push_back({number, index});
    }
  }
  return pairs;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A loop that reduces takes as many iterations at a time as there are lanes.
static int64_t getWidth(ArrayRef<Value> laneBuffers) {
  return laneBuffers.empty() ? vectorWidth : laneCount;
}

/// The vector form of `scalar`'s body, in front of it, for [low, middle).
static LogicalResult emitWideLoop(KernelBody &kernel, scf::ForOp scalar,
                                  Value low, Value middle,
                                  ArrayRef<Value> laneBuffers) {
  OpBuilder &builder = kernel.builder;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(scalar);
  int64_t width = getWidth(laneBuffers);
  Value step = kernel.math().constant(width);
  SmallVector<Value> initial;
  SmallVector<Operation *> loads;
  Value zero = kernel.math().constant(0);
  for (Value buffer : laneBuffers) {
    auto type = VectorType::get(
        {width}, cast<MemRefType>(buffer.getType()).getElementType());
    auto load = vector::LoadOp::create(builder, kernel.loc, type, buffer,
                                       ValueRange{zero});
    initial.push_back(load);
    loads.push_back(load);
  }
  auto wide =
      scf::ForOp::create(builder, kernel.loc, low, middle, step, initial);
  if (initial.empty())
    wide.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(wide.getBody());
  LoopWidening widening(builder, width);
  widening.mapLinear(scalar.getInductionVar(), wide.getInductionVar());
  for (auto [buffer, lanes] : llvm::zip(laneBuffers, wide.getRegionIterArgs()))
    widening.mapLaneBuffer(buffer, lanes);
  LogicalResult result = widening.widen(*scalar.getBody());
  SmallVector<Value> yields;
  for (Value buffer : laneBuffers)
    yields.push_back(widening.getLaneBuffer(buffer));
  scf::YieldOp::create(builder, kernel.loc, yields);
  if (failed(result)) {
    wide.erase();
    for (Operation *load : loads)
      load->erase();
    return failure();
  }
  builder.setInsertionPointAfter(wide);
  for (auto [buffer, lanes] : llvm::zip(laneBuffers, wide.getResults()))
    vector::StoreOp::create(builder, kernel.loc, lanes, buffer,
                            ValueRange{zero});
  return success();
}

LogicalResult emitLoop(KernelBody &kernel, Value low, Value high,
                       std::optional<int64_t> count,
                       ArrayRef<Value> laneBuffers,
                       function_ref<LogicalResult(Value)> body) {
  OpBuilder &builder = kernel.builder;
  IndexMath math = kernel.math();
  int64_t width = getWidth(laneBuffers);
  bool wide = !count || *count >= width;
  Value middle = low;
  if (wide) {
    Value extent =
        count ? math.constant(*count)
              : builder.createOrFold<arith::SubIOp>(kernel.loc, high, low);
    middle = math.add(low, math.mul(math.div(extent, width), width));
  }
  Value one = math.constant(1);
  auto scalar = scf::ForOp::create(builder, kernel.loc, middle, high, one);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(scalar.getBody());
    if (failed(body(scalar.getInductionVar())))
      return failure();
  }
  if (!wide)
    return success();
  if (failed(emitWideLoop(kernel, scalar, low, middle, laneBuffers)))
    scalar.setLowerBound(low);
  else if (count && *count % width == 0)
    scalar.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

int64_t getNumLanes(Operation *reduction) {
  auto kernel = cast<graph::KernelOpInterface>(reduction);
  return kernel.getReduction().isOrdered ? 1 : laneCount;
}

Accumulators::Accumulators(KernelBody &kernel, Operation *op, int64_t size)
    : kernel(kernel), op(cast<graph::KernelOpInterface>(op)), size(size) {
  inputs = this->op.getReduction().numInputs;
  for (unsigned i = 0; i < inputs; ++i)
    buffers.push_back(
        kernel.makeLocal(getMemoryType(op->getOperand(i).getType()), size));
}

LogicalResult Accumulators::emitInit() {
  for (unsigned i = 0; i < inputs; ++i) {
    Value initial = kernel.elements.getOperand(op, inputs + i, {});
    if (!initial)
      return failure();
    LogicalResult stored =
        emitLoop(kernel, kernel.math().constant(0),
                 kernel.math().constant(size), size, {}, [&](Value at) {
                   kernel.elements.store(buffers[i], initial, at);
                   return success();
                 });
    if (failed(stored))
      return failure();
  }
  return success();
}

Value Accumulators::emitLoad(unsigned number, Value at) const {
  return kernel.elements.load(buffers[number], op->getOperand(number).getType(),
                              at);
}

LogicalResult Accumulators::combineInto(Value at, ValueRange elements) {
  SmallVector<Value> accumulators;
  for (unsigned i = 0; i < inputs; ++i)
    accumulators.push_back(emitLoad(i, at));
  SmallVector<Value> combined =
      op.emitCombine(kernel.builder, op.getLoc(), accumulators, elements);
  if (combined.size() != inputs)
    return op.emitError("expected the combining step of '")
           << op->getName() << "', got none";
  for (unsigned i = 0; i < inputs; ++i)
    kernel.elements.store(buffers[i], combined[i], at);
  return success();
}

LogicalResult Accumulators::emitStep(Value at, ValueRange indices) {
  SmallVector<Value> elements;
  for (unsigned i = 0; i < inputs; ++i) {
    elements.push_back(kernel.elements.getOperand(op, i, indices));
    if (!elements.back())
      return failure();
  }
  return combineInto(at, elements);
}

LogicalResult Accumulators::emitMerge(Value at, const Accumulators &others) {
  SmallVector<Value> elements;
  for (unsigned i = 0; i < inputs; ++i)
    elements.push_back(others.emitLoad(i, at));
  return combineInto(at, elements);
}

FailureOr<SmallVector<Value>> Accumulators::emitTree() {
  OpBuilder &builder = kernel.builder;
  Location loc = kernel.loc;
  if (size == 1)
    return llvm::map_to_vector(llvm::seq(inputs), [&](unsigned i) {
      return emitLoad(i, kernel.math().constant(0));
    });
  // The combining step as scalar code of its own, to be widened.
  Block step;
  SmallVector<Type> types;
  for (unsigned i = 0; i < inputs; ++i)
    types.push_back(getScalarType(op->getOperand(i).getType()));
  SmallVector<Location> locs(2 * inputs, loc);
  types.append(types.begin(), types.begin() + inputs);
  step.addArguments(types, locs);
  SmallVector<Value> combined;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&step);
    combined =
        op.emitCombine(builder, loc, step.getArguments().take_front(inputs),
                       step.getArguments().drop_front(inputs));
  }
  SmallVector<Value> lanes;
  Value zero = kernel.math().constant(0);
  for (unsigned i = 0; i < inputs; ++i) {
    auto memory = cast<MemRefType>(buffers[i].getType()).getElementType();
    Value loaded = vector::LoadOp::create(builder, loc,
                                          VectorType::get({laneCount}, memory),
                                          buffers[i], ValueRange{zero});
    if (memory != types[i])
      loaded = arith::TruncIOp::create(
          builder, loc, VectorType::get({laneCount}, types[i]), loaded);
    lanes.push_back(loaded);
  }
  for (int64_t width = laneCount / 2; width >= 1; width /= 2) {
    LoopWidening widening(builder, width);
    for (unsigned i = 0; i < inputs; ++i) {
      for (unsigned half : {0, 1})
        widening.mapVector(step.getArgument(half * inputs + i),
                           vector::ExtractStridedSliceOp::create(
                               builder, loc, lanes[i],
                               ArrayRef<int64_t>{half * width},
                               ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1}));
    }
    if (failed(widening.widen(step)))
      return op.emitError("expected a combining step of element-wise ops");
    for (unsigned i = 0; i < inputs; ++i)
      lanes[i] = widening.getVector(combined[i]);
  }
  for (Value &lane : lanes)
    lane = vector::ExtractOp::create(builder, loc, lane, ArrayRef<int64_t>{0});
  return lanes;
}

} // namespace llmc::kernels
