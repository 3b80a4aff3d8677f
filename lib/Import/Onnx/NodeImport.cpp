//===- NodeImport.cpp - One node while it becomes ops ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeImport.h"
#include "GraphImporter.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

std::string onnx::show(ArrayRef<int64_t> numbers) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(numbers, os);
  os << "]";
  return text;
}

std::string onnx::show(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

ArrayRef<int64_t> onnx::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t onnx::rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

Type onnx::elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

SmallVector<int64_t> onnx::range(int64_t begin, int64_t end) {
  SmallVector<int64_t> numbers;
  for (int64_t i = begin; i < end; ++i)
    numbers.push_back(i);
  return numbers;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

unsigned NodeImport::numOutputs() const { return node.outputs.size(); }

bool NodeImport::wants(unsigned i) const {
  return i < node.outputs.size() && !node.outputs[i].empty();
}

SmallVector<Value> NodeImport::allInputs() const {
  SmallVector<Value> values;
  for (unsigned i = 0; i < inputs.size(); ++i)
    values.push_back(input(i));
  return values;
}

rt::Result<HostTensor> NodeImport::constant(unsigned i, const char *what) {
  return constantOf(input(i), what);
}

rt::Result<HostTensor> NodeImport::constantOf(Value value, const char *what) {
  if (std::optional<HostTensor> known = importer.getKnown(value))
    return *known;
  std::vector<std::string> sources = importer.findSources(value);
  for (const std::string &source : sources)
    importer.asked.push_back(source);
  std::string from = "a value that the run computes";
  if (!sources.empty())
    from = "a value that depends on '" + sources.front() + "'";
  return unsupported(std::string("expected '") + what +
                     "' to be known when the model is read, got " + from);
}

rt::Result<SmallVector<int64_t>> NodeImport::integers(unsigned i,
                                                      const char *what) {
  LLMC_TRY_ASSIGN(HostTensor tensor, constant(i, what));
  if (tensor.isFloat() || tensor.getRank() > 1)
    return refuse(std::string("expected '") + what +
                  "' to be a list of integers, got " +
                  onnx::show(Type(tensor.getType())));
  SmallVector<int64_t> numbers;
  for (int64_t k = 0; k < tensor.getNumElements(); ++k)
    numbers.push_back(tensor.getInt(k));
  return numbers;
}

rt::Result<int64_t> NodeImport::integer(unsigned i, const char *what) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> numbers, integers(i, what));
  if (numbers.size() != 1)
    return refuse(std::string("expected '") + what +
                  "' to be one integer, got " + std::to_string(numbers.size()));
  return numbers.front();
}

rt::Result<double> NodeImport::number(unsigned i, const char *what) {
  LLMC_TRY_ASSIGN(HostTensor tensor, constant(i, what));
  if (tensor.getNumElements() != 1)
    return refuse(std::string("expected '") + what +
                  "' to be one number, got " +
                  std::to_string(tensor.getNumElements()));
  return tensor.getFloat(0);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

int64_t NodeImport::getInt(StringRef name, int64_t otherwise) const {
  const NodeAttribute *found = attribute(name);
  return found && found->i ? *found->i : otherwise;
}

double NodeImport::getFloat(StringRef name, double otherwise) const {
  const NodeAttribute *found = attribute(name);
  return found && found->f ? *found->f : otherwise;
}

StringRef NodeImport::getText(StringRef name, StringRef otherwise) const {
  const NodeAttribute *found = attribute(name);
  return found && found->s ? StringRef(found->s->data(), found->s->size())
                           : otherwise;
}

rt::Result<const Graph *> NodeImport::graph(StringRef name) const {
  const NodeAttribute *found = attribute(name);
  if (found && found->graph)
    return static_cast<const Graph *>(found->graph.get());
  return refuse("expected a graph '" + name.str() + "', got none",
                rt::ErrorKind::malformed);
}

std::optional<SmallVector<int64_t>> NodeImport::getInts(StringRef name) const {
  const NodeAttribute *found = attribute(name);
  if (!found)
    return std::nullopt;
  return SmallVector<int64_t>(found->ints.begin(), found->ints.end());
}

rt::Result<std::optional<SmallVector<int64_t>>>
NodeImport::getIntsOrInput(StringRef name, unsigned operand) {
  std::optional<SmallVector<int64_t>> numbers = getInts(name);
  if (!numbers && has(operand)) {
    LLMC_TRY_ASSIGN(numbers, integers(operand, name.str().c_str()));
  }
  return numbers;
}

rt::Result<int64_t> NodeImport::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    return refuse("expected an axis of at least " + std::to_string(-rank) +
                  " and below " + std::to_string(rank) + ", got " +
                  std::to_string(axis));
  return axis < 0 ? axis + rank : axis;
}

