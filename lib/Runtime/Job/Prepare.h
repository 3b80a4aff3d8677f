//===- Prepare.h - What a launcher does before a start ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With how many processes a job goes on, and the command that makes what they
// run: a plan for as many.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_JOB_PREPARE_H
#define LLMC_LIB_RUNTIME_JOB_PREPARE_H

#include "llmc/Runtime/Job/Launch.h"

namespace llmc::rt::job {

/// Errors (2): several nodes, or a number that is not below all before it.
Status checkFewer(const LaunchOptions &options);
/// The processes that are left for a restart of `processes`, of which `lost`
/// are gone; 0: none of the numbers fits.
int processesLeft(const LaunchOptions &options, int processes, int lost);
/// The options of a start with that many: each `{n}` of the command is the
/// number.
LaunchOptions withProcesses(const LaunchOptions &options, int processes);
/// Runs `options.prepare` by the shell, to its end. A signal from outside goes
/// to it.
LaunchResult prepare(const LaunchOptions &options);

} // namespace llmc::rt::job

#endif // LLMC_LIB_RUNTIME_JOB_PREPARE_H
