//===- Constants.cpp - Tensors that follow from numbers -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// The element type of attribute `name`.
static rt::Result<Type> readElementType(NodeImport &node, StringRef name,
                                        Type otherwise) {
  const NodeAttribute *found = node.attribute(name);
  if (!found || !found->i)
    return otherwise;
  auto type = static_cast<ElementType>(*found->i);
  if (Type element = toElement(node.b.getContext(), type))
    return element;
  return node.unsupported("expected elements that are numbers in memory, got " +
                          nameOf(type));
}

template <typename T>
static Value makeList(NodeImport &node, Type element, ArrayRef<T> values,
                      bool isScalarValue) {
  SmallVector<int64_t> shape;
  if (!isScalarValue)
    shape.push_back(static_cast<int64_t>(values.size()));
  HostTensor tensor(element, shape);
  for (auto [i, value] : llvm::enumerate(values)) {
    if (tensor.isFloat())
      tensor.setFloat(i, static_cast<double>(value));
    else
      tensor.setInt(i, static_cast<int64_t>(value));
  }
  return hlo::ConstantOp::create(node.b, node.loc,
                                 cast<ElementsAttr>(tensor.toAttribute()));
}

static rt::Status importConstant(NodeImport &node) {
  Type f32 = node.b.getF32Type(), i64 = node.b.getI64Type();
  if (const NodeAttribute *value = node.attribute("value");
      value && value->tensor) {
    LLMC_TRY_ASSIGN(Value constant,
                    node.importer.makeConstant(*value->tensor, node.loc));
    return node.finish({constant});
  }
  if (const NodeAttribute *value = node.attribute("value_float");
      value && value->f)
    return node.finish(
        {makeList<float>(node, f32, ArrayRef<float>(*value->f), true)});
  if (const NodeAttribute *value = node.attribute("value_int");
      value && value->i)
    return node.finish(
        {makeList<int64_t>(node, i64, ArrayRef<int64_t>(*value->i), true)});
  if (const NodeAttribute *value = node.attribute("value_floats"))
    return node.finish({makeList<float>(node, f32, value->floats, false)});
  if (const NodeAttribute *value = node.attribute("value_ints"))
    return node.finish({makeList<int64_t>(node, i64, value->ints, false)});
  return node.unsupported("expected a value of numbers, got texts, a sparse "
                          "tensor, or none");
}

static rt::Status importConstantOfShape(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> shape, node.integers(0, "input"));
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count) ||
        count > (int64_t(1) << 48))
      return node.refuse("expected sizes of at least 0 and 2^48 elements at "
                         "most, got " +
                         show(shape));
  HostTensor element(node.b.getF32Type(), {1});
  if (const NodeAttribute *value = node.attribute("value");
      value && value->tensor) {
    rt::Result<HostTensor> decoded =
        decode(node.b.getContext(), *value->tensor);
    if (!decoded)
      return node.refuse(decoded.message(), decoded.kind());
    element = *decoded;
    if (element.getNumElements() != 1)
      return node.refuse("expected a value of one element, got " +
                         std::to_string(element.getNumElements()));
  }
  Attribute one =
      *cast<DenseElementsAttr>(element.toAttribute()).value_begin<Attribute>();
  auto type = RankedTensorType::get(shape, element.getElementType());
  return node.finish({hlo::ConstantOp::create(
      node.b, node.loc, DenseElementsAttr::get(type, one))});
}

static rt::Status importRange(NodeImport &node) {
  Type element = node.element(0);
  LLMC_TRY_ASSIGN(double begin, node.number(0, "start"));
  LLMC_TRY_ASSIGN(double end, node.number(1, "limit"));
  LLMC_TRY_ASSIGN(double step, node.number(2, "delta"));
  double count = std::max(0.0, std::ceil((end - begin) / step));
  if (!(count <= 0x1p40))
    return node.refuse("expected a range of at most 2^40 numbers, got " +
                       std::to_string(count));
  SmallVector<int64_t> shape = {static_cast<int64_t>(count)};
  Value place =
      hlo::iota(node.b, node.loc, RankedTensorType::get(shape, element), 0);
  auto repeat = [&](unsigned i) {
    return node.broadcast(hlo::reshape(node.b, node.loc, node.input(i), {}),
                          shape);
  };
  Value steps = hlo::mul(node.b, node.loc, place, repeat(2));
  return node.finish({hlo::add(node.b, node.loc, steps, repeat(0))});
}

