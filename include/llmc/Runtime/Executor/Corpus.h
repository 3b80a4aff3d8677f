//===- Corpus.h - Training data as a pure function ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A corpus is one long row of tokens: raw bytes, little-endian u16 or u32, or a
// one-dimensional .npy. A sample is a window of it. Where the window of sample
// number i begins is a pure function of (seed, i), and i of (step, microbatch,
// row): a resumed run sees the same samples, and no state is kept.
//
//   i = (step * microbatches + microbatch) * batch + row
//   position(i) = Philox(seed, "data")(i) mod (tokens - window + 1)
//   tokens  = corpus[position + 0 ...)    offset 0
//   targets = corpus[position + 1 ...)    offset 1
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_CORPUS_H
#define LLMC_RUNTIME_EXECUTOR_CORPUS_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Random.h"

#include <string>

namespace llmc::rt {

class Corpus {
public:
  /// `dtype` is that of a raw file; an .npy file has its own. Errors (3): no
  /// file, an empty one, a size that is no multiple of the element.
  static Result<Corpus> open(const std::string &path, DType dtype);

  int64_t size() const { return tokens; }
  const std::string &path() const { return file.path(); }

  /// Error (3) when no window of `length` tokens fits.
  Status checkWindow(int64_t length) const;

  /// Where the window of `length` tokens of sample `index` begins. Assumes
  /// `checkWindow(length)`.
  int64_t position(const RandomStream &stream, uint64_t index,
                   int64_t length) const {
    return static_cast<int64_t>(stream.bits(index) %
                                static_cast<uint64_t>(tokens - length + 1));
  }

  /// Elements [shift, shift + count) of the window of `length` tokens that
  /// sample `sample` of the run with `seed` is: a pure function of both.
  void readSample(uint64_t seed, uint64_t sample, int64_t length, int64_t shift,
                  int64_t count, DType type, void *out) const {
    int64_t from = position(RandomStream(seed, "data"), sample, length);
    read(from + shift, count, type, out);
  }

  /// Converts tokens [from, from + count) to `type`.
  void read(int64_t from, int64_t count, DType type, void *out) const;

private:
  Corpus(MappedFile file, DType dtype, uint64_t offset, int64_t tokens)
      : file(std::move(file)), dtype(dtype), offset(offset), tokens(tokens) {}

  MappedFile file;
  DType dtype;
  uint64_t offset;
  int64_t tokens;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_CORPUS_H
