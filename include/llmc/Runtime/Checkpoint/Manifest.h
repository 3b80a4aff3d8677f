//===- Manifest.h - What a checkpoint says of itself ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `manifest.json` of a checkpoint: the step, what made it, its tensors as they
// are on all devices together, and the size and checksum of each file.
//
// Test: test/Runtime/Checkpoint/ManifestTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CHECKPOINT_MANIFEST_H
#define LLMC_RUNTIME_CHECKPOINT_MANIFEST_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/Status.h"

#include <map>
#include <string>
#include <vector>

namespace llmc::rt {

/// A state of the whole model.
struct CheckpointTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  /// "parameter", "optimizer", "carried" or "constant".
  std::string role;
  /// The parameter that an optimizer state belongs to, else "".
  std::string of;
};

struct CheckpointFile {
  /// Within the checkpoint's folder.
  std::string name;
  uint64_t bytes = 0;
  /// hash64 of all of it.
  uint64_t hash = 0;
};

struct CheckpointManifest {
  /// Steps that were done: the number of the next one.
  int64_t step = 0;
  /// Steps whose samples were left out; with `step` and the seed the
  /// position in the data.
  int64_t leftOut = 0;
  std::string entry;
  uint64_t seed = 0;
  /// For the reader: "data=2,tensor=2", the hash64 of the plan's file, llmc.
  std::string mesh, plan, version;
  /// Of the last step.
  std::map<std::string, double> metrics;
  std::vector<CheckpointFile> files;
  std::vector<CheckpointTensor> tensors;
};

inline constexpr const char *manifestName = "manifest.json";

std::string printManifest(const CheckpointManifest &manifest);
/// Errors (3): no JSON, another format, a field that is missing or of another
/// kind, a file outside the folder, a checksum that does not fit.
Result<CheckpointManifest> parseManifest(const std::string &text);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_MANIFEST_H
