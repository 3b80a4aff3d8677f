//===- RunReport.h - What a run says before and after its steps -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Executor/RunLoopTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_RUNREPORT_H
#define LLMC_LIB_RUNTIME_EXECUTOR_RUNREPORT_H

#include "StepLine.h"

#include <cstdio>
#include <string>

namespace llmc::rt::exec {

/// Memory of each stage by kind, and what its devices communicate in a step of
/// the entry of that name.
void printPrediction(const plan::Plan &plan, const std::string &entry,
                     std::FILE *out);
/// Predicted against measured: the memory of all devices, the time of a step.
void printResult(const Session &session, const plan::Entry &entry,
                 const StepTimes &times, std::FILE *out);

/// Of the fullest device, with its share of `machine.memory`, or of the memory
/// that there is: "36.90GiB(26.5%)".
std::string memoryText(const Session &session);

/// The folders of values and of traces are there, and can be written; makes
/// that of values. Error: 2.
Status checkPlaces(const RunOptions &options);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_RUNREPORT_H
