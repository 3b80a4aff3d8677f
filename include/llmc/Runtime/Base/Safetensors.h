//===- Safetensors.h - Named tensors in a file ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The safetensors format: a 64-bit header length, a JSON header, then the
// elements of all tensors side by side.
//
//   {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//
// A file is untrusted: the header is bounded, keys occur once, offsets are
// plain integers, and the tensors cover the data exactly, without holes or
// overlaps. Element types that we lack are refused, never reinterpreted; C64 is
// F32 with a last dim of its two parts.
//
// Test: test/Runtime/Base/SafetensorsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_SAFETENSORS_H
#define LLMC_RUNTIME_BASE_SAFETENSORS_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/File.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::rt {

struct SafetensorsEntry {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  /// From the beginning of the data, in bytes.
  uint64_t begin = 0, end = 0;
  /// The last dim of the shape, of size 2, counts real and imaginary part.
  bool isComplex = false;
};

/// A mapped file with its table of contents.
class Safetensors {
public:
  /// Error `malformed` with the file.
  static Result<Safetensors> open(const std::string &path);

  const std::map<std::string, SafetensorsEntry> &entries() const {
    return entries_;
  }
  /// Null when there is none of that name.
  const SafetensorsEntry *find(const std::string &name) const;
  const uint8_t *data(const SafetensorsEntry &entry) const {
    return file_.data() + dataOffset_ + entry.begin;
  }
  /// The entry's first byte, from the beginning of the file.
  uint64_t offset(const SafetensorsEntry &entry) const {
    return dataOffset_ + entry.begin;
  }
  const std::string &path() const { return file_.path(); }
  /// Texts beside the tensors, by key.
  const std::map<std::string, std::string> &metadata() const {
    return metadata_;
  }
  /// Gives back the memory of what was read.
  void release() const { file_.release(); }

private:
  Safetensors(MappedFile file, uint64_t dataOffset,
              std::map<std::string, SafetensorsEntry> entries,
              std::map<std::string, std::string> metadata)
      : file_(std::move(file)), dataOffset_(dataOffset),
        entries_(std::move(entries)), metadata_(std::move(metadata)) {}

  MappedFile file_;
  uint64_t dataOffset_;
  std::map<std::string, SafetensorsEntry> entries_;
  std::map<std::string, std::string> metadata_;
};

/// The table of contents in `bytes`, and where the data begins; `metadata`
/// gets the texts beside the tensors.
Result<std::pair<std::map<std::string, SafetensorsEntry>, uint64_t>>
parseSafetensorsHeader(const uint8_t *bytes, uint64_t size,
                       std::map<std::string, std::string> *metadata = nullptr);

/// A tensor to be written; `data` holds its row-major elements.
struct SafetensorsItem {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::string_view data;
  bool isComplex = false;
};

/// What stands before the data of these tensors, whose spans are set: the
/// length and the header. Error (5): a type that safetensors do not have.
Result<std::string> printSafetensorsHeader(
    const std::vector<std::pair<std::string, SafetensorsEntry>> &entries,
    const std::map<std::string, std::string> &metadata = {});

/// Writes the file atomically. Names are unique.
Status writeSafetensors(const std::vector<SafetensorsItem> &items,
                        const std::string &path);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_SAFETENSORS_H
