//===- Elementwise.cpp - Arithmetic, comparisons, logic -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are repeated to a common shape, as in NumPy. Before version 7 of
// the operator set only the second one was, at a given axis.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Import/Program/StopGradient.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <typename Op> static rt::Status importUnary(NodeImport &node) {
  Value x = node.input(0);
  return node.finish({Op::create(node.b, node.loc, x.getType(), x)});
}

/// Of integers these change nothing.
template <typename Op> static rt::Status importRounding(NodeImport &node) {
  if (isa<FloatType>(node.element(0)))
    return importUnary<Op>(node);
  return node.finish({node.input(0)});
}

template <typename Op> static rt::Status importFloatUnary(NodeImport &node) {
  if (!isa<FloatType>(node.element(0)))
    return node.refuse("expected floats, got " + show(Type(node.type(0))));
  return importUnary<Op>(node);
}

static rt::Status importIdentity(NodeImport &node) {
  node.outputs.push_back(node.binding(0));
  return rt::Status::success();
}

static rt::Status importStopGradient(NodeImport &node) {
  return node.finish(
      {import::stopGradient(node.b, node.loc, node.input(0)).front()});
}

static rt::Status importReciprocal(NodeImport &node) {
  Value x = node.input(0);
  return node.finish({hlo::div(node.b, node.loc, node.like(x, 1), x)});
}

/// Unsigned integers have no sign of their own.
static bool isUnsignedType(Type type) { return type.isUnsignedInteger(); }

static rt::Status importAbs(NodeImport &node) {
  if (isUnsignedType(node.element(0)))
    return node.finish({node.input(0)});
  return importUnary<hlo::AbsOp>(node);
}

static rt::Status importSign(NodeImport &node) {
  Value x = node.input(0);
  if (!isUnsignedType(node.element(0)))
    return importUnary<hlo::SignOp>(node);
  return node.finish({hlo::min(node.b, node.loc, x, node.like(x, 1))});
}

static rt::Status importIsNaN(NodeImport &node) {
  Value x = node.input(0);
  return node.finish(
      {hlo::compare(node.b, node.loc, hlo::ComparisonDirection::NE, x, x)});
}

static rt::Status importIsInf(NodeImport &node) {
  Value x = node.input(0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Value result;
  for (double sign : {1.0, -1.0}) {
    if (!node.getInt(sign > 0 ? "detect_positive" : "detect_negative", 1))
      continue;
    Value is = hlo::compare(node.b, node.loc, hlo::ComparisonDirection::EQ, x,
                            node.like(x, sign * kInfinity));
    result = result ? Value(hlo::OrOp::create(node.b, node.loc, is.getType(),
                                              result, is))
                    : is;
  }
  if (!result)
    result = node.splat(node.shape(0), node.b.getI1Type(), 0);
  return node.finish({result});
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

/// Old versions: the second operand begins at an axis of the first, and only
/// where the node asks for it.
static rt::Result<Value> placeAtAxis(NodeImport &node, Value x, Value y) {
  if (!node.getInt("broadcast", 0))
    return y;
  int64_t rank = rankOf(x), inner = rankOf(y);
  int64_t at = node.getInt("axis", rank - inner);
  at = at < 0 ? at + rank : at;
  if (at < 0 || at + inner > rank)
    return node.refuse("expected an axis from which " + std::to_string(inner) +
                       " dimensions fit into " + std::to_string(rank) +
                       ", got " + std::to_string(node.getInt("axis", at)));
  SmallVector<int64_t> shape(shapeOf(y));
  shape.append(rank - at - inner, 1);
  return hlo::reshape(node.b, node.loc, y, shape);
}

static rt::Result<SmallVector<Value>> readOperands(NodeImport &node) {
  SmallVector<Value> values = node.allInputs();
  if (node.version < 7 && values.size() == 2) {
    LLMC_TRY_ASSIGN(values[1], placeAtAxis(node, values[0], values[1]));
  }
  return node.broadcastAll(values);
}

/// A function of two, applied from the left to all.
template <typename Op> static rt::Status importNary(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values, readOperands(node));
  Value result = values.front();
  for (Value next : ArrayRef<Value>(values).drop_front()) {
    if (result.getType() != next.getType())
      return node.refuse("expected operands of one element type, got " +
                         show(result.getType()) + " and " +
                         show(next.getType()));
    result = Op::create(node.b, node.loc, result.getType(), result, next);
  }
  return node.finish({result});
}

static rt::Status importMean(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values,
                  node.broadcastAll(node.allInputs()));
  Value sum = values.front();
  for (Value next : ArrayRef<Value>(values).drop_front())
    sum = hlo::add(node.b, node.loc, sum, next);
  return node.finish(
      {hlo::div(node.b, node.loc, sum, node.like(sum, double(values.size())))});
}

