//===- DataSet.h - The files of a source ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All files of a source. They come as patterns, a file or a glob each, whose
// matches are sorted. With weights each pattern is a part, from which as many
// samples are taken as its weight says; without, all are one part:
//
//   {"web/*.bin", "books.bin"}, weights 3 and 1
//     -> part 0: web/0.bin, web/1.bin, ...; part 1: books.bin
//
// Files of an array are one after the other, and equal in the shape and the
// type of their rows.
//
// Tested by test/Runtime/Executor/DataSetTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_DATASET_H
#define LLMC_RUNTIME_EXECUTOR_DATASET_H

#include "llmc/Runtime/Base/SampleOrder.h"
#include "llmc/Runtime/Executor/DataFile.h"

#include <atomic>
#include <memory>

namespace llmc::rt {

class DataSet {
public:
  /// Errors: 2 (another number of patterns than of weights), 3 (a glob that
  /// nothing matches, unequal rows, `DataFile::open`).
  static Result<DataSet> open(const DataRule &rule,
                              const std::vector<std::string> &patterns);

  const DataRule &rule() const { return dataRule; }
  /// Of an array, all of whose files have this.
  const DataFile &first() const { return parts[0][0]; }
  /// Of each file of each part.
  RowsOfFiles rows() const;
  const std::string &path(size_t part, size_t file) const {
    return parts[part][file].path();
  }

  /// As `DataFile::read`: `count` rows, of which the first lies `offset` rows
  /// after `place`. Those of an array go on in its next file.
  Status read(const SamplePlace &place, int64_t offset, int64_t count,
              const RowUse &use, void *out) const;
  /// That `read` has taken from files, in all threads.
  uint64_t bytesRead() const { return *bytes; }

private:
  explicit DataSet(DataRule rule) : dataRule(std::move(rule)) {}
  Status add(const std::string &pattern, std::vector<DataFile> &part);
  Status compare(const DataFile &file) const;

  DataRule dataRule;
  std::vector<std::vector<DataFile>> parts;
  std::unique_ptr<std::atomic<uint64_t>> bytes =
      std::make_unique<std::atomic<uint64_t>>(0);
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_DATASET_H
