//===- DataFile.h - The file of a source ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source of data, read from a mapped file: rows of equal shape and type, of
// which a step touches only those that it needs.
//
//   tokens   raw little-endian integers, or a one-dimensional .npy; a token is
//            a row without dims
//   array    an .npy or a tensor of a .safetensors file; its first dim counts
//            the rows
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_DATAFILE_H
#define LLMC_RUNTIME_EXECUTOR_DATAFILE_H

#include "llmc/Runtime/Base/DataRule.h"
#include "llmc/Runtime/Base/File.h"

#include <string>
#include <vector>

namespace llmc::rt {

class DataFile {
public:
  /// Errors: 3 (no file, another format, no rows), 2 (not a type of tokens).
  static Result<DataFile> open(const DataRule &rule, const std::string &path);

  const std::string &path() const { return file.path(); }
  const DataRule &rule() const { return dataRule; }
  DType dtype() const { return elementType; }
  int64_t rows() const { return numRows; }
  /// Of one row: empty for tokens.
  const std::vector<int64_t> &rowShape() const { return shape; }

  /// The first of `window` rows of sample `sample`; error 3 where no such
  /// window fits.
  Result<int64_t> find(uint64_t seed, uint64_t sample, int64_t window) const;

  /// Converts `count` rows from `row` on to `type`. Tokens wrap in a narrower
  /// type. Error 3 where an integer of an array is outside `type`, or a
  /// boolean neither 0 nor 1. Assumes rows within the file and
  /// `canConvert(dtype(), type)`.
  Status read(int64_t row, int64_t count, DType type, void *out) const;

private:
  DataFile(MappedFile file, DataRule rule, DType dtype, uint64_t offset,
           int64_t rows, std::vector<int64_t> shape);
  static Result<DataFile> openTokens(MappedFile file, const DataRule &rule);
  static Result<DataFile> openArray(MappedFile file, const DataRule &rule);
  Status readArray(int64_t first, int64_t count, DType type, void *out) const;

  MappedFile file;
  DataRule dataRule;
  DType elementType;
  /// Of the first row in the file, in bytes.
  uint64_t offset;
  int64_t numRows, rowElements;
  std::vector<int64_t> shape;
};

/// Whether values of an array of type `from` can be an input of type `to`:
/// floats round, integers must fit, booleans are 0 and 1 and come from booleans
/// alone; no float becomes an integer.
bool canConvert(DType from, DType to);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_DATAFILE_H
