//===- BufferGraph.cpp - Ops on buffers that are overwritten --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BufferGraph.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/BufferGraph.h"
#include <algorithm>

namespace llmc {

void BufferGraph::addRead(int32_t op, int32_t buffer, int32_t version) {
  Version &read = buffers[buffer].versions[version];
  if (std::find(read.readers.begin(), read.readers.end(), op) ==
      read.readers.end())
    read.readers.push_back(op);
  ops[op].touches.push_back(buffer);
  if (read.definedBy >= 0)
    ops[op].after.push_back(read.definedBy);
}

int32_t BufferGraph::addWrite(int32_t op, int32_t buffer) {
  std::vector<Version> &versions = buffers[buffer].versions;
  versions.push_back({op, {}});
  ops[op].touches.push_back(buffer);
  return static_cast<int32_t>(versions.size()) - 1;
}

bool BufferGraph::isLatest(int32_t buffer, int32_t version) const {
  return version + 1 == static_cast<int32_t>(buffers[buffer].versions.size());
}

std::vector<int32_t> BufferGraph::getReaders(int32_t buffer) const {
  std::vector<int32_t> readers;
  for (const Version &version : buffers[buffer].versions)
    readers.insert(readers.end(), version.readers.begin(),
                   version.readers.end());
  return readers;
}

bool BufferGraph::isSeenOnce(int32_t buffer) const {
  const std::vector<Version> &versions = buffers[buffer].versions;
  for (size_t i = 0; i + 1 < versions.size(); ++i)
    for (int32_t reader : versions[i].readers)
      if (reader != versions[i + 1].definedBy)
        return false;
  return true;
}

std::vector<std::vector<int32_t>> BufferGraph::getEdges() const {
  std::vector<std::vector<int32_t>> edges;
  for (const Op &op : ops)
    edges.push_back(op.after);
  auto follow = [&](int32_t op, int32_t before) {
    if (op != before && before >= 0)
      edges[op].push_back(before);
  };
  for (const Buffer &buffer : buffers)
    for (size_t i = 1; i < buffer.versions.size(); ++i) {
      const Version &old = buffer.versions[i - 1];
      for (int32_t reader : old.readers)
        follow(buffer.versions[i].definedBy, reader);
      follow(buffer.versions[i].definedBy, old.definedBy);
    }
  for (const Overwrite &overwrite : overwrites)
    for (int32_t reader : getReaders(overwrite.buffer))
      follow(overwrite.op, reader);
  return edges;
}

bool BufferGraph::isInOrder() const {
  std::vector<std::vector<int32_t>> edges = getEdges();
  for (size_t op = 0; op < edges.size(); ++op)
    for (int32_t before : edges[op])
      if (before >= static_cast<int32_t>(op))
        return false;
  return true;
}

bool BufferGraph::reaches(int32_t op,
                          const std::vector<int32_t> &targets) const {
  std::vector<std::vector<int32_t>> edges = getEdges();
  std::vector<bool> isSeen(ops.size(), false);
  std::vector<int32_t> pending = targets;
  while (!pending.empty()) {
    int32_t at = pending.back();
    pending.pop_back();
    if (at == op)
      return true;
    if (!isSeen[at])
      pending.insert(pending.end(), edges[at].begin(), edges[at].end());
    isSeen[at] = true;
  }
  return false;
}

bool mayRunAfter(const BufferGraph &graph, int32_t op,
                 const std::vector<int32_t> &others, bool &ascends) {
  bool areBefore = std::all_of(others.begin(), others.end(),
                               [&](int32_t other) { return other < op; });
  if (ascends && areBefore)
    return true;
  if (graph.reaches(op, others))
    return false;
  ascends = false;
  return true;
}

OpOrderProblem makeOrderProblem(const BufferGraph &graph,
                                std::vector<int64_t> bytes) {
  OpOrderProblem problem;
  problem.bytes = std::move(bytes);
  std::vector<std::vector<int32_t>> edges = graph.getEdges();
  for (size_t op = 0; op < edges.size(); ++op) {
    std::vector<int32_t> &after = edges[op];
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    problem.ops.push_back(
        {std::move(after), graph.ops[op].touches, graph.ops[op].runsBeside});
  }
  return problem;
}

} // namespace llmc
