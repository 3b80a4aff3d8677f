//===- Contractions.h - Contractions of a plan for a backend ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same numbers under the names of Device/Contraction.h: when a plan is
// made, to ask the library for its scratch, and when it is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_CONTRACTIONS_H
#define LLMC_RUNTIME_EXECUTOR_CONTRACTIONS_H

#include "llmc/Runtime/Device/Contraction.h"
#include "llmc/Runtime/Plan/Format/Instruction.h"

#include <string>

namespace llmc::rt {

ContractionShape shapeOf(const plan::Contraction &contraction, int threads,
                         std::string name);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_CONTRACTIONS_H
