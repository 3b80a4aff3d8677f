//===- Forms.h - A library's fastest way to compute, measured ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library has several ways (LibraryForm) to compute one descriptor, and which
// is fastest depends on the sizes and on the processor. They are run in turns
// on a device of the backend, once; what was found is kept in a file, by which
// a plan is compiled again to the same bits.
//
// Tested by test/Runtime/Forms/FormsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_FORMS_FORMS_H
#define LLMC_RUNTIME_FORMS_FORMS_H

#include "llmc/Runtime/Comm/Backend.h"

#include <map>
#include <string>
#include <vector>

namespace llmc::rt {

/// Another form is taken where it takes less than this share of the time of
/// form 0, so that noise decides nothing.
inline constexpr double formGain = 0.97;

struct MeasuredForm {
  LibraryForm form;
  double seconds = 0; ///< The least of some runs.
};

/// Runs all forms of the descriptor in turns, each alone on the machine as far
/// as the caller can say, on a device with as many workers as threads. Operands
/// are in the caches as far as they fit. Form 0 comes first.
Result<std::vector<MeasuredForm>>
measureForms(const Backend &backend, const LibraryDescriptor &descriptor,
             int threads);

/// The fastest, where it is faster than form 0 by `formGain`. At least one.
const MeasuredForm &chooseForm(const std::vector<MeasuredForm> &measured);

/// What was measured, by machine, threads and descriptor: a file of JSON.
///
///   {"machine": "cpu AMD EPYC …", "threads": 2,
///    "call": "contraction f32 …", "form": "packed",
///    "seconds": {"as it lies": 0.0021, "packed": 0.0019}}
class FormTable {
public:
  /// Of a file that is not there: empty. Error `malformed` where it is no such
  /// table.
  static Result<FormTable> read(const std::string &path);
  Status write(const std::string &path) const;

  /// The number of the form that was found to be fastest on this machine; it is
  /// measured where nobody has, or where the library has not got it any more.
  Result<uint32_t> find(const Backend &backend,
                        const LibraryDescriptor &descriptor, int threads);

  size_t numMeasured() const { return added; } ///< By `find`.
  size_t size() const { return rows.size(); }

private:
  struct Key {
    std::string machine, call;
    int threads;
    bool operator<(const Key &other) const;
  };
  struct Row {
    std::string form;
    std::map<std::string, double> seconds;
  };
  std::map<Key, Row> rows;
  size_t added = 0;
};

/// All that tells descriptors apart, in one line.
std::string printDescriptor(const LibraryDescriptor &descriptor);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_FORMS_FORMS_H
