//===- Quantization.cpp - Numbers as steps of a scale ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scale and a zero point are of the whole tensor, of each position along an
// axis, or of each block of positions.
//
//   quantized = saturate(round(x / scale) + zero point)
//   x         = (quantized - zero point) * scale
//
// Tests: test/EndToEnd/Onnx/newer.test
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// Each position along `axis` for `block` positions, of which the last block
/// may have fewer.
static Value repeatBlocks(NodeImport &node, Value x, int64_t axis,
                          int64_t block, int64_t size) {
  SmallVector<int64_t> split(shapeOf(x)), joined(split);
  split.insert(split.begin() + axis + 1, block);
  joined[axis] *= block;
  SmallVector<int64_t> dims = range(0, rankOf(x) + 1);
  dims.erase(dims.begin() + axis + 1);
  Value repeated = hlo::broadcastInDim(
      node.b, node.loc, x, RankedTensorType::get(split, elementOf(x)), dims);
  repeated = hlo::reshape(node.b, node.loc, repeated, joined);
  SmallVector<int64_t> starts(joined.size(), 0);
  joined[axis] = size;
  return hlo::slice(node.b, node.loc, repeated, starts, joined);
}

/// A scale or a zero point, operand `i`, in the shape of operand 0.
static rt::Result<Value> spread(NodeImport &node, unsigned i) {
  Value x = node.input(i);
  ArrayRef<int64_t> shape = node.shape(0);
  if (node.type(i).getNumElements() == 1 && node.rank(i) <= 1)
    return node.broadcast(hlo::reshape(node.b, node.loc, x, {}), shape);
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", 1), rankOf(node.input(0))));
  if (node.rank(i) == 1 && node.shape(i)[0] == shape[axis])
    return hlo::broadcastInDim(node.b, node.loc, x,
                               RankedTensorType::get(shape, elementOf(x)),
                               {axis});
  int64_t block = node.getInt("block_size", 0);
  SmallVector<int64_t> blocked(shape);
  if (block > 0)
    blocked[axis] = llvm::divideCeil(shape[axis], block);
  if (block > 0 && node.shape(i) == ArrayRef<int64_t>(blocked))
    return repeatBlocks(node, x, axis, block, shape[axis]);
  return node.refuse("expected operand " + std::to_string(i) +
                     " with one element, one for each position of axis " +
                     std::to_string(axis) + ", or one for each block of " +
                     std::to_string(block) + " positions, got " +
                     show(Type(node.type(i))) + " for " +
                     show(Type(node.type(0))));
}

/// The element type that an attribute names, or `otherwise`.
static rt::Result<Type> readElement(NodeImport &node, StringRef name,
                                    Type otherwise) {
  int64_t given = node.getInt(name, 0);
  if (given == 0)
    return otherwise;
  auto type = static_cast<ElementType>(given);
  if (Type element = toElement(node.b.getContext(), type))
    return element;
  return node.unsupported("expected '" + name.str() +
                          "' to be a type of numbers in memory, got " +
                          nameOf(type));
}

/// The integers of `element` from floats, those beyond its range as its ends.
static Value roundInto(NodeImport &node, Value x, IntegerType element) {
  unsigned bits = element.getWidth();
  bool isSigned = !element.isUnsigned();
  double low = isSigned ? -std::ldexp(1.0, bits - 1) : 0;
  double high = std::ldexp(1.0, isSigned ? bits - 1 : bits) - 1;
  x = hlo::ClampOp::create(node.b, node.loc, node.like(x, low), x,
                           node.like(x, high));
  return node.convert(x, element);
}

/// What is divided, and then rounded, in the type of the scale.
static rt::Result<Value> divideByScale(NodeImport &node) {
  LLMC_TRY_ASSIGN(Type precision,
                  readElement(node, "precision", node.element(1)));
  LLMC_TRY_ASSIGN(Value scale, spread(node, 1));
  if (!isa<FloatType>(precision))
    precision = node.b.getF32Type();
  return hlo::div(node.b, node.loc, node.convert(node.input(0), precision),
                  node.convert(scale, precision));
}

