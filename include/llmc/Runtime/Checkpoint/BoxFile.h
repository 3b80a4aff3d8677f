//===- BoxFile.h - Boxes of tensors in a safetensors file -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One process writes the boxes that its devices own. A box that is its whole
// tensor has the tensor's name, so any reader of safetensors knows it; another
// has its place in the name, and its tensor in the file's metadata:
//
//   "wte"                                   a whole tensor
//   "blocks.0.w[0:16,8:16]"                 a box, rows 0 to 15, columns 8 to
//   15
//   __metadata__ "blocks.0.w[0:16,8:16]":
//       {"tensor": "blocks.0.w", "origin": [0, 8], "shape": [16, 32]}
//
// Test: test/Runtime/Checkpoint/BoxFileTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CHECKPOINT_BOXFILE_H
#define LLMC_RUNTIME_CHECKPOINT_BOXFILE_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Checkpoint/FileCalls.h"
#include "llmc/Runtime/Checkpoint/Manifest.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llmc::rt {

/// `size` elements of a tensor from `origin` on, one number for each dim.
struct TensorBox {
  std::string tensor;
  DType dtype = DType::f32;
  std::vector<int64_t> shape; ///< Of the whole tensor.
  std::vector<int64_t> origin, size;

  bool isWhole() const { return size == shape; }
  int64_t elements() const;
};

/// What stands before the elements in a file of these boxes; `format` is what
/// its metadata says of itself. Errors: 5 (a type that safetensors do not
/// have), 15 (two boxes of one name).
Result<std::string> printBoxHeader(const std::vector<TensorBox> &boxes,
                                   const std::string &format = "llmc");

/// Writes a file of boxes from the first element to the last.
class BoxFileWriter {
public:
  virtual ~BoxFileWriter() = default;

  /// Creates the file. A thread writes what is given, and at most `limit` bytes
  /// (8 MiB where it is less) wait for it; 0: at most 16 MiB, and `close` waits
  /// until all is written.
  static Result<std::unique_ptr<BoxFileWriter>>
  create(FileCalls &calls, const std::string &path, const std::string &header,
         uint64_t limit = 0);

  virtual Status append(const void *data, size_t bytes) = 0;
  /// After the last element: from now on `isDone` may become true.
  virtual Status close() = 0;
  /// Whether all of it is written and synced, or has failed.
  virtual bool isDone() const = 0;
  /// Waits until it is done; the file's size and checksum.
  virtual Result<CheckpointFile> finish() = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CHECKPOINT_BOXFILE_H
