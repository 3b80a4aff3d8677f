//===- TemporaryFolder.h - A folder for the time of a run -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_TEMPORARYFOLDER_H
#define LLMC_TOOLS_LLMC_TEMPORARYFOLDER_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Base/StopSignals.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

namespace llmc::driver {

/// A folder that goes when this goes, and when a signal ends the process.
class TemporaryFolder {
public:
  rt::Status make() {
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("llmc", path))
      return rt::makeError(rt::ErrorKind::usage,
                           "cannot make a temporary folder: " + code.message());
    rt::StopSignals::setCleanup(
        [path = path] { (void)llvm::sys::fs::remove_directories(path); });
    return rt::Status::success();
  }
  ~TemporaryFolder() { remove(); }
  void remove() {
    rt::StopSignals::setCleanup({});
    if (!path.empty())
      (void)llvm::sys::fs::remove_directories(path);
    path.clear();
  }
  std::string getPath() const { return std::string(path); }

private:
  llvm::SmallString<128> path;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_TEMPORARYFOLDER_H