template <hlo::ComparisonDirection direction>
static rt::Status importComparison(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values, readOperands(node));
  return node.finish(
      {hlo::compare(node.b, node.loc, direction, values[0], values[1])});
}

/// The exponent may be of another type than the base, whose type counts.
static rt::Status importPow(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values, readOperands(node));
  Type base = node.element(0), exponent = node.element(1);
  Type wide = isa<FloatType>(base)       ? base
              : isa<FloatType>(exponent) ? exponent
                                         : base;
  Value x = node.convert(values[0], wide), y = node.convert(values[1], wide);
  return node.finish({node.convert(hlo::pow(node.b, node.loc, x, y), base)});
}

/// The remainder has the sign of the divisor, with `fmod` that of the dividend.
static rt::Status importMod(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values, readOperands(node));
  OpBuilder &b = node.b;
  Location loc = node.loc;
  Value x = values[0], y = values[1];
  Value rest = hlo::RemOp::create(b, loc, x.getType(), x, y);
  if (node.getInt("fmod", 0) || isUnsignedType(node.element(0)))
    return node.finish({rest});
  Value zero = node.like(rest, 0);
  auto isNegative = [&](Value value) {
    return hlo::compare(b, loc, hlo::ComparisonDirection::LT, value, zero);
  };
  Value differs = hlo::compare(b, loc, hlo::ComparisonDirection::NE,
                               isNegative(rest), isNegative(y));
  Value isRest = hlo::compare(b, loc, hlo::ComparisonDirection::NE, rest, zero);
  Value mustMove = hlo::logicalAnd(b, loc, differs, isRest);
  return node.finish(
      {hlo::select(b, loc, mustMove, hlo::add(b, loc, rest, y), rest)});
}

static rt::Status importBitShift(NodeImport &node) {
  StringRef direction = node.getText("direction", "");
  if (direction == "LEFT")
    return importNary<hlo::ShiftLeftOp>(node);
  if (direction == "RIGHT")
    return isUnsignedType(node.element(0))
               ? importNary<hlo::ShiftRightLogicalOp>(node)
               : importNary<hlo::ShiftRightArithmeticOp>(node);
  return node.refuse("expected direction LEFT or RIGHT, got '" +
                     direction.str() + "'");
}

static rt::Status importWhere(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values, readOperands(node));
  return node.finish({hlo::SelectOp::create(
      node.b, node.loc, values[1].getType(), values[0], values[1], values[2])});
}

//===----------------------------------------------------------------------===//
// Bounds and types
//===----------------------------------------------------------------------===//

static rt::Status importClip(NodeImport &node) {
  Value x = node.input(0);
  auto bound = [&](unsigned i, const char *name, Value current, bool isMax) {
    Value limit;
    if (node.version < 11) {
      if (!node.attribute(name))
        return current;
      limit = node.like(x, node.getFloat(name, 0));
    } else if (node.has(i)) {
      limit = node.broadcast(hlo::reshape(node.b, node.loc, node.input(i), {}),
                             node.shape(0));
    } else {
      return current;
    }
    return isMax ? hlo::min(node.b, node.loc, current, limit)
                 : hlo::max(node.b, node.loc, current, limit);
  };
  for (unsigned i : {1u, 2u})
    if (node.has(i) && node.type(i).getNumElements() != 1)
      return node.refuse("expected bounds of one element, got " +
                         show(Type(node.type(i))));
  Value low = bound(1, "min", x, false);
  return node.finish({bound(2, "max", low, true)});
}

