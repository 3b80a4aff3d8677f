//===- LoopEmission.cpp - What kernels of all forms are built from --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopEmission.h.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "LoopEmission.h"
#include "llmc/Solvers/Reduction/ReductionCut.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace llmc::kernels {

KernelBody::KernelBody(OpBuilder &builder, const KernelTarget &target,
                       SymbolTable &symbols, const KernelStage &stage,
                       StringRef name)
    : builder(builder), target(target), symbols(symbols),
      loc(stage.spec.ops.back()->getLoc()), stage(stage), spec(stage.spec),
      elements(builder, symbols, loc), opSet(spec.ops.begin(), spec.ops.end()) {
  SmallVector<Type> types;
  for (Value value : spec.inputs)
    types.push_back(
        getScalarInput(value)
            ? Type(builder.getIndexType())
            : getFlatMemRef(cast<RankedTensorType>(value.getType())));
  for (RankedTensorType type : stage.taken)
    types.push_back(getFlatMemRef(type));
  for (Value value : spec.outputs)
    types.push_back(getFlatMemRef(cast<RankedTensorType>(value.getType())));
  for (RankedTensorType type : stage.made)
    types.push_back(getFlatMemRef(type));
  types.append(2, builder.getIndexType());
  types.push_back(MemRefType::get({0}, builder.getI8Type()));
  function = func::FuncOp::create(builder, loc, name,
                                  builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  unsigned next = 0;
  for (Value value : spec.inputs) {
    bool isChanged = spec.changed == next;
    Value argument = entry->getArgument(next++);
    if (isChanged)
      continue;
    if (getScalarInput(value))
      elements.addScalar(
          value, arith::IndexCastOp::create(
                     builder, loc, getScalarType(value.getType()), argument));
    else
      elements.addBuffer(value, argument);
  }
  for (size_t i = 0; i < stage.taken.size(); ++i)
    taken.push_back(entry->getArgument(next++));
  for (Value value : spec.outputs)
    outputs[value] = entry->getArgument(next++);
  for (size_t i = 0; i < stage.made.size(); ++i)
    made.push_back(entry->getArgument(next++));
  begin = entry->getArgument(next++);
  end = entry->getArgument(next++);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(entry->getTerminator());
  writer = target.makeWriter(builder, function);
}

void KernelBody::storeOutput(Value output, Value scalar, ValueRange indices) {
  bool inPlace = false;
  auto type = cast<RankedTensorType>(output.getType());
  Value position = elements.linearize(type.getShape(), indices, inPlace);
  elements.store(outputs.lookup(output), type, scalar, position);
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
// Accumulators
//===----------------------------------------------------------------------===//

int64_t getNumAccumulators(Operation *reduction, int64_t length) {
  graph::ReductionShape shape =
      cast<graph::KernelOpInterface>(reduction).getReduction();
  if (shape.isOrdered)
    return 1;
  int64_t bytes = 1;
  for (Value input : reduction->getOperands().take_front(shape.numInputs))
    bytes = std::max<int64_t>(
        bytes, getMemoryType(input.getType()).getIntOrFloatBitWidth() / 8);
  return getRowAccumulators(length, bytes);
}

/// The type of accumulators in memory. bf16 lies there as bits: LLVM would pass
/// vectors of it on, and ask for functions of bf16 that no library has.
static Type getAccumulatorType(Type type) {
  Type memory = getMemoryType(type);
  return memory.isBF16() ? IntegerType::get(type.getContext(), 16) : memory;
}

Accumulators::Accumulators(KernelBody &kernel, Operation *op, int64_t size)
    : kernel(kernel), op(cast<graph::KernelOpInterface>(op)), size(size) {
  inputs = this->op.getReduction().numInputs;
  for (unsigned i = 0; i < inputs; ++i)
    buffers.push_back(kernel.writer->makeLocal(
        getAccumulatorType(op->getOperand(i).getType()), size));
}

LogicalResult Accumulators::emitInit() {
  for (unsigned i = 0; i < inputs; ++i) {
    Value initial = kernel.elements.getOperand(op, inputs + i, {});
    if (!initial)
      return failure();
    kernel.writer->fill(buffers[i], size, [&](Value at) {
      kernel.elements.store(buffers[i], op->getOperand(i).getType(), initial,
                            at);
    });
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
    kernel.elements.store(buffers[i], op->getOperand(i).getType(), combined[i],
                          at);
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

LogicalResult Accumulators::emitMerge(Value at, ArrayRef<Value> memory,
                                      Value from) {
  SmallVector<Value> elements;
  for (unsigned i = 0; i < inputs; ++i)
    elements.push_back(
        kernel.elements.load(memory[i], op->getOperand(i).getType(), from));
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
  FailureOr<SmallVector<Value>> result =
      kernel.writer->emitTree(loc, buffers, size, step, combined);
  if (failed(result))
    return op.emitError("expected a combining step of element-wise ops");
  return result;
}

} // namespace llmc::kernels
