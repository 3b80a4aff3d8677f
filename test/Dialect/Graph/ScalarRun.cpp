//===- ScalarRun.cpp - Runs an op by its scalar code ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ScalarRun.h.
//
//===----------------------------------------------------------------------===//

#include "ScalarRun.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::test;

ScalarRun::ScalarRun(Operation *op, ArrayRef<HostTensor> operands)
    : op(op), kernel(dyn_cast<KernelOpInterface>(op)), operands(operands),
      builder(op->getContext()), loc(op->getLoc()) {
  builder.setInsertionPointToEnd(&block);
}

bool ScalarRun::isPossible() const {
  if (!kernel)
    return false;
  KernelForm form = const_cast<KernelOpInterface &>(kernel).getKernelForm();
  return form == KernelForm::Element || form == KernelForm::Reduction ||
         form == KernelForm::Update;
}

std::string ScalarRun::compute(SmallVectorImpl<HostTensor> &results) {
  switch (kernel.getKernelForm()) {
  case KernelForm::Reduction:
    computeReduction(results);
    break;
  case KernelForm::Update:
    computeUpdate(results);
    break;
  default:
    computeElements(results);
  }
  return error;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Attribute ScalarRun::fold(Value value) {
  if (Attribute known = folded.lookup(value))
    return known;
  Attribute constant;
  if (!value || !value.getDefiningOp()) {
    error = "no scalar code";
    return {};
  }
  if (!matchPattern(value, m_Constant(&constant)))
    constant = foldOp(value);
  return folded[value] = constant;
}

Attribute ScalarRun::foldOp(Value value) {
  Operation *definition = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(definition)) {
    foldLoop(loop);
    return folded.lookup(value);
  }
  if (const HostTensor *tensor = reads.lookup(value)) {
    int64_t place = locate(*tensor, definition->getOperands());
    if (place < 0 && error.empty())
      error = "read out of bounds";
    return place < 0 ? Attribute() : fold(readAt(*tensor, place));
  }
  SmallVector<Attribute> inputs;
  for (Value operand : definition->getOperands())
    inputs.push_back(fold(operand));
  SmallVector<OpFoldResult> outputs;
  if (!error.empty())
    return {};
  if (failed(definition->fold(inputs, outputs)) || outputs.empty()) {
    error = "cannot fold " + definition->getName().getStringRef().str();
    return {};
  }
  OpFoldResult output = outputs[cast<OpResult>(value).getResultNumber()];
  return isa<Attribute>(output) ? cast<Attribute>(output)
                                : fold(cast<Value>(output));
}

int64_t ScalarRun::foldInt(Value value) {
  auto number = dyn_cast_or_null<IntegerAttr>(fold(value));
  return number ? number.getInt() : 0;
}

void ScalarRun::foldLoop(scf::ForOp loop) {
  int64_t low = foldInt(loop.getLowerBound()),
          high = foldInt(loop.getUpperBound()), step = foldInt(loop.getStep());
  SmallVector<Attribute> carried;
  for (Value start : loop.getInitArgs())
    carried.push_back(fold(start));
  for (int64_t i = low; i < high && error.empty(); i += step) {
    loop.getBody()->walk([&](Operation *op) {
      for (Value result : op->getResults())
        folded.erase(result);
    });
    folded[loop.getInductionVar()] = builder.getIndexAttr(i);
    for (auto [argument, known] : llvm::zip(loop.getRegionIterArgs(), carried))
      folded[argument] = known;
    for (auto [known, next] : llvm::zip(carried, loop.getYieldedValues()))
      known = fold(next);
  }
  for (auto [result, known] : llvm::zip(loop.getResults(), carried))
    folded[result] = known;
}

Value ScalarRun::readAt(const HostTensor &tensor, int64_t i) {
  Type type = tensor.getElementType();
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(type, tensor.getFloat(i)));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value(width, static_cast<uint64_t>(tensor.getInt(i)),
              /*isSigned=*/false, /*implicitTrunc=*/true);
  return arith::ConstantOp::create(
      builder, loc,
      builder.getIntegerAttr(builder.getIntegerType(width), value));
}

int64_t ScalarRun::locate(const HostTensor &tensor, ValueRange indices) {
  if (static_cast<int64_t>(indices.size()) != tensor.getRank()) {
    error = "wrong number of indices";
    return -1;
  }
  int64_t place = 0;
  for (auto [index, size, stride] :
       llvm::zip(indices, tensor.getShape(), tensor.getStrides())) {
    auto number = dyn_cast_or_null<IntegerAttr>(fold(index));
    if (!number || number.getInt() < 0 || number.getInt() >= size)
      return -1;
    place += number.getInt() * stride;
  }
  return place;
}

