//===- Manifest.cpp - What a kernel object says of its kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Format/ManifestTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/Manifest.h"

#include "llmc/Runtime/Plan/Format/KernelAbi.h"

#include <cstring>
#include <limits>
#include <string_view>

namespace llmc::rt::plan {

const KernelInfo *Manifest::find(std::string_view name) const {
  for (const KernelInfo &kernel : kernels) {
    if (kernel.name == name) {
      return &kernel;
    }
  }
  return nullptr;
}

template <typename T>
static void appendArray(std::string &bytes, const std::vector<T> &values) {
  bytes.append(reinterpret_cast<const char *>(values.data()),
               values.size() * sizeof(T));
}

static uint32_t intern(std::string &strings, std::string_view text) {
  auto offset = static_cast<uint32_t>(strings.size());
  strings.append(text);
  strings.push_back('\0');
  return offset;
}

std::string serializeManifest(const Manifest &manifest) {
  std::vector<LlmcManifestKernel> kernels;
  std::vector<LlmcManifestArgument> arguments;
  std::vector<LlmcManifestScalar> scalars;
  std::vector<LlmcManifestTie> ties;
  std::string strings, features;
  for (const std::string &feature : manifest.features) {
    features += (features.empty() ? "" : ",") + feature;
  }
  LlmcManifestHeader header = {};
  header.features = intern(strings, features);
  for (const KernelInfo &info : manifest.kernels) {
    LlmcManifestKernel kernel = {};
    kernel.name = intern(strings, info.name);
    kernel.firstArgument = static_cast<uint32_t>(arguments.size());
    kernel.numArguments = static_cast<uint32_t>(info.arguments.size());
    kernel.firstScalar = static_cast<uint32_t>(scalars.size());
    kernel.numScalars = static_cast<uint32_t>(info.scalars.size());
    kernel.firstTie = static_cast<uint32_t>(ties.size());
    kernel.numTies = static_cast<uint32_t>(info.ties.size());
    kernel.rows = info.rows;
    kernel.scratchBytes = info.scratchBytes;
    kernels.push_back(kernel);
    for (const KernelArgument &argument : info.arguments) {
      arguments.push_back({argument.extentBytes,
                           static_cast<uint8_t>(argument.dtype),
                           static_cast<uint8_t>(argument.access),
                           {}});
    }
    for (const Interval &scalar : info.scalars) {
      scalars.push_back({scalar.low, scalar.high});
    }
    for (auto [read, written] : info.ties) {
      ties.push_back(
          {static_cast<uint32_t>(read), static_cast<uint32_t>(written)});
    }
  }
  header.magic = LLMC_MANIFEST_MAGIC;
  header.version = LLMC_KERNEL_ABI_VERSION;
  header.numKernels = static_cast<uint32_t>(kernels.size());
  header.numArguments = static_cast<uint32_t>(arguments.size());
  header.numScalars = static_cast<uint32_t>(scalars.size());
  header.numTies = static_cast<uint32_t>(ties.size());
  header.stringBytes = static_cast<uint32_t>(strings.size());
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  appendArray(bytes, kernels);
  appendArray(bytes, arguments);
  appendArray(bytes, scalars);
  appendArray(bytes, ties);
  return bytes + strings;
}

namespace {
/// The arrays after a header, copied out (the bytes may not be aligned).
struct FlatManifest {
  LlmcManifestHeader header = {};
  std::vector<LlmcManifestKernel> kernels;
  std::vector<LlmcManifestArgument> arguments;
  std::vector<LlmcManifestScalar> scalars;
  std::vector<LlmcManifestTie> ties;
  std::string strings;

