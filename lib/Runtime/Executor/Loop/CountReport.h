//===- CountReport.h - What a run counted, beside what its plan says ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   counted on stage 0: 24 all_reduce over tensor, 18874368 B
//   counted on all devices: 16 transfers, 512 B
//   counted in flight on each stage: 2, 1
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_COUNTREPORT_H
#define LLMC_LIB_RUNTIME_EXECUTOR_COUNTREPORT_H

#include "llmc/Runtime/Executor/Session.h"

#include <cstdio>

namespace llmc::rt {

/// Prints what the communicators counted in `steps` steps of the entry, the
/// first of the session. An error when it is not what the plan says.
Status reportCounts(const Session &session, const plan::Entry &entry,
                    int64_t steps, std::FILE *out);

} // namespace llmc::rt

#endif // LLMC_LIB_RUNTIME_EXECUTOR_COUNTREPORT_H
