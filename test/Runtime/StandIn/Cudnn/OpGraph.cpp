//===- OpGraph.cpp - A graph of products and what lies between them -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn/OpGraph.h"

#include <algorithm>

using namespace llmc::standin;

bool llmc::standin::isGraphOfOps(const Descriptor &graph) {
  const auto &ops = graph.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).descriptors;
  return std::all_of(ops.begin(), ops.end(), [](const DescriptorRef &op) {
    return op->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
           op->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR ||
           op->type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR ||
           op->type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR;
  });
}

bool OpGraph::isWritten(int tensor) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const OpNode &node) { return node.y == tensor; });
}

//===----------------------------------------------------------------------===//
// From descriptors
//===----------------------------------------------------------------------===//

namespace {
class Reader {
public:
  explicit Reader(OpGraph &graph) : graph(graph) {}

  void add(const Descriptor &op);

private:
  int tensor(const Descriptor &op, int name) {
    if (!op.has(name))
      return -1;
    const Descriptor *found = op.at(name).get();
    auto it = std::find(known.begin(), known.end(), found);
    if (it == known.end()) {
      graph.tensors.push_back(readTensor(*found));
      known.push_back(found);
      return static_cast<int>(known.size()) - 1;
    }
    return static_cast<int>(it - known.begin());
  }

  OpGraph &graph;
  std::vector<const Descriptor *> known;
};
} // namespace

