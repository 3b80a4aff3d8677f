//===- DataFile.h - A file of a source ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of a source, mapped: rows of equal shape and type, of which a step
// touches only those that it needs.
//
//   tokens   raw little-endian integers, or a one-dimensional .npy; a token is
//            a row without dims
//   text     any file: its bytes are tokens
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

/// What a row must be for an input.
struct RowUse {
  DType type = DType::f32;
  /// Integers are below it; 0: any.
  int64_t limit = 0;
  /// Floats are finite, also as `type`.
  bool finite = false;
  /// Of complex elements: 0 takes the real part, 1 the imaginary one.
  int part = 0;
};

class DataFile {
public:
  /// Errors: 3 (no file, another format, no rows), 2 (not a type of tokens).
  static Result<DataFile> open(const DataRule &rule, const std::string &path);

  const std::string &path() const { return file.path(); }
  /// Of an element, or of each part of a complex one.
  DType dtype() const { return elementType; }
  bool isComplex() const { return numParts > 1; }
  int64_t rows() const { return numRows; }
  /// Of one row: empty for tokens.
  const std::vector<int64_t> &rowShape() const { return shape; }
  int64_t numRowElements() const { return rowElements; }
  int64_t rowBytes() const { return rowElements * elementBytes(); }

  /// Converts `count` rows from `row` on. Tokens wrap in a narrower type. Error
  /// 3 with the byte of the file where an integer of an array is outside the
  /// type, a boolean neither 0 nor 1, a value not as `use` says, or the file
  /// has another size than before. Assumes rows within the file and
  /// `canConvert(dtype(), use.type)`. Allocates nothing.
  Status read(int64_t row, int64_t count, const RowUse &use, void *out) const;

private:
  DataFile(MappedFile file, DataKind kind, DType dtype, uint64_t offset,
           int64_t rows, std::vector<int64_t> shape, int numParts = 1);
  static Result<DataFile> openTokens(MappedFile file, const DataRule &rule);
  static Result<DataFile> openArray(MappedFile file, const DataRule &rule);
  int64_t elementBytes() const { return numParts * sizeOf(elementType); }
  Status convert(const std::byte *raw, int64_t first, int64_t count,
                 const RowUse &use, void *out) const;
  Status convertIntegers(const std::byte *raw, int64_t first, int64_t count,
                         const RowUse &use, void *out) const;
  Status refuse(int64_t element, const std::string &expected,
                const std::string &found) const;

  MappedFile file;
  DataKind kind;
  DType elementType;
  int numParts;
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
