//===- GraphImporter.h - The nodes of a graph become ops --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks over the nodes in order and hands each to its handler. Names have
// scopes: the graph of a branch or a loop sees those around it, a function only
// its own. Beside the ops, the elements of small tensors are kept where they
// follow from constants, so that the arithmetic on shapes of which exported
// files are full gives numbers where a handler asks for them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
#define LLMC_LIB_IMPORT_ONNX_GRAPHIMPORTER_H

#include "NodeImport.h"
#include "llmc/Import/Onnx/Import.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

namespace llmc::onnx {

/// The MLIR type of an element; null where the graph has none.
Type toElement(MLIRContext *context, ElementType type);

class TripProbe;

class GraphImporter {
public:
  /// `file` is named in errors.
  GraphImporter(const Model &model, std::string file, OpBuilder builder);

  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  /// Names of one graph; those of the graph around it are seen through it.
  struct Scope {
    const Scope *around = nullptr;
    std::map<std::string_view, Binding> names;
    const Binding *find(std::string_view name) const;
  };

  /// Gives `name` a value. Error 3 where it has one already.
  rt::Status define(Scope &scope, std::string_view name, Binding binding);
  rt::Status define(Scope &scope, std::string_view name, Value value) {
    return define(scope, name, Binding{{value}, false});
  }

  //===--------------------------------------------------------------------===//
  // Graphs
  //===--------------------------------------------------------------------===//

  rt::Status importNodes(const std::vector<Node> &nodes, Scope &scope);
  /// The outputs of a graph inside a node, on `inputs`.
  rt::Result<SmallVector<Value>>
  importBody(NodeImport &around, const Graph &graph, ArrayRef<Value> inputs);
  /// A constant of the graph.
  rt::Result<Value> makeConstant(const Tensor &tensor, Location loc);
  rt::Status refuse(const std::string &message,
                    rt::ErrorKind kind = rt::ErrorKind::diagnosed) const;

  //===--------------------------------------------------------------------===//
  // What is known
  //===--------------------------------------------------------------------===//

  std::optional<HostTensor> getKnown(Value value) const;
  /// Of a tensor that depends on no argument, the elements even where there are
  /// too many to keep.
  std::optional<HostTensor> compute(Value value) const;
  /// Names of the graph's inputs and weights on which `value` depends.
  std::vector<std::string> findSources(Value value) const;
  void nameArgument(Value argument, std::string_view name) {
    argumentNames[argument] = std::string(name);
  }
  /// Arguments whose elements were asked for though nobody knows them.
  SmallVector<std::string> asked;

  MLIRContext *getContext() { return builder.getContext(); }
  OpBuilder &getBuilder() { return builder; }
  const std::string &getFile() const { return file; }
  /// The first op of the function, and the last.
  Operation *lastOp();

  /// A state that the model changes when it is trained: statistics of batches.
  void markMutated(Value argument) { mutated.insert(argument); }
  bool isMutated(Value argument) const { return mutated.contains(argument); }
  /// Arguments that are weights, and those among them that are statistics,
  /// which no gradient changes.
  void markWeight(Value argument) { weights.insert(argument); }
  bool isWeight(Value argument) const { return weights.contains(argument); }
  llvm::DenseSet<Value> statistics;
  /// The number of microbatches so far, a scalar, for what draws.
  rt::Result<Value> getCounter(Location loc);
  /// Makes the counter's argument when it is asked for first.
  std::function<Value()> makeCounter;
  Value counter;
  /// A number for each node that draws.
  int64_t countDraw() { return numDraws++; }
  /// What nodes have derived, and arguments that are an optimizer's states,
  /// with the arguments whose states they are.
  llvm::DenseSet<Value> derivatives;
  llvm::MapVector<Value, Value> optimizerStates;
  /// New values of weights, by argument.
  llvm::MapVector<Value, Value> updates;

  /// The scope of the node that is imported.
  Scope *current = nullptr;
  /// Numbers of the trips around a node, which what draws is told.
  SmallVector<Value> tripNumbers;

private:
  rt::Status importNode(const Node &node, Scope &scope);
  Binding keepApart(std::string_view name, Binding output,
                    const NodeImport &import);
  /// Error 5 for more nodes than there may be.
  rt::Status countNode();
  rt::Status callFunction(const Node &node, const Function &function,
                          NodeImport &call, Scope &scope);
  rt::Status runHandler(const OpEntry &entry, NodeImport &import);
  rt::Status checkNew(Operation *before, const NodeImport &import);
  std::optional<HostTensor> findKnown(Value value) const;
  std::optional<HostTensor> computeKnown(Value value) const;
  void learn(Operation *op);
  int64_t versionOf(std::string_view domain) const;

  const Model &model;
  std::string file;
  OpBuilder builder;
  Interpreter interpreter;
  llvm::DenseMap<Value, HostTensor> known;
  llvm::DenseMap<Value, std::string> argumentNames;
  llvm::DenseSet<Value> mutated, weights;
  /// Names of the graph whose shardings the file gives.
  std::set<std::string_view> placed;
  OpTable table;
  /// Operator sets of the function whose body is imported, or of the model.
  const std::map<std::string_view, int64_t> *versions;
  /// Attributes of the call whose function's body is imported.
  const NodeImport *call = nullptr;
  const Function *function = nullptr;
  int depth = 0;
  int64_t numNodes = 0, numDraws = 0;
  /// Of the innermost trip that is tried.
  TripProbe *probe = nullptr;
  friend class NodeImport;
  friend class TripProbe;
};

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