static rt::Status importEyeLike(NodeImport &node) {
  LLMC_TRY_ASSIGN(Type element,
                  readElementType(node, "dtype", node.element(0)));
  if (node.rank(0) != 2)
    return node.refuse("expected a matrix, got " + show(Type(node.type(0))));
  auto plane = RankedTensorType::get(node.shape(0), node.b.getI64Type());
  Value row = hlo::iota(node.b, node.loc, plane, 0);
  Value column = hlo::iota(node.b, node.loc, plane, 1);
  int64_t k = std::clamp<int64_t>(node.getInt("k", 0), -node.shape(0)[0] - 1,
                                  node.shape(0)[1] + 1);
  Value diagonal = hlo::add(node.b, node.loc, row, node.like(row, double(k)));
  Value is = hlo::compare(node.b, node.loc, hlo::ComparisonDirection::EQ,
                          column, diagonal);
  return node.finish({node.convert(is, element)});
}

/// Indices count from the back where they are negative; outside, all is off.
static rt::Status importOneHot(NodeImport &node) {
  LLMC_TRY_ASSIGN(HostTensor depths, node.constant(1, "depth"));
  if (depths.getNumElements() != 1 || !(depths.getFloat(0) >= 0) ||
      depths.getFloat(0) > 0x1p40)
    return node.refuse("expected one depth of at least 0, got others");
  auto depth = static_cast<int64_t>(depths.getFloat(0));
  int64_t rank = node.rank(0);
  LLMC_TRY_ASSIGN(int64_t axis, node.axis(node.getInt("axis", -1), rank + 1));
  if (node.type(2).getNumElements() != 2)
    return node.refuse("expected two values, got " + show(Type(node.type(2))));
  SmallVector<int64_t> shape(node.shape(0));
  shape.insert(shape.begin() + axis, depth);
  Type i64 = node.b.getI64Type();
  Value index = node.convert(node.input(0), i64);
  Value isNegative =
      hlo::compare(node.b, node.loc, hlo::ComparisonDirection::LT, index,
                   node.like(index, 0));
  Value fromBack =
      hlo::add(node.b, node.loc, index, node.like(index, double(depth)));
  index = hlo::select(node.b, node.loc, isNegative, fromBack, index);
  auto type = RankedTensorType::get(shape, i64);
  Value spread = hlo::broadcastAlong(node.b, node.loc, index, type, {axis});
  Value is = hlo::compare(node.b, node.loc, hlo::ComparisonDirection::EQ,
                          spread, hlo::iota(node.b, node.loc, type, axis));
  auto choice = [&](int64_t i) {
    Value flat = hlo::reshape(node.b, node.loc, node.input(2), {2});
    Value one = hlo::slice(node.b, node.loc, flat, {i}, {i + 1});
    return node.broadcast(hlo::reshape(node.b, node.loc, one, {}), shape);
  };
  return node.finish({hlo::select(node.b, node.loc, is, choice(1), choice(0))});
}

void onnx::addConstantOps(OpTable &table) {
  table["Constant"] = {importConstant, 0, 0, kNewestKnown};
  table["ConstantOfShape"] = {importConstantOfShape, 1, 1, kNewestKnown};
  table["Range"] = {importRange, 3, 3, kNewestKnown};
  table["EyeLike"] = {importEyeLike, 1, 1, kNewestKnown};
  table["OneHot"] = {importOneHot, 3, 3, kNewestKnown};
}
