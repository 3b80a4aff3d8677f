//===- TorchRewrite.h - Gives the tensors of a graph names ------*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TorchNames.cpp says which parameter each operand of a node is; here the
// graph's tensors become one for each parameter, and its nodes read these.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_TORCHREWRITE_H
#define LLMC_LIB_IMPORT_ONNX_TORCHREWRITE_H

#include "llmc/Import/Onnx/Model.h"

#include <deque>
#include <functional>

namespace llmc::onnx {

/// An operand of a node.
struct Use {
  size_t node = 0, input = 0;
};

bool isFloat(ElementType type);
/// 0 for shapes that no memory holds.
int64_t countElements(const Tensor &tensor);

/// The elements of a tensor as they are in memory, wherever they are stored.
using ReadElements = std::function<rt::Result<std::string>(const Tensor &)>;

class Rewrite {
public:
  Rewrite(Graph &graph, std::deque<std::string> &storage,
          const ReadElements &readElements);

  /// An initializer, or null.
  const Tensor *findTensor(std::string_view name) const;
  std::string_view nameAt(Use use) const {
    return graph.nodes[use.node].inputs[use.input];
  }

  /// The operand is the parameter `target`.
  void addUse(std::string_view target, Use use) {
    usesOf[target].push_back(use);
  }
  /// The tensor `computed` has rows of the parameter `target`, some perhaps
  /// several times: of its last dimension where it was looked up in a table, of
  /// its first where it was repeated.
  rt::Status restoreRows(std::string_view target, std::string_view computed,
                         const std::vector<Use> &uses, bool isTable);
  /// Whether all elements are equal.
  rt::Result<bool> isSplat(std::string_view name) const;
  /// Adds a tensor of zeros that no file has, nor this one; its name.
  std::string_view addZeros(std::string_view target, ElementType type,
                            const std::vector<int64_t> &dims);
  /// The name of a tensor that says yes.
  std::string_view addTrue();
  /// Drops a part of what the operand gets.
  void addDropout(Use use, float ratio);
  rt::Status apply();

private:
  rt::Status restoreOne(std::string_view target, const std::vector<Use> &uses);
  std::string_view store(std::string text);
  std::string_view addTensor(std::string_view name, ElementType type,
                             std::vector<int64_t> dims, std::string bytes);
  std::string_view addIntegers(std::string_view name,
                               const std::vector<int64_t> &values,
                               const std::vector<int64_t> &dims);
  void insertBefore(size_t node, Node inserted) {
    inserts[node].push_back(std::move(inserted));
  }
  Tensor takeFirst(const Tensor &source, std::string_view name,
                   std::vector<int64_t> dims, size_t bytes);
  std::string_view addTranspose(std::string_view target, size_t node);
  void insertNodes();
  void dropUnread();

  rt::Result<bool> isTransposed(const Tensor &a, const Tensor &b) const;
  rt::Result<bool> isEqual(const Tensor &a, const Tensor &b) const;

  Graph &graph;
  std::deque<std::string> &storage;
  ReadElements readElements;
  std::map<std::string_view, size_t> numberOf;
  std::map<std::string_view, std::vector<Use>> usesOf;
  std::map<size_t, std::vector<Node>> inserts;
  std::vector<Tensor> added;
};

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_TORCHREWRITE_H