/// The element type of attribute `to`, which very old versions name.
static rt::Result<Type> readTarget(NodeImport &node, const NodeAttribute *to) {
  auto type = static_cast<ElementType>(to && to->i ? *to->i : 0);
  if (to && to->s) {
    static constexpr std::pair<const char *, ElementType> kNames[] = {
        {"FLOAT", ElementType::f32},    {"DOUBLE", ElementType::f64},
        {"FLOAT16", ElementType::f16},  {"BFLOAT16", ElementType::bf16},
        {"INT8", ElementType::i8},      {"INT16", ElementType::i16},
        {"INT32", ElementType::i32},    {"INT64", ElementType::i64},
        {"UINT8", ElementType::u8},     {"UINT16", ElementType::u16},
        {"UINT32", ElementType::u32},   {"UINT64", ElementType::u64},
        {"BOOL", ElementType::boolean}, {"STRING", ElementType::text}};
    for (auto [name, named] : kNames)
      if (*to->s == name)
        type = named;
  }
  if (Type element = toElement(node.b.getContext(), type))
    return element;
  return node.unsupported("expected elements that are numbers in memory, got " +
                          nameOf(type));
}

Value onnx::saturate(NodeImport &node, Value value, Type element) {
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
    value = node.convert(value, node.b.getF32Type());
  double largest =
      APFloat::getLargest(cast<FloatType>(element).getFloatSemantics())
          .convertToDouble();
  Value low = node.like(value, -largest), high = node.like(value, largest);
  return hlo::ClampOp::create(node.b, node.loc, low, value, high);
}

static rt::Status finishCast(NodeImport &node, Type element) {
  Value value = node.input(0);
  bool isSmall =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  if (isSmall && node.getInt("saturate", 1) != 0)
    value = saturate(node, value, element);
  // The lowest bits of an integer that is too large for four.
  bool isNibble = isa<IntegerType>(element) && element.isInteger(4);
  if (isNibble && isa<FloatType>(node.element(0)))
    value = node.convert(value, node.b.getI32Type());
  return node.finish({node.convert(value, element)});
}

/// An integer that is not negative has the bits of its float for integers as
/// well; a float becomes an integer by truncation, and true where it is not 0.
static rt::Status importCast(NodeImport &node) {
  LLMC_TRY_ASSIGN(Type element, readTarget(node, node.attribute("to")));
  return finishCast(node, element);
}

static rt::Status importCastLike(NodeImport &node) {
  return finishCast(node, node.element(1));
}

/// Bits of one type as those of another of the same size.
static rt::Status importBitCast(NodeImport &node) {
  LLMC_TRY_ASSIGN(Type element, readTarget(node, node.attribute("to")));
  if (element == node.element(0))
    return node.finish({node.input(0)});
  if (element.getIntOrFloatBitWidth() !=
      node.element(0).getIntOrFloatBitWidth())
    return node.refuse("expected an element type of as many bits, got " +
                       show(element));
  return node.finish({hlo::BitcastConvertOp::create(
      node.b, node.loc, RankedTensorType::get(node.shape(0), element),
      node.input(0))});
}

