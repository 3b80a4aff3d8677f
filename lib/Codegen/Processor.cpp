//===- Processor.cpp - The instruction sets that kernels may use ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Processor.h.
//
//===----------------------------------------------------------------------===//

#include "Processor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace llmc::codegen {

static const char *const x86Features[] = {
    "avx",     "avx2",     "avx512bf16", "avx512bw", "avx512cd", "avx512dq",
    "avx512f", "avx512vl", "bmi",        "bmi2",     "cx16",     "f16c",
    "fma",     "lzcnt",    "movbe",      "popcnt",   "sahf",     "sse3",
    "sse4.1",  "sse4.2",   "ssse3"};

std::vector<std::string> getProcessorFeatures() {
  std::vector<std::string> features;
  StringMap<bool> host = sys::getHostCPUFeatures();
  if (Triple(sys::getProcessTriple()).isX86())
    for (const char *feature : x86Features)
      if (host.lookup(feature))
        features.push_back(feature);
  return features;
}

unsigned getVectorBits() {
  std::vector<std::string> features = getProcessorFeatures();
  if (is_contained(features, "avx512f"))
    return 512;
  return is_contained(features, "avx") ? 256 : 128;
}

std::unique_ptr<TargetMachine> makeTargetMachine(std::string &error) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  InitializeNativeTargetAsmParser();
  Triple triple(sys::getProcessTriple());
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::string features;
  for (const std::string &feature : getProcessorFeatures())
    features += (features.empty() ? "+" : ",+") + feature;
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, triple.isX86() ? "x86-64" : "generic", features, options,
      Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
}

} // namespace llmc::codegen
