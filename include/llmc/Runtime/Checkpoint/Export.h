//===- Export.h - A checkpoint as one file of weights -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of the whole model, with their names and shapes, in one
// safetensors file, which PyTorch and JAX load.
//
// Tested by test/EndToEnd/export.test.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CHECKPOINT_EXPORT_H
#define LLMC_RUNTIME_CHECKPOINT_EXPORT_H

#include "llmc/Runtime/Checkpoint/FileCalls.h"

#include <string>

namespace llmc::rt {

struct Exported {
  std::string checkpoint;
  int64_t step = 0;
  size_t tensors = 0;
  uint64_t bytes = 0;
};

/// What of a checkpoint is written.
enum class ExportedStates {
  /// Parameters, running statistics and constants.
  model,
  /// The same, with the average of each parameter in its place, where the run
  /// kept averages.
  averages,
  /// Optimizer states and what is llmc's own too.
  all
};

/// Of a checkpoint, or of the newest whole one in a folder of them. The file
/// appears whole or not at all. Errors: 14, 3; 2 (averages that are not there).
Result<Exported> exportCheckpoint(const std::string &checkpointOrFolder,
                                  const std::string &path,
                                  ExportedStates states);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_EXPORT_H
