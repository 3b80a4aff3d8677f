//===- ForkDriver.h - Many inputs, a process for each -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries inputs that a subject makes from a seed. The program is loaded once;
// each input is made and tried in a fork of it, so that a crash ends nothing
// else and each input meets the same process. A child ends with the exit code
// of what it said (docs/errors.md). A fault is a signal, a sanitizer's report,
// an error of ours (70), a code that no error has, more than five seconds of
// processor time (or of waiting), or more memory than a limit.
//
// Inputs that fail are kept in a folder as <name>-<seed>-<index>, and what the
// child printed beside them; texts are first shortened by whole lines.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_FUZZ_FORKDRIVER_H
#define LLMC_TEST_FUZZ_FORKDRIVER_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

class FuzzSubject {
public:
  virtual ~FuzzSubject() = default;
  /// Of the inputs in reports and file names.
  virtual std::string name() const = 0;
  /// Input `index`, a pure function of it and the seed.
  virtual std::string make(uint64_t seed, int64_t index) const = 0;
  /// Tries an input with files in `folder`, which is the child's own; the exit
  /// code. `index` chooses how it is tried.
  virtual int run(const std::string &input, int64_t index,
                  const std::string &folder) const = 0;
  /// Lines may be left out to shorten an input.
  virtual bool isText() const { return false; }
};

struct FuzzOptions {
  uint64_t seed = 1;
  int64_t first = 0, count = 100;
  /// Children at a time.
  int jobs = 1;
  /// Of processor time.
  int seconds = 5;
  int64_t megabytes = 2048;
  /// Of faults and of the children's files.
  std::string folder = "fuzz";
  /// An input to try in place of those of the seed.
  std::string one;
  /// What is left of the command line.
  std::vector<std::string> rest;
};

/// Reads --seed, --first, --count, --jobs, --seconds, --megabytes, --folder and
/// --one, each with its value.
FuzzOptions readFuzzOptions(int argc, char **argv);

/// Tries all inputs, prints each fault and then a line of counts. Returns the
/// exit status: 0 when there was no fault.
int fuzz(const FuzzSubject &subject, const FuzzOptions &options);

} // namespace llmc::test

#endif // LLMC_TEST_FUZZ_FORKDRIVER_H
