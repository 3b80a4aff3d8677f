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

/// Of a checkpoint, or of the newest whole one in a folder of them. Optimizer
/// states, and what is llmc's own, are left out unless `everything` is wanted.
/// The file appears whole or not at all. Errors: 14, 3.
Result<Exported> exportCheckpoint(const std::string &checkpointOrFolder,
                                  const std::string &path, bool everything);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_EXPORT_H
