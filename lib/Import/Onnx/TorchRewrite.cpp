//===- TorchRewrite.cpp - Gives the tensors of a graph other names --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No element is copied: the tensors of several parameters view the same bytes.
// Where a parameter stands in the file twice, once transposed, the second is
// replaced by a Transpose of the first, so that both are trained as one.
//
// Test: test/Import/Onnx/TorchNamesTest.cpp
//===----------------------------------------------------------------------===//

#include "TorchRewrite.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

bool onnx::isFloat(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f64 ||
         type == ElementType::f16 || type == ElementType::bf16;
}

int64_t onnx::countElements(const Tensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims)
    if (dim < 1 || __builtin_mul_overflow(count, dim, &count) ||
        count > (int64_t(1) << 48))
      return 0;
  return count;
}

/// Whether there are as many bytes as the shape says, and some.
static bool isWhole(const Tensor &tensor, const std::string &elements) {
  return !elements.empty() && static_cast<int64_t>(elements.size()) ==
                                  countElements(tensor) * bytesOf(tensor.type);
}

static rt::Status refuse(const std::string &message) {
  return rt::makeError(ErrorKind::unsupported, message)
      .withHint("export the model with torch.onnx.export(..., "
                "optimize=False)");
}

Rewrite::Rewrite(Graph &graph, std::deque<std::string> &storage,
                 const ReadElements &readElements)
    : graph(graph), storage(storage), readElements(readElements) {
  for (size_t i = 0; i < graph.initializers.size(); ++i)
    numberOf.try_emplace(graph.initializers[i].name, i);
}

const Tensor *Rewrite::findTensor(std::string_view name) const {
  auto found = numberOf.find(name);
  return found == numberOf.end() ? nullptr : &graph.initializers[found->second];
}

std::string_view Rewrite::store(std::string text) {
  storage.push_back(std::move(text));
  return storage.back();
}

//===----------------------------------------------------------------------===//
// New nodes
//===----------------------------------------------------------------------===//

static Node makeNode(std::string_view opType,
                     std::vector<std::string_view> inputs,
                     std::string_view output, const Node &like) {
  Node node;
  node.name = output;
  node.opType = opType;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.metadata = like.metadata;
  return node;
}

template <typename T> static std::string rawOf(const T *values, size_t n) {
  return std::string(reinterpret_cast<const char *>(values), n * sizeof(T));
}

std::string_view Rewrite::addTensor(std::string_view name, ElementType type,
                                    std::vector<int64_t> dims,
                                    std::string bytes) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.raw = store(std::move(bytes));
  added.push_back(std::move(tensor));
  return name;
}

std::string_view Rewrite::addIntegers(std::string_view name,
                                      const std::vector<int64_t> &values,
                                      const std::vector<int64_t> &dims) {
  return addTensor(name, ElementType::i64, dims,
                   rawOf(values.data(), values.size()));
}

std::string_view Rewrite::addZeros(std::string_view target, ElementType type,
                                   const std::vector<int64_t> &dims) {
  return addTensor(target, type, dims, "");
}

std::string_view Rewrite::addTrue() {
  constexpr std::string_view name = "llmc.true";
  auto isIt = [&](const Tensor &tensor) { return tensor.name == name; };
  if (std::none_of(added.begin(), added.end(), isIt))
    addTensor(name, ElementType::boolean, {}, std::string(1, 1));
  return name;
}

void Rewrite::addDropout(Use use, float ratio) {
  std::string_view &input = graph.nodes[use.node].inputs[use.input];
  std::string base(input);
  std::string_view amount =
      addTensor(store(base + ".ratio"), ElementType::f32, {}, rawOf(&ratio, 1));
  std::string_view dropped = store(base + ".dropped");
  insertBefore(use.node, makeNode("Dropout", {input, amount, addTrue()},
                                  dropped, graph.nodes[use.node]));
  input = dropped;
}