rt::Result<SmallVector<int64_t>> NodeImport::axes(ArrayRef<int64_t> given,
                                                  int64_t rank) const {
  SmallVector<int64_t> result;
  for (int64_t each : given) {
    LLMC_TRY_ASSIGN(int64_t counted, axis(each, rank));
    if (llvm::is_contained(result, counted))
      return refuse("expected each axis once, got " + onnx::show(given));
    result.push_back(counted);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

rt::Result<SmallVector<int64_t>>
NodeImport::broadcastShape(ArrayRef<Value> values) const {
  SmallVector<int64_t> shape;
  for (Value value : values) {
    ArrayRef<int64_t> other = shapeOf(value);
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    for (size_t i = 0; i < other.size(); ++i) {
      int64_t &size = shape[shape.size() - other.size() + i];
      if (size != other[i] && size != 1 && other[i] != 1)
        return refuse("expected operands of shapes that fit together, got " +
                      onnx::show(shape) + " and " + onnx::show(other));
      size = size == 1 ? other[i] : size;
    }
  }
  return shape;
}

Value NodeImport::broadcast(Value value, ArrayRef<int64_t> shape) const {
  if (shapeOf(value) == shape)
    return value;
  int64_t rank = shape.size();
  return stablehlo::broadcastInDim(
      b, loc, value, RankedTensorType::get(shape, elementOf(value)),
      range(rank - rankOf(value), rank));
}

rt::Result<SmallVector<Value>>
NodeImport::broadcastAll(ArrayRef<Value> values) const {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> shape, broadcastShape(values));
  SmallVector<Value> result;
  for (Value value : values)
    result.push_back(broadcast(value, shape));
  return result;
}

Value NodeImport::convert(Value value, Type element) const {
  return stablehlo::convertTo(b, loc, value, element);
}

Value NodeImport::integersAsTensor(ArrayRef<int64_t> values,
                                   ArrayRef<int64_t> shape) const {
  auto type = RankedTensorType::get(shape, b.getI64Type());
  return stablehlo::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(type, values));
}

rt::Status NodeImport::finish(ArrayRef<Value> values) {
  for (unsigned i = values.size(); i < node.outputs.size(); ++i)
    if (wants(i))
      return unsupported("expected " + std::to_string(values.size()) +
                         " results at most, got the name '" +
                         std::string(node.outputs[i]) + "' for result " +
                         std::to_string(i));
  for (Value value : values)
    outputs.push_back(value ? Binding{{value}, false} : Binding());
  return rt::Status::success();
}

rt::Status NodeImport::finishList(ArrayRef<Value> values) {
  outputs.push_back(Binding{{values.begin(), values.end()}, true});
  return rt::Status::success();
}

void onnx::addCombination(OpBuilder &b, Location loc, Region &body,
                          std::optional<ReductionKind> kind, Type element) {
  OpBuilder::InsertionGuard guard(b);
  auto type = RankedTensorType::get({}, element);
  Block *block = b.createBlock(&body, body.end(), {type, type}, {loc, loc});
  Value x = block->getArgument(0), y = block->getArgument(1), result = y;
  if (kind == ReductionKind::sum)
    result = stablehlo::add(b, loc, x, y);
  if (kind == ReductionKind::product)
    result = stablehlo::mul(b, loc, x, y);
  if (kind == ReductionKind::max)
    result = stablehlo::max(b, loc, x, y);
  if (kind == ReductionKind::min)
    result = stablehlo::min(b, loc, x, y);
  stablehlo::ReturnOp::create(b, loc, ValueRange{result});
}
