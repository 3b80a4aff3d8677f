//===- Random.cpp - Dropout and random tensors ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits are a function of a key, which says which node draws, and of counters,
// which begin where the number of microbatches so far says: a carried state,
// `rng.counter`. So each microbatch has bits of its own, and a run repeats
// them.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// Counters of one microbatch: so many elements may a node draw.
static constexpr unsigned kCounterBits = 40;

static Value draw(NodeImport &node, Value key, Value begin,
                  ArrayRef<int64_t> shape) {
  OpBuilder &b = node.b;
  Value state = hlo::concatenate(b, node.loc, ValueRange{key, begin}, 0);
  auto bits = hlo::RngBitGeneratorOp::create(
      b, node.loc, state.getType(),
      RankedTensorType::get(shape, elementOf(state)), state,
      hlo::RngAlgorithmAttr::get(b.getContext(), hlo::RngAlgorithm::THREE_FRY));
  return bits.getOutput();
}

/// Of a node, and of each trip of the loops around it: bits that its own key
/// gives for the number of the trip are the key there.
static Value makeKey(NodeImport &node) {
  OpBuilder &b = node.b;
  Type word = b.getIntegerType(64, false);
  // A seed of the node's own is part of the key.
  auto seed = static_cast<float>(node.getFloat("seed", 0));
  if (const NodeAttribute *given = node.attribute("seed"); given && given->i)
    seed = static_cast<float>(*given->i);
  uint32_t bits = 0;
  std::memcpy(&bits, &seed, sizeof(bits));
  APInt first(64, (uint64_t(bits) << 32) + node.importer.countDraw());
  auto type = RankedTensorType::get({1}, word);
  Value key =
      hlo::ConstantOp::create(b, node.loc, DenseElementsAttr::get(type, first));
  for (Value trip : node.importer.tripNumbers) {
    Value number = hlo::reshape(b, node.loc, node.convert(trip, word), {1});
    key = draw(node, key, number, {1});
  }
  return key;
}

/// f32, from 0 to before 1.
static rt::Result<Value> drawUniform(NodeImport &node,
                                     ArrayRef<int64_t> shape) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  Type word = b.getIntegerType(64, false), half = b.getIntegerType(32, false);
  LLMC_TRY_ASSIGN(Value counter, node.importer.getCounter(loc));
  Value key = makeKey(node);
  Value begin = hlo::reshape(b, loc, node.convert(counter, word), {1});
  begin = hlo::ShiftLeftOp::create(b, loc, begin.getType(), begin,
                                   node.like(begin, kCounterBits));
  // An element has a counter of its own, and of its bits the highest.
  Value number = draw(node, key, begin, shape);
  number = hlo::ShiftRightLogicalOp::create(b, loc, number.getType(), number,
                                            node.like(number, 40));
  Value uniform = node.convert(node.convert(number, half), b.getF32Type());
  return hlo::mul(b, loc, uniform, node.like(uniform, 0x1p-24));
}

/// Keeps each element with probability 1 - ratio, and makes up for the others.
static rt::Result<SmallVector<Value>> dropElements(NodeImport &node,
                                                   Value ratio) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  Value x = node.input(0);
  LLMC_TRY_ASSIGN(Value uniform, drawUniform(node, node.shape(0)));
  Value share = node.convert(ratio, b.getF32Type());
  Value mask = hlo::compare(b, loc, hlo::ComparisonDirection::GE, uniform,
                            node.broadcast(share, node.shape(0)));
  Value kept = hlo::sub(b, loc, node.like(share, 1), share);
  Value scale = hlo::div(b, loc, node.like(kept, 1), kept);
  scale = node.broadcast(node.convert(scale, node.element(0)), node.shape(0));
  Value scaled = hlo::mul(b, loc, x, scale);
  return SmallVector<Value>{hlo::select(b, loc, mask, scaled, node.like(x, 0)),
                            mask};
}

/// The mask has been of the data's type before version 10.
static rt::Status finishDropout(NodeImport &node, Value result, Value mask) {
  if (!node.wants(1))
    return node.finish({result});
  Type element = node.version < 10 ? node.element(0) : Type(node.b.getI1Type());
  mask = mask ? node.convert(mask, element)
              : node.splat(node.shape(0), element, 1);
  return node.finish({result, mask});
}