  bool read(const char *data, size_t size) {
    size_t at = sizeof(header);
    return readArray(data, size, at, kernels, header.numKernels) &&
           readArray(data, size, at, arguments, header.numArguments) &&
           readArray(data, size, at, scalars, header.numScalars) &&
           readArray(data, size, at, ties, header.numTies) &&
           readStrings(data, size, at);
  }
  bool contains(const LlmcManifestKernel &kernel) const {
    auto fits = [](uint64_t first, uint64_t count, size_t size) {
      return first + count <= size;
    };
    return kernel.name < strings.size() &&
           fits(kernel.firstArgument, kernel.numArguments, arguments.size()) &&
           fits(kernel.firstScalar, kernel.numScalars, scalars.size()) &&
           fits(kernel.firstTie, kernel.numTies, ties.size());
  }

private:
  template <typename T>
  static bool readArray(const char *data, size_t size, size_t &at,
                        std::vector<T> &out, size_t count) {
    if (count * sizeof(T) > size - at) {
      return false;
    }
    out.resize(count);
    if (count > 0) {
      std::memcpy(out.data(), data + at, count * sizeof(T));
    }
    at += count * sizeof(T);
    return true;
  }
  bool readStrings(const char *data, size_t size, size_t at) {
    if (header.stringBytes == 0 || header.stringBytes > size - at) {
      return false;
    }
    strings.assign(data + at, header.stringBytes);
    return strings.back() == '\0' && header.features < strings.size();
  }
};
} // namespace

static Status manifestError(std::string what) {
  return makeError(ErrorKind::mismatch, "kernel manifest: " + what);
}

static Result<KernelInfo> readKernel(const FlatManifest &flat,
                                     const LlmcManifestKernel &kernel) {
  KernelInfo info;
  info.name = flat.strings.c_str() + kernel.name;
  info.rows = kernel.rows;
  info.scratchBytes = kernel.scratchBytes;
  for (uint32_t i = 0; i < kernel.numArguments; ++i) {
    const LlmcManifestArgument &argument =
        flat.arguments[kernel.firstArgument + i];
    if (argument.dtype >= numDTypes || argument.access > 2 ||
        argument.extentBytes < 0) {
      return manifestError("argument of '" + info.name + "' is malformed");
    }
    info.arguments.push_back({static_cast<DType>(argument.dtype),
                              static_cast<Access>(argument.access),
                              argument.extentBytes});
  }
  for (uint32_t i = 0; i < kernel.numScalars; ++i) {
    const LlmcManifestScalar &scalar = flat.scalars[kernel.firstScalar + i];
    info.scalars.push_back({scalar.low, scalar.high});
  }
  for (uint32_t i = 0; i < kernel.numTies; ++i) {
    const LlmcManifestTie &tie = flat.ties[kernel.firstTie + i];
    if (tie.read >= kernel.numArguments || tie.written >= kernel.numArguments) {
      return manifestError("tie of '" + info.name + "' is malformed");
    }
    info.ties.push_back({tie.read, tie.written});
  }
  // A kernel of an empty result has no rows.
  if (info.rows < 0 || info.scratchBytes < 0) {
    return manifestError("'" + info.name + "' has malformed rows or scratch");
  }
  return info;
}

Result<Manifest> parseManifest(const void *data) {
  return parseManifest(data, std::numeric_limits<size_t>::max() / 2);
}

Result<Manifest> parseManifest(const void *data, size_t size) {
  FlatManifest flat;
  if (size < sizeof(flat.header)) {
    return manifestError("truncated");
  }
  std::memcpy(&flat.header, data, sizeof(flat.header));
  if (flat.header.magic != LLMC_MANIFEST_MAGIC) {
    return manifestError("bad magic number");
  }
  if (flat.header.version != LLMC_KERNEL_ABI_VERSION) {
    return manifestError("version " + std::to_string(flat.header.version) +
                         ", this runtime reads " +
                         std::to_string(LLMC_KERNEL_ABI_VERSION));
  }
  if (!flat.read(static_cast<const char *>(data), size)) {
    return manifestError("truncated");
  }
  Manifest manifest;
  std::string_view features = flat.strings.c_str() + flat.header.features;
  while (!features.empty()) {
    size_t comma = std::min(features.find(','), features.size());
    manifest.features.emplace_back(features.substr(0, comma));
    features.remove_prefix(std::min(comma + 1, features.size()));
  }
  for (const LlmcManifestKernel &kernel : flat.kernels) {
    if (!flat.contains(kernel)) {
      return manifestError("a kernel's range runs past its table");
    }
    LLMC_TRY_ASSIGN(KernelInfo info, readKernel(flat, kernel));
    manifest.kernels.push_back(std::move(info));
  }
  return manifest;
}

} // namespace llmc::rt::plan
