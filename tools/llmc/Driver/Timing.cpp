//===- Timing.cpp - What each part of a compilation takes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/resource.h>

using namespace llmc::driver;

static rusage getUsage() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

static double toSeconds(const timeval &time) {
  return static_cast<double>(time.tv_sec) +
         1e-6 * static_cast<double>(time.tv_usec);
}

static double getProcessorTime(const rusage &usage) {
  return toSeconds(usage.ru_utime) + toSeconds(usage.ru_stime);
}

Stopwatch::Stopwatch(bool isEnabled) : isEnabled(isEnabled) {
  if (isEnabled)
    last = getProcessorTime(getUsage());
}

void Stopwatch::lap(const llvm::Twine &what) {
  if (!isEnabled)
    return;
  rusage usage = getUsage();
  double now = getProcessorTime(usage);
  // Linux gives the peak in units of 1,024 bytes.
  llvm::errs() << llvm::format("%9.3f s %6ld MB  ", now - last,
                               usage.ru_maxrss / 1024)
               << what << "\n";
  last = now;
}

namespace {
class PassTimes : public mlir::PassInstrumentation {
public:
  explicit PassTimes(llvm::StringRef phase) : phase(phase), watch(true) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override {
    if (!pass->getArgument().empty())
      watch.lap(phase + " " + pass->getArgument());
  }

private:
  std::string phase;
  Stopwatch watch;
};
} // namespace

std::unique_ptr<mlir::PassInstrumentation>
llmc::driver::makePassTimes(llvm::StringRef phase) {
  return std::make_unique<PassTimes>(phase);
}
