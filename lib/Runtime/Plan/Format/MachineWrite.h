//===- MachineWrite.h - The table of the machine ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_FORMAT_MACHINEWRITE_H
#define LLMC_LIB_RUNTIME_PLAN_FORMAT_MACHINEWRITE_H

#include "llmc/Runtime/Plan/Format/Plan.h"

#include "plan_generated.h"

namespace llmc::rt::plan {

flatbuffers::Offset<fb::Machine>
writeMachine(flatbuffers::FlatBufferBuilder &builder, const Machine &machine);

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_FORMAT_MACHINEWRITE_H
