//===- ListOps.cpp - Which ops a model needs ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/Onnx/ops.test
//===----------------------------------------------------------------------===//

#include "NodeImport.h"
#include "llmc/Import/Onnx/Import.h"
#include "llmc/Runtime/Base/File.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;

namespace {
/// Counts the nodes of a model, those of functions that it calls included.
class OpLister {
public:
  explicit OpLister(const Model &model) : model(model) { addAllOps(table); }
  void visit(const std::vector<Node> &nodes, int depth);
  std::vector<OpCount> take() { return std::move(counts); }

private:
  void visitNode(const Node &node, int depth);
  OpCount &countOf(const Node &node);
  std::string judge(const Node &node) const;

  const Model &model;
  OpTable table;
  std::vector<OpCount> counts;
  std::map<std::string, size_t> places;
  /// Functions are counted where they are called first.
  std::vector<const Function *> seen;
};
} // namespace

/// "" where the op is known in the version that the model imports.
std::string OpLister::judge(const Node &node) const {
  auto entry = table.find(nameOfOp(node));
  if (entry == table.end())
    return "not known";
  std::string_view domain = node.domain == "ai.onnx" ? "" : node.domain;
  auto version = model.versions.find(domain);
  if (version != model.versions.end() && version->second > entry->second.newest)
    return "known up to version " + std::to_string(entry->second.newest);
  return "";
}

OpCount &OpLister::countOf(const Node &node) {
  std::string name = nameOfOp(node);
  auto [place, isNew] = places.try_emplace(name, counts.size());
  if (isNew)
    counts.push_back({name, 0, std::string(node.name), judge(node)});
  return counts[place->second];
}

void OpLister::visitNode(const Node &node, int depth) {
  const Function *callee = findFunctionOf(model, node);
  bool isCall = callee && !table.contains(nameOfOp(node));
  if (!isCall)
    ++countOf(node).count;
  else if (!llvm::is_contained(seen, callee)) {
    seen.push_back(callee);
    visit(callee->nodes, depth + 1);
  }
  for (const NodeAttribute &attribute : node.attributes)
    if (attribute.graph)
      visit(attribute.graph->nodes, depth + 1);
}

void OpLister::visit(const std::vector<Node> &nodes, int depth) {
  // As deep as a file may nest messages.
  constexpr int kMostDepth = 100;
  if (depth > kMostDepth)
    return;
  for (const Node &node : nodes)
    visitNode(node, depth);
}

std::vector<KnownOp> onnx::listKnownOps() {
  OpTable table;
  addAllOps(table);
  std::vector<KnownOp> known;
  for (const auto &entry : table)
    known.push_back({entry.first().str(), entry.second.newest});
  llvm::sort(known, [](const KnownOp &one, const KnownOp &other) {
    return one.name < other.name;
  });
  return known;
}

rt::Result<std::vector<OpCount>> onnx::listOps(const std::string &path) {
  LLMC_TRY_ASSIGN(rt::MappedFile file, rt::MappedFile::open(path));
  LLMC_TRY_ASSIGN(Model model, readModel(file.text(), path));
  OpLister lister(model);
  lister.visit(model.graph.nodes, 0);
  return lister.take();
}
