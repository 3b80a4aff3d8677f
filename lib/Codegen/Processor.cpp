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

/// LLVM's name of an instruction set, and that of /proc/cpuinfo, by which the
/// loader looks for it.
struct Feature {
  const char *name;
  const char *cpuinfo;
};

static const Feature x86Features[] = {
    {"avx", "avx"},           {"avx2", "avx2"},
    {"avx512bw", "avx512bw"}, {"avx512cd", "avx512cd"},
    {"avx512dq", "avx512dq"}, {"avx512f", "avx512f"},
    {"avx512vl", "avx512vl"}, {"bmi", "bmi1"},
    {"bmi2", "bmi2"},         {"cx16", "cx16"},
    {"f16c", "f16c"},         {"fma", "fma"},
    {"lzcnt", "abm"},         {"movbe", "movbe"},
    {"popcnt", "popcnt"},     {"sahf", "lahf_lm"},
    {"sse3", "pni"},          {"sse4.1", "sse4_1"},
    {"sse4.2", "sse4_2"},     {"ssse3", "ssse3"}};

/// The instruction sets of this machine, under one of their names.
static std::vector<std::string> getFeatures(const char *Feature::*name) {
  std::vector<std::string> features;
  static const StringMap<bool> host = sys::getHostCPUFeatures();
  if (Triple(sys::getProcessTriple()).isX86())
    for (const Feature &feature : x86Features)
      if (host.lookup(feature.name))
        features.push_back(feature.*name);
  return features;
}

std::vector<std::string> getProcessorFeatures() {
  return getFeatures(&Feature::name);
}

std::vector<std::string> getCpuinfoFeatures() {
  return getFeatures(&Feature::cpuinfo);
}

unsigned getVectorBits() {
  std::vector<std::string> features = getProcessorFeatures();
  if (is_contained(features, "avx512f"))
    return 512;
  return is_contained(features, "avx") ? 256 : 128;
}

std::unique_ptr<TargetMachine> makeTargetMachine(std::string &error) {
  // Once: targets register themselves in tables without locks.
  [[maybe_unused]] static const bool isRegistered =
      !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter() &&
      !InitializeNativeTargetAsmParser();
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
