//===- FuzzArrays.cpp - Headers of arrays of any bytes --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The headers of .npy files, of safetensors files, the manifest in a kernel
// object, and that of a checkpoint; then the bytes as the file of a source of
// each kind, of which all samples of an epoch are read.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Runtime/Checkpoint/Manifest.h"
#include "llmc/Runtime/Executor/DataSet.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace llmc;

/// A file with the bytes, under a name that ends so.
static std::string writeInput(const uint8_t *data, size_t size,
                              const std::string &suffix) {
  // In memory where there is such a place: disks are slow to write.
  static const std::string start =
      (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") +
      ("/llmc-fuzz-" + std::to_string(::getpid()));
  std::string path = start + suffix;
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(data, 1, size, file) != size) {
    std::abort();
  }
  std::fclose(file);
  return path;
}

/// Every fault is one that a status says.
static void readSource(const rt::DataRule &rule, const std::string &path) {
  rt::Result<rt::DataSet> set = rt::DataSet::open(rule, {path});
  if (!set) {
    return;
  }
  int64_t window = isTokens(rule.kind) ? 3 : 1;
  rt::SampleOrder order(rule, set->rows(), window, window, rt::Split::training);
  if (order.findEmpty()) {
    return;
  }
  const rt::DataFile &file = set->first();
  int64_t elements = 1;
  for (int64_t extent : file.rowShape()) {
    elements *= extent;
  }
  for (rt::DType type : {rt::DType::i32, rt::DType::f32}) {
    if (!rt::canConvert(file.dtype(), type)) {
      continue;
    }
    std::vector<std::byte> out(size_t(window * elements) * 4);
    for (uint64_t i = 0; i < uint64_t(std::min<int64_t>(order.epoch(), 8));
         ++i) {
      (void)set->read(order.find(1, i), 0, window, {type, 1000, rule.finite},
                      out.data());
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)rt::parseNpyHeader(data, size);
  (void)rt::parseSafetensorsHeader(data, size);
  (void)rt::plan::parseManifest(data, size);
  (void)rt::parseManifest({reinterpret_cast<const char *>(data), size});
  rt::DataRule rule;
  rule.heldOut = size % 2 ? 0.25 : 0;
  rule.once = size % 3 == 0;
  std::string npy = writeInput(data, size, ".npy"),
              tensors = writeInput(data, size, ".safetensors");
  readSource(rule, npy);
  rule.kind = rt::DataKind::text;
  readSource(rule, npy);
  rule.kind = rt::DataKind::array;
  rule.once = false;
  rule.tensor = "w";
  readSource(rule, npy);
  readSource(rule, tensors);
  ::unlink(npy.c_str());
  ::unlink(tensors.c_str());
  return 0;
}
