//===- Processor.h - The instruction sets that kernels may use --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are compiled for a baseline processor and the instruction sets of one
// list that this machine has; exactly these are recorded in the manifest, so
// that another machine can tell whether it may load the object.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_PROCESSOR_H
#define LLMC_LIB_CODEGEN_PROCESSOR_H

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace llmc::codegen {

/// Sorted, in LLVM's spelling: "avx2", "fma", …
std::vector<std::string> getProcessorFeatures();
/// The same in the spelling of /proc/cpuinfo, for manifests: "avx2", "pni", …
std::vector<std::string> getCpuinfoFeatures();
/// Bits of the widest vector register that the features give.
unsigned getVectorBits();
/// Null, with `error` set, when LLVM has no code generator for this machine.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(std::string &error);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_PROCESSOR_H
