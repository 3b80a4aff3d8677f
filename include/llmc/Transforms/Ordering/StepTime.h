//===- StepTime.h - How long a step takes by the machine --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A placed plan says what each stream runs and what it waits for; the mesh's
// machine says how long it takes. What a step would be shorter by if
// communication took no time, is exposed.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_ORDERING_STEPTIME_H
#define LLMC_TRANSFORMS_ORDERING_STEPTIME_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc {

struct StepTime {
  /// Of a step.
  double seconds = 0;
  double exposed = 0;
  /// That the device which communicates longest does so.
  double communication = 0;
};

/// Of the entry of that name; nothing where it is not there, on one device, or
/// where the machine says nothing of links or operations. A loop that the run
/// ends counts one trip. Assumes a module after phase `plan`.
std::optional<StepTime> findStepTime(mlir::ModuleOp module, StringRef entry);

} // namespace llmc

#endif // LLMC_TRANSFORMS_ORDERING_STEPTIME_H
