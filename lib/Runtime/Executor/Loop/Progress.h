//===- Progress.h - A line that is drawn anew -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a terminal a run shows one line, which each step draws again:
//
//   ━━━━━━━━────────  step 120/200  loss 4.1873  norm 0.87  lr 3.0e-04
//   tps 512,004  mfu 44.2%  comm 3.1%  mem 36.9GiB(26.5%)  left 1:22:03
//
// (one line). What does not fit is left out, the least important first; a line
// that a narrower window has broken is taken away as a whole.
//
// Test: test/Runtime/Executor/ProgressTest.cpp, test/EndToEnd/progress.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_PROGRESS_H
#define LLMC_LIB_RUNTIME_EXECUTOR_PROGRESS_H

#include "StepLine.h"

#include <chrono>
#include <cstdio>
#include <string>

namespace llmc::rt::exec {

/// How a terminal shows text.
struct TerminalStyle {
  size_t columns = 80;
  bool hasColour = false;
  /// Its characters are UTF-8.
  bool hasLines = false;
};

/// The line without its end, at most as wide as the terminal; and its columns.
struct ProgressText {
  std::string text;
  size_t columns = 0;
};
ProgressText printProgress(const Session &session, const StepWork &work,
                           const StepFacts &facts, const TerminalStyle &style);

class Progress {
public:
  /// Shows something where `out` is a terminal that moves its cursor. Colour
  /// but with NO_COLOR.
  explicit Progress(std::FILE *out);
  ~Progress() { finish(); }
  Progress(const Progress &) = delete;

  bool isShown() const { return shown; }
  /// At most ten times a second, and the last step.
  void draw(const Session &session, const StepWork &work,
            const StepFacts &facts);
  /// Before something else is printed: takes the line away.
  void clear();
  /// The last line stays, and what follows begins on the next one.
  void finish();

private:
  std::string eraser() const;

  std::FILE *out;
  bool shown = false;
  TerminalStyle style;
  size_t drawn = 0; ///< Columns of the line that stands there.
  std::string last; ///< Drawn again by `finish`.
  std::chrono::steady_clock::time_point when;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_PROGRESS_H
