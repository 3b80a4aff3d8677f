//===- Ops.h - Which ops a model needs --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_OPS_H
#define LLMC_TOOLS_LLMC_OPS_H

#include "Options/Options.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

namespace llmc::driver {

/// `llmc ops`: prints the ops of a text, what llmc lacks first. Errors: 5 when
/// it lacks any, 3 for a text without ops.
rt::Status runOps(const Options &options);

/// `llmc ops --known`: prints all ops that llmc knows, with what it has of
/// each.
void printKnownOps(bool asJson);

/// Whether ops of this kind have one of the five answers.
bool hasAnswer(mlir::RegisteredOperationName op, graph::Answer answer);

/// What `llmc ops` counts: kinds of ops, and those that llmc lacks, with why.
struct OpsSummary {
  int64_t kinds = 0;
  std::vector<std::string> missing;
};
rt::Result<OpsSummary> summarizeOps(const std::string &path);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_OPS_H
