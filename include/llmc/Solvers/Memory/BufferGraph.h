//===- BufferGraph.h - Ops on buffers that are overwritten ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer holds values one after the other, its versions. An op that reads a
// version runs after the op that makes it and before the one that makes the
// next. Where two buffers lie in one place, what reads the one runs before what
// overwrites it through the other.
//
//   op 0 makes A, op 1 reads A, op 2 reads A and makes it anew, op 3 reads A
//   edges: 1 after 0, 2 after 0 and 1, 3 after 2
//
// Test: test/Solvers/Memory/BufferGraphTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_MEMORY_BUFFERGRAPH_H
#define LLMC_SOLVERS_MEMORY_BUFFERGRAPH_H

#include "llmc/Solvers/Memory/OpOrder.h"

namespace llmc {

struct BufferGraph {
  struct Version {
    /// -1: what the buffer holds when the ops start.
    int32_t definedBy = -1;
    std::vector<int32_t> readers;
  };
  struct Buffer {
    std::vector<Version> versions;
  };
  struct Op {
    /// Ops that must run before it, whatever the buffers say.
    std::vector<int32_t> after;
    /// Buffers that it reads or writes.
    std::vector<int32_t> touches;
    /// As of `OpOrderProblem::Op`.
    bool runsBeside = false;
  };
  struct Overwrite {
    int32_t buffer = 0, op = 0;
  };
  std::vector<Op> ops;
  std::vector<Buffer> buffers;
  /// All that reads the buffer runs before the op, which writes another one in
  /// its place.
  std::vector<Overwrite> overwrites;

  /// The op reads this version of the buffer, and runs after what makes it.
  void addRead(int32_t op, int32_t buffer, int32_t version);
  /// The op makes the next version of the buffer; returns its number.
  int32_t addWrite(int32_t op, int32_t buffer);

  bool isLatest(int32_t buffer, int32_t version) const;
  /// What reads any version of the buffer.
  std::vector<int32_t> getReaders(int32_t buffer) const;
  /// Whether nothing reads a version but the last one, and the op that makes
  /// the next: the last value could then be the only one that is ever seen.
  bool isSeenOnce(int32_t buffer) const;
  /// What each op runs after, all kinds of edges together.
  std::vector<std::vector<int32_t>> getEdges() const;
  /// True when each op runs after ops of smaller numbers only.
  bool isInOrder() const;
  /// True when `op` is one of `targets` or runs before one.
  bool reaches(int32_t op, const std::vector<int32_t> &targets) const;
};

/// Whether `op` may be put after all of `others`. Numbers tell as long as all
/// edges ascend (`BufferGraph::isInOrder`), which is no longer so after a yes
/// that they do not tell; else the graph is searched.
bool mayRunAfter(const BufferGraph &graph, int32_t op,
                 const std::vector<int32_t> &others, bool &ascends);

/// In which order to run the ops; `bytes` of each buffer, 0 for those that live
/// longer anyway.
OpOrderProblem makeOrderProblem(const BufferGraph &graph,
                                std::vector<int64_t> bytes);

} // namespace llmc

#endif // LLMC_SOLVERS_MEMORY_BUFFERGRAPH_H