/// Functions of one tensor.
static void addUnaryOps(OpTable &table) {
  auto unary = [&](StringRef name, rt::Status (*handle)(NodeImport &)) {
    table[name] = {handle, 1, 1, kNewestKnown};
  };
  unary("Abs", importAbs);
  unary("Neg", importUnary<hlo::NegOp>);
  unary("Sqrt", importFloatUnary<hlo::SqrtOp>);
  unary("Exp", importFloatUnary<hlo::ExpOp>);
  unary("Log", importFloatUnary<hlo::LogOp>);
  unary("Erf", importFloatUnary<chlo::ErfOp>);
  unary("Tanh", importFloatUnary<hlo::TanhOp>);
  unary("Sigmoid", importFloatUnary<hlo::LogisticOp>);
  unary("Sin", importFloatUnary<hlo::SineOp>);
  unary("Cos", importFloatUnary<hlo::CosineOp>);
  unary("Tan", importFloatUnary<hlo::TanOp>);
  unary("Asin", importFloatUnary<chlo::AsinOp>);
  unary("Acos", importFloatUnary<chlo::AcosOp>);
  unary("Atan", importFloatUnary<chlo::AtanOp>);
  unary("Sinh", importFloatUnary<chlo::SinhOp>);
  unary("Cosh", importFloatUnary<chlo::CoshOp>);
  unary("Asinh", importFloatUnary<chlo::AsinhOp>);
  unary("Acosh", importFloatUnary<chlo::AcoshOp>);
  unary("Atanh", importFloatUnary<chlo::AtanhOp>);
  unary("Floor", importRounding<hlo::FloorOp>);
  unary("Ceil", importRounding<hlo::CeilOp>);
  unary("Round", importRounding<hlo::RoundNearestEvenOp>);
  unary("Sign", importSign);
  unary("Not", importUnary<hlo::NotOp>);
  unary("BitwiseNot", importUnary<hlo::NotOp>);
  unary("Reciprocal", importReciprocal);
  unary("IsNaN", importIsNaN);
  unary("IsInf", importIsInf);
  unary("Cast", importCast);
  unary("BitCast", importBitCast);
  unary("Identity", importIdentity);
  unary(import::kStopGradientName, importStopGradient);
}

/// Functions of two tensors, and of any number.
static void addArithmeticOps(OpTable &table) {
  auto binary = [&](StringRef name, rt::Status (*handle)(NodeImport &)) {
    table[name] = {handle, 2, 2, kNewestKnown};
  };
  auto nary = [&](StringRef name, rt::Status (*handle)(NodeImport &)) {
    table[name] = {handle, 1, kAny, kNewestKnown};
  };
  binary("CastLike", importCastLike);
  binary("Add", importNary<hlo::AddOp>);
  binary("Sub", importNary<hlo::SubtractOp>);
  binary("Mul", importNary<hlo::MulOp>);
  binary("Div", importNary<hlo::DivOp>);
  binary("And", importNary<hlo::AndOp>);
  binary("Or", importNary<hlo::OrOp>);
  binary("Xor", importNary<hlo::XorOp>);
  binary("BitwiseAnd", importNary<hlo::AndOp>);
  binary("BitwiseOr", importNary<hlo::OrOp>);
  binary("BitwiseXor", importNary<hlo::XorOp>);
  binary("Pow", importPow);
  binary("Mod", importMod);
  binary("BitShift", importBitShift);
  nary("Sum", importNary<hlo::AddOp>);
  nary("Max", importNary<hlo::MaxOp>);
  nary("Min", importNary<hlo::MinOp>);
  nary("Mean", importMean);
}

void onnx::addElementwiseOps(OpTable &table) {
  using Direction = hlo::ComparisonDirection;
  addUnaryOps(table);
  addArithmeticOps(table);
  auto comparison = [&](StringRef name, rt::Status (*handle)(NodeImport &)) {
    table[name] = {handle, 2, 2, kNewestKnown};
  };
  comparison("Equal", importComparison<Direction::EQ>);
  comparison("Less", importComparison<Direction::LT>);
  comparison("LessOrEqual", importComparison<Direction::LE>);
  comparison("Greater", importComparison<Direction::GT>);
  comparison("GreaterOrEqual", importComparison<Direction::GE>);
  table["Where"] = {importWhere, 3, 3, kNewestKnown};
  table["Clip"] = {importClip, 1, 3, kNewestKnown};
}
