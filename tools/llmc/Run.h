//===- Run.h - Running, interpreting and printing plans ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_RUN_H
#define LLMC_TOOLS_LLMC_RUN_H

#include "Options/Options.h"

namespace llmc::driver {

/// `llmc train`: compiles into a temporary folder and runs.
rt::Status runTrain(Options options);
/// `llmc run`.
rt::Status runPlan(const Options &options);
/// `llmc inspect plan`.
rt::Status runInspect(const Options &options);
/// `llmc interpret`.
rt::Status runInterpret(const Options &options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_RUN_H
