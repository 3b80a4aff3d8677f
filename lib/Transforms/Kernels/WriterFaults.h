//===- WriterFaults.h - Mistakes of the writer for GPUs ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As SeededFault.h, for those of WriterFaults.def and CallFaults.def: the
// variable LLMC_WRITER_FAULT names one.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_WRITERFAULTS_H
#define LLMC_LIB_TRANSFORMS_KERNELS_WRITERFAULTS_H

// Made by CMake: 0 or 1.
#include "llmc/Runtime/Base/FaultSwitch.h"

namespace llmc::kernels {

enum class WriterFault {
#define LLMC_WRITER_FAULT(name, breaks) name,
#include "WriterFaults.def"
#define LLMC_WRITER_FAULT(name, breaks) name,
#include "Calls/CallFaults.def"
};

#if LLMC_SEEDED_FAULTS
/// Whether the environment asks for this mistake. A name that is not in the
/// table ends the command before it begins, with exit code 2.
bool isSeeded(WriterFault fault);
#else
constexpr bool isSeeded(WriterFault) { return false; }
#endif

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_WRITERFAULTS_H
