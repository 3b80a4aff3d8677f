//===- Attention.h - Attention on CPU ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention is cut into pieces: blocks of rows of a batch forward, batches
// of the gradient. Each ticket has a run of pieces of nearly equal work, and
// tiles of its own in the workspace; no matrix of rows by columns is stored.
//
// A gradient of fewer batches than threads is cut into blocks of rows, which
// make dq, and blocks of columns, which make dk and dv: scores are computed
// twice, but by all threads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTION_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTION_H

#include "../LibraryOp.h"

#include <vector>

namespace llmc::rt::cpu {

/// An attention with its indices by kind. Of a gradient `group` has the batch
/// indices that dk and dv are summed over, and `batch` the others.
struct AttentionSizes {
  AttentionShape shape;
  std::vector<AttentionIndex> batch, group;
  AttentionIndex row, column, depth, value;
  int64_t batches = 1, groups = 1;
  int64_t blockRows = 0; ///< Of a piece.
};

/// The addresses of a call by role; null where there is no such operand.
struct AttentionBuffers {
  const void *q, *k, *v, *bias, *offset, *state;
  void *out, *logsumexp; ///< Of a gradient, out is the cotangent.
  const void *delta;
  void *dq, *dk, *dv;
};

/// Forward, rows from `begin` to `end` of a batch. Of a gradient a whole batch,
/// or dq of some rows, or dk and dv of some columns.
struct AttentionPiece {
  enum class Kind : uint8_t { rows, columns, whole };
  Kind kind = Kind::rows;
  int64_t batch = 0, begin = 0, end = 0;
};

/// What a ticket has packed of the keys and values of a batch: pieces that
/// follow one another mostly have the same. The numbers say where they begin.
struct AttentionPacked {
  int64_t k = -1, v = -1;
  int64_t columns = 0;
};

/// The tiles of a ticket and what is done in them; has no state of a call.
class AttentionTask {
public:
  virtual ~AttentionTask() = default;
  virtual uint64_t workspaceBytes() const = 0;
  virtual void run(const AttentionBuffers &buffers, void *workspace,
                   const AttentionPiece &piece,
                   AttentionPacked &packed) const = 0;
};

/// In the type of the sums.
std::unique_ptr<AttentionTask> makeForwardTask(const AttentionSizes &sizes);
std::unique_ptr<AttentionTask> makeGradientTask(const AttentionSizes &sizes);

Result<std::unique_ptr<CpuLibraryOp>> makeAttention(const AttentionShape &shape,
                                                    const std::string &name,
                                                    int threads);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTION_H