/// For each row of `bytes` the number of the first row that equals it, if these
/// first ones stand at the beginning; their count.
static std::optional<int64_t> numberRows(std::string_view raw, size_t bytes,
                                         std::vector<int64_t> &rows) {
  std::map<std::string_view, int64_t> seen;
  for (size_t at = 0; at < raw.size(); at += bytes) {
    auto next = static_cast<int64_t>(seen.size());
    auto [found, isNew] = seen.try_emplace(raw.substr(at, bytes), next);
    if (isNew && at != static_cast<size_t>(next) * bytes)
      return std::nullopt;
    rows.push_back(found->second);
  }
  return static_cast<int64_t>(seen.size());
}

/// The first `bytes` bytes of a tensor, as a tensor of that name and shape.
Tensor Rewrite::takeFirst(const Tensor &source, std::string_view name,
                          std::vector<int64_t> dims, size_t bytes) {
  Tensor tensor = source;
  tensor.name = name;
  tensor.dims = std::move(dims);
  if (tensor.isExternal)
    tensor.external["length"] = store(std::to_string(bytes));
  else
    tensor.raw = tensor.raw.substr(0, bytes);
  return tensor;
}

rt::Status Rewrite::restoreRows(std::string_view target,
                                std::string_view computed,
                                const std::vector<Use> &uses, bool isTable) {
  const Tensor &source = *findTensor(computed);
  LLMC_TRY_ASSIGN(std::string elements, readElements(source));
  if (source.dims.empty() || !isWhole(source, elements))
    return refuse("expected rows of parameter '" + std::string(target) +
                  "' in tensor '" + std::string(computed) + "', got none");
  // What the indices had as dimensions, and those of a row.
  auto split = isTable ? source.dims.end() - 1 : source.dims.begin() + 1;
  std::vector<int64_t> outer(source.dims.begin(), split);
  std::vector<int64_t> dims(split, source.dims.end());
  auto numRows = std::accumulate(outer.begin(), outer.end(), int64_t(1),
                                 std::multiplies<>());
  size_t rowBytes = elements.size() / static_cast<size_t>(numRows);
  std::vector<int64_t> rows;
  std::optional<int64_t> kept = numberRows(elements, rowBytes, rows);
  if (!kept)
    return refuse("expected the rows of parameter '" + std::string(target) +
                  "' before their repetitions in tensor '" +
                  std::string(computed) + "'");
  dims.insert(dims.begin(), *kept);
  added.push_back(
      takeFirst(source, target, dims, static_cast<size_t>(*kept) * rowBytes));
  // One row is repeated, and all rows stay as they are.
  bool isGathered = *kept > 1 && *kept < numRows;
  std::string base(computed);
  std::string_view integers =
      isGathered ? addIntegers(store(base + ".rows"), rows, outer)
                 : addIntegers(store(base + ".shape"), source.dims,
                               {static_cast<int64_t>(source.dims.size())});
  std::string_view opType =
      isGathered ? "Gather" : (*kept == 1 ? "Expand" : "Reshape");
  std::string_view restored = store(base + ".restored");
  size_t first = uses.front().node;
  insertBefore(first, makeNode(opType, {target, integers}, restored,
                               graph.nodes[first]));
  for (Use use : uses)
    graph.nodes[use.node].inputs[use.input] = restored;
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// One tensor for each parameter
//===----------------------------------------------------------------------===//

rt::Result<bool> Rewrite::isSplat(std::string_view name) const {
  const Tensor &tensor = *findTensor(name);
  LLMC_TRY_ASSIGN(std::string elements, readElements(tensor));
  auto bytes = static_cast<size_t>(bytesOf(tensor.type));
  if (!isWhole(tensor, elements))
    return true;
  return elements.compare(bytes, std::string::npos, elements, 0,
                          elements.size() - bytes) == 0;
}

rt::Result<bool> Rewrite::isTransposed(const Tensor &a, const Tensor &b) const {
  if (a.type != b.type || a.dims.size() != 2 || b.dims.size() != 2 ||
      a.dims[0] != b.dims[1] || a.dims[1] != b.dims[0])
    return false;
  LLMC_TRY_ASSIGN(std::string left, readElements(a));
  LLMC_TRY_ASSIGN(std::string right, readElements(b));
  auto n = static_cast<size_t>(a.dims[0]), m = static_cast<size_t>(a.dims[1]);
  auto bytes = static_cast<size_t>(bytesOf(a.type));
  if (!isWhole(a, left) || !isWhole(b, right))
    return false;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j)
      if (std::memcmp(&left[(i * m + j) * bytes], &right[(j * n + i) * bytes],
                      bytes) != 0)
        return false;
  return true;
}

