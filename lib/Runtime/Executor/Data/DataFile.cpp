//===- DataFile.cpp - A file of a source ----------------------------------===//
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

#include <algorithm>
#include <cmath>
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

DataFile::DataFile(MappedFile file, DataKind kind, DType dtype, uint64_t offset,
                   int64_t rows, std::vector<int64_t> shape, int numParts)
    : file(std::move(file)), kind(kind), elementType(dtype), numParts(numParts),
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
  return isTokens(rule.kind) ? openTokens(std::move(file), rule)
                             : openArray(std::move(file), rule);
}

Result<DataFile> DataFile::openTokens(MappedFile file, const DataRule &rule) {
  std::string path = file.path();
  uint64_t offset = 0, bytes = file.size();
  bool isText = rule.kind == DataKind::text;
  DType dtype = isText ? DType::u8 : rule.dtype;
  if (!isText && endsWith(path, ".npy")) {
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
    return makeError(ErrorKind::malformed,
                     fmt::format("expected a multiple of {} bytes of {} "
                                 "tokens, got {}",
                                 sizeOf(dtype), nameOf(dtype), bytes))
        .at(path, offset + bytes / sizeOf(dtype) * sizeOf(dtype));
  }
  return DataFile(std::move(file), rule.kind, dtype, offset,
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
  return NpyHeader{entry.dtype, entry.shape, contents->second + entry.begin,
                   entry.isComplex};
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
  std::vector<int64_t> shape(header->shape.begin(),
                             header->shape.end() - header->isComplex);
  if (shape.empty() || shape[0] == 0) {
    return malformed(fmt::format("expected an array of rows, got shape [{}]",
                                 fmt::join(shape, ", ")),
                     path);
  }
  std::vector<int64_t> row(shape.begin() + 1, shape.end());
  return DataFile(std::move(file), rule.kind, header->dtype, header->dataOffset,
                  shape[0], std::move(row), header->isComplex ? 2 : 1);
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

/// The first of `count` floats that is NaN or infinite, or -1.
static int64_t findNotFinite(DType type, const void *values, int64_t count) {
  auto scan = [&](auto mask) {
    const auto *bits = static_cast<const decltype(mask) *>(values);
    for (int64_t i = 0; i < count; ++i) {
      if ((bits[i] & mask) == mask) {
        return i;
      }
    }
    return int64_t(-1);
  };
  switch (type) {
  case DType::f64:
    return scan(uint64_t(0x7ff0) << 48);
  case DType::f32:
    return scan(uint32_t(0x7f80) << 16);
  case DType::bf16:
    return scan(uint16_t(0x7f80));
  case DType::f16:
    return scan(uint16_t(0x7c00));
  default:
    break;
  }
  for (int64_t i = 0; i < count && isFloat(type); ++i) {
    if (!std::isfinite(loadElement(type, values, i))) {
      return i;
    }
  }
  return -1;
}

Status DataFile::refuse(int64_t element, const std::string &expected,
                        const std::string &found) const {
  return makeError(ErrorKind::malformed,
                   fmt::format("expected {} at {} {}, got {}", expected,
                               isTokens(kind) ? "token" : "row",
                               element / rowElements, found))
      .at(path(), offset + static_cast<uint64_t>(element) *
                               static_cast<uint64_t>(elementBytes()));
}

/// `raw` has integers, the elements from `first` on.
Status DataFile::convertIntegers(const std::byte *raw, int64_t first,
                                 int64_t count, const RowUse &use,
                                 void *out) const {
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = loadInteger(elementType, raw, i);
    bool isBig = elementType == DType::u64 && value < 0;
    bool isTooBig = use.limit > 0 && (isBig || value >= use.limit);
    if (isTooBig || (!isTokens(kind) && !isFloat(use.type) &&
                     !fits(elementType, use.type, value))) {
      std::string found = isBig
                              ? fmt::format("{}", static_cast<uint64_t>(value))
                              : fmt::format("{}", value);
      return isTooBig
                 ? refuse(first + i, fmt::format("numbers below {}", use.limit),
                          found)
                       .withHint("the model has no rows or classes for others")
                 : refuse(first + i,
                          fmt::format("values of {}", nameOf(use.type)), found);
    }
    isFloat(use.type)
        ? storeElement(use.type, out, i, loadElement(elementType, raw, i))
        : storeInteger(use.type, out, i, value);
  }
  return Status::success();
}

/// `raw` has the elements from `first` on; `out` gets them.
Status DataFile::convert(const std::byte *raw, int64_t first, int64_t count,
                         const RowUse &use, void *out) const {
  for (int64_t i = 0; elementType == DType::i1 && i < count; ++i) {
    if (auto value = std::to_integer<int>(raw[i]); value > 1) {
      return refuse(first + i, fmt::format("values of {}", nameOf(use.type)),
                    fmt::format("a boolean of {}", value));
    }
  }
  if (elementType == use.type) {
    std::memcpy(out, raw, static_cast<size_t>(count * sizeOf(use.type)));
  }
  if (!isFloat(elementType)) {
    return elementType == use.type && use.limit == 0
               ? Status::success()
               : convertIntegers(raw, first, count, use, out);
  }
  for (int64_t i = 0; elementType != use.type && i < count; ++i) {
    storeElement(use.type, out, i, loadElement(elementType, raw, i));
  }
  int64_t bad = use.finite ? findNotFinite(use.type, out, count) : -1;
  return bad < 0
             ? Status::success()
             : refuse(first + bad,
                      fmt::format("finite values of {}", nameOf(use.type)),
                      fmt::format("{}", loadElement(elementType, raw, bad)))
                   .withHint("with finite = false its source may have them");
}

/// Moves one part of each of `count` pairs to the front.
static void takeParts(std::byte *raw, int64_t count, int64_t bytes, int part) {
  for (int64_t i = 0; i < count; ++i) {
    std::memmove(raw + i * bytes, raw + (2 * i + part) * bytes,
                 static_cast<size_t>(bytes));
  }
}

Status DataFile::read(int64_t row, int64_t count, const RowUse &use,
                      void *out) const {
  alignas(64) std::byte raw[32768];
  const int64_t bytes = elementBytes(), elements = count * rowElements;
  const int64_t most = static_cast<int64_t>(sizeof(raw)) / bytes;
  for (int64_t done = 0; done < elements; done += most) {
    int64_t first = row * rowElements + done;
    int64_t block = std::min(most, elements - done);
    LLMC_TRY(file.copy(offset + static_cast<uint64_t>(first * bytes),
                       static_cast<uint64_t>(block * bytes), raw));
    if (isComplex()) {
      takeParts(raw, block, sizeOf(elementType), use.part);
    }
    LLMC_TRY(convert(raw, first, block, use,
                     static_cast<std::byte *>(out) + done * sizeOf(use.type)));
  }
  return Status::success();
}

} // namespace llmc::rt