static rt::Status importQuantize(NodeImport &node) {
  Type byte = node.b.getIntegerType(8, false);
  LLMC_TRY_ASSIGN(
      Type element,
      readElement(node, "output_dtype", node.has(2) ? node.element(2) : byte));
  LLMC_TRY_ASSIGN(Value x, divideByScale(node));
  auto integer = dyn_cast<IntegerType>(element);
  if (integer)
    x = hlo::RoundNearestEvenOp::create(node.b, node.loc, x.getType(), x);
  if (elementOf(x).getIntOrFloatBitWidth() < 32)
    x = node.convert(x, node.b.getF32Type());
  if (node.has(2)) {
    LLMC_TRY_ASSIGN(Value zero, spread(node, 2));
    x = hlo::add(node.b, node.loc, x, node.convert(zero, elementOf(x)));
  }
  if (integer)
    return node.finish({roundInto(node, x, integer)});
  if (node.getInt("saturate", 1) != 0)
    x = saturate(node, x, element);
  return node.finish({node.convert(x, element)});
}

static rt::Status importDequantize(NodeImport &node) {
  LLMC_TRY_ASSIGN(Type element,
                  readElement(node, "output_dtype", node.element(1)));
  LLMC_TRY_ASSIGN(Value scale, spread(node, 1));
  Type wide = elementOf(scale).getIntOrFloatBitWidth() < 32
                  ? Type(node.b.getF32Type())
                  : elementOf(scale);
  Value x = node.convert(node.input(0), wide);
  if (node.has(2)) {
    LLMC_TRY_ASSIGN(Value zero, spread(node, 2));
    x = hlo::sub(node.b, node.loc, x, node.convert(zero, wide));
  }
  x = hlo::mul(node.b, node.loc, x, node.convert(scale, wide));
  return node.finish({node.convert(x, element)});
}

/// Scale and zero point of a byte from the least and the greatest element.
static rt::Status importDynamicQuantize(NodeImport &node) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  Value x = node.input(0);
  auto byte = b.getIntegerType(8, false);
  if (!isa<FloatType>(elementOf(x)) || node.type(0).getNumElements() == 0)
    return node.refuse("expected floats, got " + show(Type(node.type(0))));
  SmallVector<int64_t> dims = range(0, rankOf(x));
  Value zero = hlo::scalar(b, loc, elementOf(x), 0);
  Value high = hlo::max(b, loc, hlo::reduceMax(b, loc, x, dims), zero);
  Value low =
      hlo::min(b, loc, hlo::reduce(b, loc, ReductionKind::min, x, dims), zero);
  Value reach = hlo::sub(b, loc, high, low);
  Value isFlat =
      hlo::compare(b, loc, hlo::ComparisonDirection::EQ, reach, zero);
  reach = hlo::select(b, loc, isFlat, node.like(zero, 1), reach);
  Value scale = hlo::div(b, loc, reach, node.like(zero, 255));
  auto round = [&](Value value) -> Value {
    return hlo::RoundNearestEvenOp::create(b, loc, value.getType(), value);
  };
  Value point = hlo::sub(b, loc, zero, hlo::div(b, loc, low, scale));
  point =
      round(hlo::ClampOp::create(b, loc, zero, point, node.like(zero, 255)));
  Value steps = round(hlo::div(b, loc, x, node.broadcast(scale, shapeOf(x))));
  steps = hlo::add(b, loc, steps, node.broadcast(point, shapeOf(x)));
  return node.finish(
      {roundInto(node, steps, byte), scale, node.convert(point, byte)});
}

void onnx::addQuantizationOps(OpTable &table) {
  table["QuantizeLinear"] = {importQuantize, 2, 3, kNewestKnown};
  table["DequantizeLinear"] = {importDequantize, 2, 3, kNewestKnown};
  table["DynamicQuantizeLinear"] = {importDynamicQuantize, 1, 1, kNewestKnown};
}
