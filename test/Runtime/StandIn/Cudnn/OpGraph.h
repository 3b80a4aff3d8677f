//===- OpGraph.h - A graph of products and what lies between them ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products, pointwise operations, reductions and reshapes on tensors of four
// dims, in the order in which they are given. A tensor lies in memory, is a
// number that the host gives with a call, or lies nowhere: then an operation
// writes it before others read it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CUDNN_OPGRAPH_H
#define LLMC_TEST_RUNTIME_STANDIN_CUDNN_OPGRAPH_H

#include "Cudnn/Convolution.h"

namespace llmc::standin {

struct OpNode {
  enum class Kind { Product, Point, Reduction, Reshape } kind = Kind::Point;
  int mode = 0; ///< cudnnPointwiseMode_t, cudnnReduceTensorOp_t.
  int64_t axis = -1;
  /// Places of tensors in the graph; -1 where the operation lacks one.
  int x = -1, b = -1, choice = -1, y = -1;
};

struct OpGraph {
  std::vector<TensorFields> tensors;
  std::vector<OpNode> nodes;

  bool isWritten(int tensor) const;
};

/// Whether the operations of a graph are such, and no convolution.
bool isGraphOfOps(const Descriptor &graph);
OpGraph readOpGraph(const Descriptor &graph);
/// By the rules of the operations' documentation; of a graph that is being
/// finalized.
cudnnStatus_t checkOps(const OpGraph &graph);
std::vector<Engine> enginesFor(const OpGraph &graph, bool isFallback);

/// `memory` is where the tensors lie that do; of scalars the number.
void compute(const OpGraph &graph, const Engine &engine,
             const std::vector<char *> &memory);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CUDNN_OPGRAPH_H
