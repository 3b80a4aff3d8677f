//===- Compute.cpp - Operations of a graph in plain loops -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation makes its whole result, in double, rounded once to the type
// of the tensor that it writes.
//
//===----------------------------------------------------------------------===//

#include "BlasLt/Numbers.h"
#include "Cudnn/OpGraph.h"

#include <algorithm>
#include <cmath>

using namespace llmc::standin;

namespace {
using Sizes = std::vector<int64_t>;
using Place = std::array<int64_t, 4>;

class Machine {
public:
  Machine(const OpGraph &graph, const Engine &engine,
          const std::vector<char *> &memory)
      : graph(graph), engine(engine), memory(memory),
        values(graph.tensors.size()) {}

  void run() {
    for (size_t i = 0; i < graph.tensors.size(); ++i)
      if (memory[i] && !graph.isWritten(static_cast<int>(i)))
        gather(i);
    for (const OpNode &node : graph.nodes) {
      values[node.y].assign(count(graph.tensors[node.y].sizes), 0);
      compute(node);
      round(node.y);
    }
  }

private:
  static int64_t count(const Sizes &sizes) {
    return sizes[0] * sizes[1] * sizes[2] * sizes[3];
  }
  /// Calls `visit` with each place and its row-major number.
  template <typename Visit> static void walk(const Sizes &s, Visit visit) {
    int64_t i = 0;
    Place at{};
    for (at[0] = 0; at[0] < s[0]; ++at[0])
      for (at[1] = 0; at[1] < s[1]; ++at[1])
        for (at[2] = 0; at[2] < s[2]; ++at[2])
          for (at[3] = 0; at[3] < s[3]; ++at[3])
            visit(at, i++);
  }
  static int64_t inMemory(const TensorFields &tensor, const Place &at) {
    int64_t offset = 0;
    for (int i = 0; i < 4; ++i)
      offset += at[i] * tensor.strides[i];
    return offset;
  }
  /// Dims of size 1 are repeated; heads by equal groups.
  double read(int tensor, const Place &at, const Sizes &of) const {
    const Sizes &sizes = graph.tensors[tensor].sizes;
    int64_t number = 0;
    for (int i = 0; i < 4; ++i)
      number = number * sizes[i] +
               (sizes[i] == of[i] ? at[i] : at[i] / (of[i] / sizes[i]));
    return values[tensor][number];
  }

  void gather(size_t tensor);
  void round(int tensor);
  void compute(const OpNode &node);
  void multiply(const OpNode &node);
  void reduce(const OpNode &node);
  void reshape(const OpNode &node);
  double point(const OpNode &node, const Place &at, const Sizes &of) const;

  const OpGraph &graph;
  const Engine &engine;
  const std::vector<char *> &memory;
  std::vector<std::vector<double>> values;
};
} // namespace

void Machine::gather(size_t tensor) {
  const TensorFields &fields = graph.tensors[tensor];
  walk(fields.sizes, [&](const Place &at, int64_t) {
    int64_t offset = inMemory(fields, at);
    values[tensor].push_back(
        fields.type == CUDNN_DATA_INT32
            ? reinterpret_cast<const int32_t *>(memory[tensor])[offset]
            : loadElement(fields.type, memory[tensor], offset));
  });
}

/// To the tensor's type; and into memory where it lies there.
void Machine::round(int tensor) {
  const TensorFields &fields = graph.tensors[tensor];
  bool isFloat =
      fields.type != CUDNN_DATA_INT32 && fields.type != CUDNN_DATA_BOOLEAN;
  walk(fields.sizes, [&](const Place &at, int64_t i) {
    double &value = values[tensor][i];
    if (isFloat) {
      char element[8];
      storeElement(fields.type, element, 0, value);
      value = loadElement(fields.type, element, 0);
      if (engine.rounds)
        value = roundTo(kTF32, static_cast<float>(value));
    }
    if (memory[tensor])
      storeElement(fields.type, memory[tensor], inMemory(fields, at), value);
  });
}

double Machine::point(const OpNode &node, const Place &at,
                      const Sizes &of) const {
  double x = read(node.x, at, of);
  double b = node.b < 0 ? 0 : read(node.b, at, of);
  switch (node.mode) {
  case CUDNN_POINTWISE_ADD:
    return x + b;
  case CUDNN_POINTWISE_SUB:
    return x - b;
  case CUDNN_POINTWISE_MUL:
    return x * b;
  case CUDNN_POINTWISE_DIV:
    return x / b;
  case CUDNN_POINTWISE_EXP:
    return std::exp(x);
  case CUDNN_POINTWISE_LOG:
    return std::log(x);
  case CUDNN_POINTWISE_CMP_GE:
    return x >= b ? 1 : 0;
  case CUDNN_POINTWISE_GEN_INDEX:
    return static_cast<double>(at[node.axis]);
  case CUDNN_POINTWISE_BINARY_SELECT:
    return read(node.choice, at, of) != 0 ? x : b;
  default:
    return x;
  }
}

void Machine::multiply(const OpNode &node) {
  const Sizes &a = graph.tensors[node.x].sizes,
              &b = graph.tensors[node.b].sizes,
              &c = graph.tensors[node.y].sizes;
  walk(c, [&](const Place &at, int64_t i) {
    int64_t left = ((at[0] * a[1] + at[1]) * a[2] + at[2]) * a[3];
    int64_t right = (at[0] * b[1] + at[1] / (c[1] / b[1])) * b[2] * b[3];
    double sum = 0;
    for (int64_t k = 0; k < a[3]; ++k)
      sum +=
          values[node.x][left + k] * values[node.b][right + k * b[3] + at[3]];
    values[node.y][i] = sum;
  });
}

void Machine::reduce(const OpNode &node) {
  const Sizes &from = graph.tensors[node.x].sizes,
              &to = graph.tensors[node.y].sizes;
  bool isMax = node.mode == CUDNN_REDUCE_TENSOR_MAX;
  std::vector<double> &result = values[node.y];
  std::fill(result.begin(), result.end(), isMax ? -INFINITY : 0);
  walk(from, [&](const Place &at, int64_t i) {
    int64_t number = 0;
    for (int dim = 0; dim < 4; ++dim)
      number = number * to[dim] + at[dim] / (from[dim] / to[dim]);
    double value = values[node.x][i];
    result[number] =
        isMax ? std::max(result[number], value) : result[number] + value;
  });
}

/// Elements stay where their strides say that they lie.
void Machine::reshape(const OpNode &node) {
  const TensorFields &from = graph.tensors[node.x], &to = graph.tensors[node.y];
  std::map<int64_t, double> elements;
  walk(from.sizes, [&](const Place &at, int64_t i) {
    elements[inMemory(from, at)] = values[node.x][i];
  });
  walk(to.sizes, [&](const Place &at, int64_t i) {
    values[node.y][i] = elements.at(inMemory(to, at));
  });
}

void Machine::compute(const OpNode &node) {
  switch (node.kind) {
  case OpNode::Kind::Product:
    return multiply(node);
  case OpNode::Kind::Reduction:
    return reduce(node);
  case OpNode::Kind::Reshape:
    return reshape(node);
  case OpNode::Kind::Point:
    const Sizes &sizes = graph.tensors[node.y].sizes;
    walk(sizes, [&](const Place &at, int64_t i) {
      values[node.y][i] = point(node, at, sizes);
    });
  }
}

void llmc::standin::compute(const OpGraph &graph, const Engine &engine,
                            const std::vector<char *> &memory) {
  Machine(graph, engine, memory).run();
}