rt::Result<bool> Rewrite::isEqual(const Tensor &a, const Tensor &b) const {
  if (&a == &b)
    return true;
  if (a.type != b.type || a.dims != b.dims)
    return false;
  LLMC_TRY_ASSIGN(std::string left, readElements(a));
  LLMC_TRY_ASSIGN(std::string right, readElements(b));
  return left == right;
}

/// A Transpose of the parameter before the node that reads it so.
std::string_view Rewrite::addTranspose(std::string_view target, size_t node) {
  std::string_view transposed = store(std::string(target) + ".transposed");
  Node added = makeNode("Transpose", {target}, transposed, graph.nodes[node]);
  NodeAttribute perm;
  perm.name = "perm";
  perm.type = 7;
  perm.ints = {1, 0};
  added.attributes.push_back(std::move(perm));
  insertBefore(node, std::move(added));
  return transposed;
}

rt::Status Rewrite::restoreOne(std::string_view target,
                               const std::vector<Use> &uses) {
  const Tensor *first = findTensor(target);
  if (!first)
    first = findTensor(nameAt(uses.front()));
  if (first->name != target) {
    added.push_back(*first);
    added.back().name = target;
  }
  std::string_view transposed;
  for (Use use : uses) {
    const Tensor &other = *findTensor(nameAt(use));
    std::string_view &input = graph.nodes[use.node].inputs[use.input];
    LLMC_TRY_ASSIGN(bool isSame, isEqual(*first, other));
    if (isSame) {
      input = target;
      continue;
    }
    LLMC_TRY_ASSIGN(bool isTurned, isTransposed(*first, other));
    if (!isTurned)
      return refuse("expected tensors '" + std::string(first->name) +
                    "' and '" + std::string(other.name) +
                    "' to be parameter '" + std::string(target) +
                    "', got elements that differ");
    if (transposed.empty())
      transposed = addTranspose(target, use.node);
    input = transposed;
  }
  return rt::Status::success();
}

void Rewrite::insertNodes() {
  std::vector<Node> nodes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (auto found = inserts.find(i); found != inserts.end())
      for (Node &node : found->second)
        nodes.push_back(std::move(node));
    nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
}

static void addRead(const Graph &graph, std::set<std::string_view> &read) {
  for (const ValueInfo &output : graph.outputs)
    read.insert(output.name);
  for (const Node &node : graph.nodes) {
    read.insert(node.inputs.begin(), node.inputs.end());
    for (const NodeAttribute &attribute : node.attributes)
      if (attribute.graph)
        addRead(*attribute.graph, read);
  }
}

/// Tensors that only the exporter's form of the graph had.
void Rewrite::dropUnread() {
  std::set<std::string_view> read;
  addRead(graph, read);
  std::vector<Tensor> kept;
  for (std::vector<Tensor> *each : {&graph.initializers, &added})
    for (Tensor &tensor : *each)
      if (read.count(tensor.name))
        kept.push_back(std::move(tensor));
  graph.initializers = std::move(kept);
}

rt::Status Rewrite::apply() {
  // Rows are read before nodes move; uses name nodes by their old numbers.
  for (const auto &[target, uses] : usesOf)
    LLMC_TRY(restoreOne(target, uses));
  insertNodes();
  dropUnread();
  return rt::Status::success();
}
