//===- Sequences.cpp - Lists of tensors -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters write `split` and `chunk` as a list from which elements are taken.
// A list exists while a model is read: its length and all positions are known.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

static rt::Status expectList(NodeImport &node) {
  if (node.binding(0).isList)
    return rt::Status::success();
  return node.refuse("expected a list of tensors, got a tensor");
}

static SmallVector<Value> listOf(NodeImport &node) {
  return llvm::to_vector(ArrayRef<Value>(node.binding(0).values));
}

/// Sizes of the parts along a dimension of `size`.
static rt::Result<SmallVector<int64_t>> readListParts(NodeImport &node,
                                                      int64_t size) {
  constexpr int64_t kMostParts = int64_t(1) << 16;
  SmallVector<int64_t> parts;
  int64_t least = 1;
  if (node.has(1) && node.rank(1) == 0) {
    LLMC_TRY_ASSIGN(least, node.integer(1, "split"));
  }
  if (least > 0 && size / least > kMostParts)
    return node.unsupported("expected a list of at most " +
                            std::to_string(kMostParts) + " parts, got " +
                            std::to_string(size / least));
  if (!node.has(1))
    return SmallVector<int64_t>(size, 1);
  LLMC_TRY_ASSIGN(SmallVector<int64_t> split, node.integers(1, "split"));
  if (node.rank(1) == 0) {
    if (split[0] < 1)
      return node.refuse("expected parts of at least 1, got " + show(split));
    for (int64_t at = 0; at < size; at += split[0])
      parts.push_back(std::min(split[0], size - at));
    return parts;
  }
  int64_t sum = 0;
  for (int64_t part : split)
    if (part < 0 || __builtin_add_overflow(sum, part, &sum))
      return node.refuse("expected parts of at least 0, got " + show(split));
  if (sum != size)
    return node.refuse("expected parts that add up to " + std::to_string(size) +
                       ", got " + show(split));
  return split;
}

static rt::Status importSplitToSequence(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", 0), node.rank(0)));
  LLMC_TRY_ASSIGN(SmallVector<int64_t> parts,
                  readListParts(node, node.shape(0)[axis]));
  bool isSqueezed = !node.has(1) && !node.getInt("keepdims", 1);
  SmallVector<int64_t> starts(node.rank(0), 0), limits(node.shape(0));
  SmallVector<Value> values;
  for (int64_t part : parts) {
    limits[axis] = starts[axis] + part;
    Value value = hlo::slice(node.b, node.loc, node.input(0), starts, limits);
    SmallVector<int64_t> shape(shapeOf(value));
    if (isSqueezed)
      shape.erase(shape.begin() + axis);
    values.push_back(hlo::reshape(node.b, node.loc, value, shape));
    starts[axis] += part;
  }
  return node.finishList(values);
}

static rt::Status importSequenceConstruct(NodeImport &node) {
  return node.finishList(node.allInputs());
}

static rt::Status importSequenceEmpty(NodeImport &node) {
  return node.finishList({});
}

/// A position in a list of `count` elements, counted from the front.
static rt::Result<int64_t> readPosition(NodeImport &node, unsigned operand,
                                        int64_t count) {
  LLMC_TRY_ASSIGN(int64_t at, node.integer(operand, "position"));
  if (at < -count || at >= count)
    return node.refuse("expected a position in a list of " +
                       std::to_string(count) + ", got " + std::to_string(at));
  return at < 0 ? at + count : at;
}

static rt::Status importSequenceAt(NodeImport &node) {
  LLMC_TRY(expectList(node));
  ArrayRef<Value> values = node.binding(0).values;
  LLMC_TRY_ASSIGN(int64_t at, readPosition(node, 1, values.size()));
  return node.finish({values[at]});
}

static rt::Status importSequenceInsert(NodeImport &node) {
  LLMC_TRY(expectList(node));
  SmallVector<Value> values = listOf(node);
  int64_t at = values.size();
  if (node.has(2)) {
    int64_t count = at;
    LLMC_TRY_ASSIGN(at, node.integer(2, "position"));
    if (at < -count || at > count)
      return node.refuse("expected a position in a list of " +
                         std::to_string(count) + ", got " + std::to_string(at));
    at += at < 0 ? count : 0;
  }
  values.insert(values.begin() + at, node.input(1));
  return node.finishList(values);
}

static rt::Status importSequenceErase(NodeImport &node) {
  LLMC_TRY(expectList(node));
  SmallVector<Value> values = listOf(node);
  int64_t at = static_cast<int64_t>(values.size()) - 1;
  if (node.has(1)) {
    LLMC_TRY_ASSIGN(at, readPosition(node, 1, values.size()));
  }
  if (values.empty())
    return node.refuse("expected a list with elements, got none");
  values.erase(values.begin() + at);
  return node.finishList(values);
}

static rt::Status importSequenceLength(NodeImport &node) {
  LLMC_TRY(expectList(node));
  auto count = static_cast<int64_t>(node.binding(0).values.size());
  return node.finish({node.integersAsTensor({count}, {})});
}

static rt::Status importConcatFromSequence(NodeImport &node) {
  LLMC_TRY(expectList(node));
  SmallVector<Value> values = listOf(node);
  if (values.empty())
    return node.refuse("expected a list with elements, got none");
  bool isNew = node.getInt("new_axis", 0);
  int64_t rank = rankOf(values.front()) + (isNew ? 1 : 0);
  LLMC_TRY_ASSIGN(int64_t axis, node.axis(node.getInt("axis", 0), rank));
  for (Value &value : values) {
    bool fits = rankOf(value) == rankOf(values.front());
    for (int64_t i = 0; fits && i < rankOf(value); ++i)
      fits = (i == axis && !isNew) ||
             shapeOf(value)[i] == shapeOf(values.front())[i];
    if (!fits)
      return node.refuse("expected tensors that fit together, got " +
                         show(values.front().getType()) + " and " +
                         show(value.getType()));
  }
  if (isNew)
    for (Value &value : values) {
      SmallVector<int64_t> shape(shapeOf(value));
      shape.insert(shape.begin() + axis, 1);
      value = hlo::reshape(node.b, node.loc, value, shape);
    }
  return node.finish({hlo::concatenate(node.b, node.loc, values, axis)});
}

void onnx::addSequenceOps(OpTable &table) {
  table["SplitToSequence"] = {importSplitToSequence, 1, 2, kNewestKnown};
  table["SequenceConstruct"] = {importSequenceConstruct, 1, kAny, kNewestKnown};
  table["SequenceEmpty"] = {importSequenceEmpty, 0, 0, kNewestKnown};
  table["SequenceAt"] = {importSequenceAt, 2, 2, kNewestKnown};
  table["SequenceInsert"] = {importSequenceInsert, 2, 3, kNewestKnown};
  table["SequenceErase"] = {importSequenceErase, 1, 2, kNewestKnown};
  table["SequenceLength"] = {importSequenceLength, 1, 1, kNewestKnown};
  table["ConcatFromSequence"] = {importConcatFromSequence, 1, 1, kNewestKnown};
}
