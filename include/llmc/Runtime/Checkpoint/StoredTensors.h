//===- StoredTensors.h - Tensors that lie in boxes in files -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The boxes of a checkpoint, whoever wrote them, as the tensors of the whole
// model: what a device needs is found by the numbers of its elements. A file of
// whole tensors is a set of such boxes too.
//
// Test: test/Runtime/Checkpoint/StoredTensorsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CHECKPOINT_STOREDTENSORS_H
#define LLMC_RUNTIME_CHECKPOINT_STOREDTENSORS_H

#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Runtime/Checkpoint/Manifest.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llmc::rt {

struct StoredBox {
  const Safetensors *file = nullptr;
  const SafetensorsEntry *entry = nullptr;
  std::vector<int64_t> origin;
  const std::vector<int64_t> &size() const { return entry->shape; }
};

struct StoredTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::string role;
  std::vector<StoredBox> boxes;
};

class StoredTensors {
public:
  /// Of a checkpoint's folder. Errors (3): a file that is none, boxes that do
  /// not fit the manifest's tensors or do not have all of their elements.
  static Result<StoredTensors> open(const std::string &folder,
                                    const CheckpointManifest &manifest);

  const std::map<std::string, StoredTensor> &tensors() const { return all; }
  /// Null when there is none of that name.
  const StoredTensor *find(const std::string &name) const;
  /// Gives back the memory of what was read.
  void release() const;

private:
  Status addFile(const std::string &path);

  std::vector<std::unique_ptr<Safetensors>> files;
  std::map<std::string, StoredTensor> all;
};

/// Reads elements of one tensor by their numbers, those of a row after each
/// other; memory stays bounded.
class TensorReader {
public:
  TensorReader(const StoredTensors &from, const StoredTensor &tensor)
      : from(from), tensor(tensor) {}

  /// `length` elements from `global` on, of one row of the last dim or of a
  /// tensor that lies in one box, become elements of `dtype` at `values`. A
  /// type of another kind, and an integer that does not fit, are errors (15,
  /// 3).
  Status read(int64_t global, int64_t length, DType dtype, void *values);

private:
  const StoredBox *findBox(const std::vector<int64_t> &index);
  Status convert(const uint8_t *data, int64_t length, DType dtype,
                 void *values) const;

  const StoredTensors &from;
  const StoredTensor &tensor;
  size_t last = 0;    ///< The box that was found last.
  uint64_t taken = 0; ///< Bytes since memory was given back.
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_STOREDTENSORS_H
