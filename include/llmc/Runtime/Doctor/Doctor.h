//===- Doctor.h - What this machine has of what llmc can use --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row for each part: what was found, what is wanted, what it is for, and what
// to do where it is missing. Nothing is started, connected or written.
//
// Tested by test/Runtime/Doctor.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_DOCTOR_DOCTOR_H
#define LLMC_RUNTIME_DOCTOR_DOCTOR_H

#include "llmc/Runtime/Base/Status.h"

#include <string>
#include <vector>

namespace llmc::rt {

struct Finding {
  std::string name;    ///< By which it is asked for: "gloo".
  std::string found;   ///< "13.1"; "" where it is not there.
  std::string wanted;  ///< "12.0 or later".
  std::string purpose; ///< "messages between processes".
  std::string hint;    ///< What to do where it does not fit.
  bool fits = false;   ///< It is there, and as it is wanted.
};

/// All parts, in a fixed order: processor, backends, messages, GPU.
std::vector<Finding> examineMachine();

/// A line for each finding, in columns, with the hint below where it does not
/// fit.
std::string printFindings(const std::vector<Finding> &findings);
/// A JSON array of objects with the fields of `Finding`.
std::string printFindingsAsJson(const std::vector<Finding> &findings);

/// Errors: 2 (no part of that name), 15 (one that does not fit), of the first.
Status checkNeeds(const std::vector<Finding> &findings,
                  const std::vector<std::string> &needs);

/// A version as its library counts it: major * `unit` + minor * `step` + patch.
std::string printVersion(int64_t version, int64_t unit, int64_t step);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DOCTOR_DOCTOR_H