static rt::Status importDropout(NodeImport &node) {
  bool isTraining = false;
  Value ratio;
  if (node.version < 7) {
    isTraining = !node.getInt("is_test", 0);
  } else if (node.version >= 12 && node.has(2)) {
    LLMC_TRY_ASSIGN(HostTensor mode, node.constant(2, "training_mode"));
    isTraining = mode.getNumElements() == 1 && mode.getInt(0) != 0;
  }
  if (node.version >= 12 && node.has(1)) {
    if (node.type(1).getNumElements() != 1)
      return node.refuse("expected one ratio, got " + show(Type(node.type(1))));
    ratio = hlo::reshape(node.b, node.loc, node.input(1), {});
    std::optional<HostTensor> known = node.importer.getKnown(node.input(1));
    isTraining &= !known || known->getFloat(0) != 0;
  } else {
    ratio = hlo::scalar(node.b, node.loc, node.b.getF32Type(),
                        node.getFloat("ratio", 0.5));
  }
  if (!isTraining)
    return finishDropout(node, node.input(0), Value());
  LLMC_TRY_ASSIGN(SmallVector<Value> both, dropElements(node, ratio));
  return finishDropout(node, both[0], both[1]);
}

//===----------------------------------------------------------------------===//
// Random tensors
//===----------------------------------------------------------------------===//

/// The shape and element type of a random tensor: of an operand or attributes.
static rt::Result<RankedTensorType> readRandomType(NodeImport &node) {
  Type element = node.b.getF32Type();
  SmallVector<int64_t> shape;
  if (node.numInputs()) {
    shape.assign(node.shape(0).begin(), node.shape(0).end());
    element = node.element(0);
  } else {
    shape = node.getInts("shape").value_or(SmallVector<int64_t>());
  }
  if (const NodeAttribute *type = node.attribute("dtype"); type && type->i)
    element =
        toElement(node.b.getContext(), static_cast<ElementType>(*type->i));
  for (int64_t size : shape)
    if (size < 0)
      return node.refuse("expected sizes of at least 0, got " + show(shape));
  if (!element)
    return node.unsupported("expected elements that are numbers, got others");
  return RankedTensorType::get(shape, element);
}

static rt::Status importRandomUniform(NodeImport &node) {
  LLMC_TRY_ASSIGN(RankedTensorType type, readRandomType(node));
  LLMC_TRY_ASSIGN(Value uniform, drawUniform(node, type.getShape()));
  double low = node.getFloat("low", 0), high = node.getFloat("high", 1);
  Value wide =
      hlo::mul(node.b, node.loc, uniform, node.like(uniform, high - low));
  Value moved = hlo::add(node.b, node.loc, wide, node.like(wide, low));
  return node.finish({node.convert(moved, type.getElementType())});
}

/// mean + deviation * sqrt(2) * erf_inv(2 u - 1), with u in the middle of its
/// step so that it is neither 0 nor 1.
static rt::Status importRandomNormal(NodeImport &node) {
  LLMC_TRY_ASSIGN(RankedTensorType type, readRandomType(node));
  LLMC_TRY_ASSIGN(Value u, drawUniform(node, type.getShape()));
  OpBuilder &b = node.b;
  Location loc = node.loc;
  Value place = hlo::add(b, loc, hlo::mul(b, loc, u, node.like(u, 2)),
                         node.like(u, 0x1p-24 - 1));
  Value normal = chlo::ErfInvOp::create(b, loc, place.getType(), place);
  double scale = node.getFloat("scale", 1) * std::sqrt(2.0);
  Value wide = hlo::mul(b, loc, normal, node.like(normal, scale));
  Value moved =
      hlo::add(b, loc, wide, node.like(wide, node.getFloat("mean", 0)));
  return node.finish({node.convert(moved, type.getElementType())});
}

static rt::Status importBernoulli(NodeImport &node) {
  LLMC_TRY_ASSIGN(RankedTensorType type, readRandomType(node));
  LLMC_TRY_ASSIGN(Value u, drawUniform(node, type.getShape()));
  Value share = node.convert(node.input(0), node.b.getF32Type());
  Value is =
      hlo::compare(node.b, node.loc, hlo::ComparisonDirection::LT, u, share);
  return node.finish({node.convert(is, type.getElementType())});
}

void onnx::addRandomOps(OpTable &table) {
  table["Dropout"] = {importDropout, 1, 3, kNewestKnown};
  table["RandomUniform"] = {importRandomUniform, 0, 0, kNewestKnown};
  table["RandomUniformLike"] = {importRandomUniform, 1, 1, kNewestKnown};
  table["RandomNormal"] = {importRandomNormal, 0, 0, kNewestKnown};
  table["RandomNormalLike"] = {importRandomNormal, 1, 1, kNewestKnown};
  table["Bernoulli"] = {importBernoulli, 1, 1, kNewestKnown};
}