Value ScalarRun::read(const HostTensor &tensor, ValueRange indices) {
  if (builder.getInsertionBlock() != &block) {
    Type type = tensor.getElementType();
    if (!isa<FloatType>(type))
      type = builder.getIntegerType(type.getIntOrFloatBitWidth());
    Value later =
        UnrealizedConversionCastOp::create(builder, loc, type, indices)
            .getResult(0);
    reads[later] = &tensor;
    return later;
  }
  int64_t place = locate(tensor, indices);
  if (place < 0 && error.empty())
    error = "read out of bounds";
  if (place < 0)
    return readAt(HostTensor(tensor.getElementType(), {}), 0);
  return readAt(tensor, place);
}

void ScalarRun::write(HostTensor &tensor, int64_t i, Value value) {
  Attribute element = fold(value);
  if (!element)
    return;
  if (auto real = dyn_cast<FloatAttr>(element))
    tensor.setFloat(i, real.getValueAsDouble());
  else
    tensor.setInt(i, cast<IntegerAttr>(element).getValue().getZExtValue());
}

SmallVector<Value> ScalarRun::makeIndices(ArrayRef<int64_t> index) {
  return llvm::map_to_vector(index, [&](int64_t i) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, i);
  });
}

//===----------------------------------------------------------------------===//
// The forms
//===----------------------------------------------------------------------===//

void ScalarRun::computeElements(SmallVectorImpl<HostTensor> &results) {
  auto source = [&](unsigned operand, ValueRange indices) {
    return read(operands[operand], indices);
  };
  for (OpResult value : op->getResults()) {
    HostTensor result(cast<RankedTensorType>(value.getType()));
    SmallVector<int64_t> index(result.getRank(), 0);
    for (int64_t i = 0; i < result.getNumElements() && error.empty(); ++i) {
      write(result, i,
            kernel.emitElement(builder, loc, value.getResultNumber(),
                               makeIndices(index), source));
      nextIndex(index, result.getShape());
    }
    results.push_back(std::move(result));
  }
}

void ScalarRun::computeReduction(SmallVectorImpl<HostTensor> &results) {
  ReductionShape shape = kernel.getReduction();
  unsigned n = shape.numInputs;
  for (OpResult value : op->getResults()) {
    results.emplace_back(cast<RankedTensorType>(value.getType()));
    HostTensor &result = results.back();
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      write(result, i, readAt(operands[n + value.getResultNumber()], 0));
  }
  const HostTensor &input = operands[0];
  SmallVector<int64_t> index(input.getRank(), 0);
  for (int64_t i = 0; i < input.getNumElements() && error.empty(); ++i) {
    SmallVector<int64_t> kept;
    for (auto [d, at] : llvm::enumerate(index))
      if (!llvm::is_contained(shape.dims, static_cast<int64_t>(d)))
        kept.push_back(at);
    int64_t place = locate(results[0], makeIndices(kept));
    SmallVector<Value> accumulators, elements;
    for (unsigned k = 0; k < n; ++k) {
      accumulators.push_back(readAt(results[k], place));
      elements.push_back(readAt(operands[k], i));
    }
    SmallVector<Value> combined =
        kernel.emitCombine(builder, loc, accumulators, elements);
    if (combined.size() != n) {
      error = "wrong number of combined values";
      return;
    }
    for (unsigned k = 0; k < n; ++k)
      write(results[k], place, combined[k]);
    nextIndex(index, input.getShape());
  }
}

void ScalarRun::computeUpdate(SmallVectorImpl<HostTensor> &results) {
  unsigned changed = kernel.getChangedOperand();
  HostTensor result = operands[changed];
  bool isOrdered = kernel.getUpdateOrder().has_value();
  auto source = [&](unsigned operand, ValueRange indices) {
    return read(isOrdered && operand == changed ? result : operands[operand],
                indices);
  };
  SmallVector<int64_t> shape = kernel.getUpdateShape();
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count && error.empty(); ++i) {
    SmallVector<Value> indices = makeIndices(index);
    nextIndex(index, shape);
    UpdateTarget target =
        kernel.emitUpdateTarget(builder, loc, indices, source);
    auto isInside = dyn_cast_or_null<IntegerAttr>(
        target.inBounds ? fold(target.inBounds) : Attribute());
    if (isInside && isInside.getValue().isZero())
      continue;
    int64_t place = locate(result, target.indices);
    if (place < 0) {
      error = "write out of bounds";
      return;
    }
    write(result, place,
          kernel.emitUpdateElement(builder, loc, readAt(result, place), indices,
                                   source));
  }
  results.push_back(std::move(result));
}
