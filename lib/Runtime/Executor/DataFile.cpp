//===- DataFile.cpp - The file of a source --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/DataFileTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/DataFile.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Runtime/Executor/HostTensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <numeric>

namespace llmc::rt {

static bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

static Status malformed(std::string message, const std::string &path) {
  return makeError(ErrorKind::malformed, std::move(message)).at(path);
}

/// Whether elements of this type are numbers of tokens.
static bool isToken(DType dtype) {
  for (DType each : {DType::u8, DType::u16, DType::u32, DType::i8, DType::i16,
                     DType::i32, DType::i64}) {
    if (dtype == each) {
      return true;
    }
  }
  return false;
}

bool canConvert(DType from, DType to) {
  if (to == DType::i1) {
    return from == DType::i1;
  }
  return isFloat(to) || !isFloat(from);
}

DataFile::DataFile(MappedFile file, DataRule rule, DType dtype, uint64_t offset,
                   int64_t rows, std::vector<int64_t> shape)
    : file(std::move(file)), dataRule(std::move(rule)), elementType(dtype),
      offset(offset), numRows(rows),
      rowElements(std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                  std::multiplies<>())),
      shape(std::move(shape)) {}

Result<DataFile> DataFile::open(const DataRule &rule, const std::string &path) {
  if (rule.kind == DataKind::tokens && !isToken(rule.dtype)) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected a type of tokens (u8, u16, u32, i8, "
                                 "i16, i32, i64), got {}",
                                 nameOf(rule.dtype)))
        .withHint("a source of kind = \"array\" has the types of .npy and "
                  ".safetensors files");
  }
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  return rule.kind == DataKind::tokens ? openTokens(std::move(file), rule)
                                       : openArray(std::move(file), rule);
}

Result<DataFile> DataFile::openTokens(MappedFile file, const DataRule &rule) {
  std::string path = file.path();
  uint64_t offset = 0, bytes = file.size();
  DType dtype = rule.dtype;
  if (endsWith(path, ".npy")) {
    Result<NpyHeader> header = parseNpyHeader(file.data(), file.size());
    if (!header) {
      return header.status().at(path);
    }
    if (header->shape.size() != 1 || !isToken(header->dtype)) {
      return malformed(
                 fmt::format("expected tokens, one dimension of integers, "
                             "got {} dimensions of {}",
                             header->shape.size(), nameOf(header->dtype)),
                 path)
          .withHint("a source of rows of any type is kind = \"array\"");
    }
    dtype = header->dtype;
    offset = header->dataOffset;
    bytes -= offset;
  }
  if (bytes == 0) {
    return malformed("expected tokens, got an empty file", path);
  }
  if (bytes % sizeOf(dtype) != 0) {
    return malformed(fmt::format("expected a multiple of {} bytes of {} "
                                 "tokens, got {}",
                                 sizeOf(dtype), nameOf(dtype), bytes),
                     path);
  }
  return DataFile(std::move(file), rule, dtype, offset,
                  static_cast<int64_t>(bytes / sizeOf(dtype)), {});
}

/// The tensor of the file that the rule names, with its place in the file.
static Result<NpyHeader> findTensor(const MappedFile &file,
                                    const DataRule &rule) {
  auto contents = parseSafetensorsHeader(file.data(), file.size());
  if (!contents) {
    return contents.status();
  }
  auto found = contents->first.find(rule.tensor);
  if (found == contents->first.end()) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected a tensor '{}', got {} of other "
                                 "names",
                                 escape(rule.tensor, 60),
                                 contents->first.size()));
  }
  const SafetensorsEntry &entry = found->second;
  return NpyHeader{entry.dtype, entry.shape, contents->second + entry.begin};
}

Result<DataFile> DataFile::openArray(MappedFile file, const DataRule &rule) {
  std::string path = file.path();
  bool isNpy = endsWith(path, ".npy");
  if (!isNpy && !endsWith(path, ".safetensors")) {
    return malformed("expected an array in an .npy or .safetensors file, got "
                     "another suffix",
                     path);
  }
  Result<NpyHeader> header =
      isNpy ? parseNpyHeader(file.data(), file.size()) : findTensor(file, rule);
  if (!header) {
    return header.status().at(path);
  }
  if (header->shape.empty() || header->shape[0] == 0) {
    return malformed(fmt::format("expected an array of rows, got shape [{}]",
                                 fmt::join(header->shape, ", ")),
                     path);
  }
  std::vector<int64_t> row(header->shape.begin() + 1, header->shape.end());
  return DataFile(std::move(file), rule, header->dtype, header->dataOffset,
                  header->shape[0], std::move(row));
}

Result<int64_t> DataFile::find(uint64_t seed, uint64_t sample,
                               int64_t window) const {
  if (window > numRows) {
    return malformed(
        fmt::format("expected at least {} {} for one sample, got {}", window,
                    dataRule.kind == DataKind::tokens ? "tokens" : "rows",
                    numRows),
        path());
  }
  return findSample(dataRule, seed, sample, numRows, window);
}

Status DataFile::read(int64_t row, int64_t count, DType type, void *out) const {
  int64_t first = row * rowElements, elements = count * rowElements;
  if (dataRule.kind == DataKind::array) {
    return readArray(first, elements, type, out);
  }
  const uint8_t *base = file.data() + offset;
  for (int64_t i = 0; i < elements; ++i) {
    storeInteger(type, out, i, loadInteger(elementType, base, first + i));
  }
  return Status::success();
}

/// Whether `value`, loaded as an integer of type `from`, is one of type `to`.
static bool fits(DType from, DType to, int64_t value) {
  // Beyond 2^63 an u64 is loaded as a negative number.
  if (value < 0 && (from == DType::u64) != (to == DType::u64)) {
    return false;
  }
  std::byte cell[8] = {};
  storeInteger(to, cell, 0, value);
  return loadInteger(to, cell, 0) == value;
}

Status DataFile::readArray(int64_t first, int64_t count, DType type,
                           void *out) const {
  const uint8_t *base = file.data() + offset;
  auto refuse = [&](int64_t i, const std::string &value) {
    return malformed(fmt::format("expected values of {} at row {}, got {}",
                                 nameOf(type), (first + i) / rowElements,
                                 value),
                     path());
  };
  if (elementType == DType::i1) {
    for (int64_t i = 0; i < count; ++i) {
      if (base[first + i] > 1) {
        return refuse(i, fmt::format("a boolean of {}", base[first + i]));
      }
    }
  }
  if (elementType == type) {
    std::memcpy(out, base + first * sizeOf(type),
                static_cast<size_t>(count * sizeOf(type)));
    return Status::success();
  }
  for (int64_t i = 0; i < count; ++i) {
    if (isFloat(type)) {
      storeElement(type, out, i, loadElement(elementType, base, first + i));
      continue;
    }
    int64_t value = loadInteger(elementType, base, first + i);
    if (!fits(elementType, type, value)) {
      return refuse(i, elementType == DType::u64
                           ? fmt::format("{}", static_cast<uint64_t>(value))
                           : fmt::format("{}", value));
    }
    storeInteger(type, out, i, value);
  }
  return Status::success();
}

} // namespace llmc::rt
