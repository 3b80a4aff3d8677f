//===- Remarks.h - What passes say of their decisions -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes emit a remark for each decision: what is gathered, replicated, padded
// or computed again, with its place and its bytes. Here they are collected, in
// the order of the passes and of the text. `llmc compile --remarks=<file>`
// writes those of categories `costs` and `hints`, one on each line:
//
//     model.py:31:7: gather: 'w' is gathered over {"data"} ...
//
// `llmc explain` sorts all of them (Explain.h), `--strict` makes an error of
// some (Strict.h).
//
// Test: test/Tools/llmc/remarks.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_REMARKS_H
#define LLMC_TOOLS_LLMC_REMARKS_H

#include "llmc/Runtime/Base/Status.h"
#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace llmc::driver {

/// One remark; equal ones of several blocks are one, with `times`.
struct Remark {
  /// "costs", "hints", "layouts", "memory", "kernels", "origins",
  /// "training".
  std::string category;
  /// "gather", "conflict", "Recompute", ...
  std::string name;
  /// As `describeLocation` has it.
  std::string place;
  std::string text;
  int64_t times = 1;
};

/// What a user is told by default, what `explain` reads beside it, what it
/// reads of single values beside all that, and what phase 1 found.
enum class RemarkKinds { None, Costs, All, Values, Training };

/// Collects remarks from here on; what is emitted before is lost.
class Remarks {
public:
  /// With `None` nobody listens, and passes make no text.
  Remarks(mlir::MLIRContext &context, RemarkKinds kinds);

  const std::vector<Remark> &list() const { return all; }
  /// Those of categories `costs` and `hints` as lines.
  rt::Status write(const std::string &path) const;

private:
  std::vector<Remark> all;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_REMARKS_H