void Reader::add(const Descriptor &op) {
  OpNode node;
  switch (op.type) {
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    node.kind = OpNode::Kind::Product;
    node.x = tensor(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
    node.b = tensor(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
    node.y = tensor(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
    break;
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    node.kind = OpNode::Kind::Reduction;
    node.mode = op.at(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                    ->get<int>(CUDNN_ATTR_REDUCTION_OPERATOR, 0);
    node.x = tensor(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
    node.y = tensor(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    break;
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    node.kind = OpNode::Kind::Reshape;
    node.x = tensor(op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
    node.y = tensor(op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
    break;
  default: {
    const Descriptor &settings =
        *op.at(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    node.mode = settings.get<int>(CUDNN_ATTR_POINTWISE_MODE, 0);
    node.axis = settings.get<int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1);
    node.x = tensor(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    node.b = tensor(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    node.choice = tensor(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
    node.y = tensor(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  }
  }
  graph.nodes.push_back(node);
}

OpGraph llmc::standin::readOpGraph(const Descriptor &descriptor) {
  OpGraph graph;
  Reader reader(graph);
  for (const DescriptorRef &op :
       descriptor.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).descriptors)
    reader.add(*op);
  return graph;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static cudnnStatus_t mismatch(const char *why) {
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, why);
}

/// Each dim is that of the result, or 1.
static bool repeats(const TensorFields &from, const TensorFields &to) {
  for (size_t i = 0; i < 4; ++i)
    if (from.sizes[i] != to.sizes[i] && from.sizes[i] != 1)
      return false;
  return true;
}

static cudnnStatus_t checkPoint(const OpGraph &graph, const OpNode &node) {
  bool isChoice = node.mode == CUDNN_POINTWISE_BINARY_SELECT,
       isIndex = node.mode == CUDNN_POINTWISE_GEN_INDEX;
  bool isUnary = isIndex || node.mode == CUDNN_POINTWISE_EXP ||
                 node.mode == CUDNN_POINTWISE_LOG ||
                 node.mode == CUDNN_POINTWISE_IDENTITY;
  if ((node.b >= 0) == isUnary || (node.choice >= 0) != isChoice)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM,
                       "a pointwise operation that lacks what its mode reads");
  if (isIndex && (node.axis < 0 || node.axis > 3))
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "an index without an axis");
  const TensorFields &y = graph.tensors[node.y];
  for (int operand : {node.x, node.b, node.choice})
    if (operand >= 0 && !repeats(graph.tensors[operand], y))
      return mismatch("a pointwise operation on other dims than its result's");
  if (isChoice && graph.tensors[node.choice].type != CUDNN_DATA_BOOLEAN)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "a choice that is no boolean");
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t checkProduct(const OpGraph &graph, const OpNode &node) {
  const auto &a = graph.tensors[node.x].sizes, &b = graph.tensors[node.b].sizes,
             &c = graph.tensors[node.y].sizes;
  bool isSound = a[0] == c[0] && b[0] == c[0] && a[1] == c[1] &&
                 c[1] % b[1] == 0 && a[2] == c[2] && b[3] == c[3] &&
                 a[3] == b[2];
  return isSound ? CUDNN_STATUS_SUCCESS
                 : mismatch("factors of a product that do not go together");
}

static cudnnStatus_t checkReduction(const OpGraph &graph, const OpNode &node) {
  const auto &x = graph.tensors[node.x].sizes, &y = graph.tensors[node.y].sizes;
  for (size_t i = 0; i < 4; ++i)
    if (x[i] != y[i] && y[i] != 1 && (i != 1 || x[i] % y[i]))
      return mismatch("a reduction to other dims");
  return node.mode == CUDNN_REDUCE_TENSOR_ADD ||
                 node.mode == CUDNN_REDUCE_TENSOR_MAX
             ? CUDNN_STATUS_SUCCESS
             : refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                           "a reduction that the stand-in does not know");
}

static cudnnStatus_t checkNode(const OpGraph &graph, const OpNode &node) {
  switch (node.kind) {
  case OpNode::Kind::Product:
    return checkProduct(graph, node);
  case OpNode::Kind::Reduction:
    return checkReduction(graph, node);
  case OpNode::Kind::Point:
    return checkPoint(graph, node);
  default:
    return CUDNN_STATUS_SUCCESS;
  }
}

cudnnStatus_t llmc::standin::checkOps(const OpGraph &graph) {
  std::vector<bool> isThere;
  std::vector<int64_t> numbers;
  for (const TensorFields &tensor : graph.tensors) {
    if (tensor.sizes.size() != 4)
      return mismatch("a tensor of other than four dims");
    isThere.push_back(!tensor.isVirtual);
    numbers.push_back(tensor.number);
  }
  std::sort(numbers.begin(), numbers.end());
  if (std::unique(numbers.begin(), numbers.end()) != numbers.end())
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
                       "two tensors of one number");
  for (const OpNode &node : graph.nodes) {
    for (int operand : {node.x, node.b, node.choice})
      if (operand >= 0 && !isThere[operand])
        return refuseCudnn(CUDNN_STATUS_BAD_PARAM,
                           "a tensor that is read before it is written");
    if (graph.tensors[node.y].isScalar)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "a number that is written");
    isThere[node.y] = true;
    if (cudnnStatus_t status = checkNode(graph, node))
      return status;
  }
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// Factors of 16 bits, whose features, or lines of scores, an engine has tiles
/// for; of what lies in memory features side by side, and all else at multiples
/// of 16 bytes.
static bool hasEngine(const OpGraph &graph) {
  bool isSound = true;
  for (const OpNode &node : graph.nodes)
    if (node.kind == OpNode::Kind::Product)
      for (int operand : {node.x, node.b}) {
        const TensorFields &factor = graph.tensors[operand];
        bool isInside = factor.isVirtual && factor.type == CUDNN_DATA_FLOAT;
        isSound = isSound && (isInside || factor.elementBytes() == 2);
        if (factor.isVirtual)
          continue;
        int64_t side = 0;
        for (int dim : {2, 3})
          side = factor.strides[dim] == 1 ? factor.sizes[dim] : side;
        isSound = isSound && side % 8 == 0 && side <= 128 && side > 0;
        for (int64_t stride : factor.strides)
          isSound = isSound && (stride == 1 || stride % 8 == 0);
      }
  return isSound;
}

/// First one that adds in no fixed order, one that rounds what lies between,
/// one that wants more workspace than anybody has, and one that fails when it
/// is made ready; then one that stores the scores of a gradient.
std::vector<Engine> llmc::standin::enginesFor(const OpGraph &graph,
                                              bool isFallback) {
  if (!hasEngine(graph) || isFallback)
    return {};
  std::vector<Engine> engines = {
      {30, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, 1, true, false},
      {31,
       {CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
        CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION},
       0,
       1,
       true,
       false}};
  if (environmentNumber("LLMC_STANDIN_CUDNN_ENGINES", 1) == 0)
    return engines;
  std::vector<cudnnBackendNumericalNote_t> notes = {
      CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  engines.push_back({2, notes, int64_t(1) << 42, 1, false, false});
  engines.push_back({3, notes, 0, 1, false, true});
  int64_t bytes = 256;
  auto roundUp = [](int64_t size) { return (size + 63) / 64 * 64; };
  for (const OpNode &node : graph.nodes)
    if (node.kind == OpNode::Kind::Reshape && graph.tensors[node.x].isVirtual) {
      const auto &sizes = graph.tensors[node.y].sizes;
      bytes += 3 * sizes[0] * sizes[1] * roundUp(sizes[2]) * roundUp(sizes[3]);
    }
  engines.push_back({6, notes, bytes, 1, false, false});
  return engines;
}
