//===- Corpus.cpp - Training data as a pure function ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/CorpusTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Corpus.h"

#include "llmc/Runtime/Executor/HostTensor.h"

#include <fmt/format.h>

namespace llmc::rt {

static bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
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

Result<Corpus> Corpus::open(const std::string &path, DType dtype) {
  if (!isToken(dtype)) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected a type of tokens (u8, u16, u32, i8, "
                                 "i16, i32, i64), got {}",
                                 nameOf(dtype)))
        .withHint("a corpus is a row of tokens, which float inputs take as "
                  "numbers; other values of an input come by llmc-run "
                  "--input name=file.npy");
  }
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  uint64_t offset = 0, bytes = file.size();
  if (endsWith(path, ".npy")) {
    Result<NpyHeader> header = parseNpyHeader(file.data(), file.size());
    if (!header) {
      return header.status().at(path);
    }
    if (header->shape.size() != 1 || !isToken(header->dtype)) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected one dimension of integers, got {} "
                                   "dimensions of {}",
                                   header->shape.size(), nameOf(header->dtype)))
          .at(path);
    }
    dtype = header->dtype;
    offset = header->dataOffset;
    bytes -= offset;
  }
  if (bytes == 0) {
    return makeError(ErrorKind::malformed, "expected tokens, got an empty file")
        .at(path);
  }
  if (bytes % sizeOf(dtype) != 0) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected a multiple of {} bytes of {} "
                                 "tokens, got {}",
                                 sizeOf(dtype), nameOf(dtype), bytes))
        .at(path);
  }
  return Corpus(std::move(file), dtype, offset,
                static_cast<int64_t>(bytes / sizeOf(dtype)));
}

Status Corpus::checkWindow(int64_t length) const {
  if (length <= tokens) {
    return Status::success();
  }
  return makeError(ErrorKind::malformed,
                   fmt::format("expected at least {} tokens for one sample, "
                               "got {}",
                               length, tokens))
      .at(path());
}

void Corpus::read(int64_t from, int64_t count, DType type, void *out) const {
  const uint8_t *base = file.data() + offset;
  for (int64_t i = 0; i < count; ++i) {
    storeInteger(type, out, i, loadInteger(dtype, base, from + i));
  }
}

} // namespace llmc::rt
