//===- FuzzArrays.cpp - Headers of arrays of any bytes --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The headers of .npy files, of safetensors files, the manifest in a kernel
// object, and that of a checkpoint.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Runtime/Checkpoint/Manifest.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)rt::parseNpyHeader(data, size);
  (void)rt::parseSafetensorsHeader(data, size);
  (void)rt::plan::parseManifest(data, size);
  (void)rt::parseManifest({reinterpret_cast<const char *>(data), size});
  return 0;
}
