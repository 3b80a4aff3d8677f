//===- Manifest.cpp - What a kernel object says of its kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Format/ManifestTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/Manifest.h"

#include "llmc/Runtime/Plan/Format/KernelAbi.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <algorithm>
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

void Manifest::setObjectCode() {
  images = {KernelImage{}};
  for (KernelInfo &kernel : kernels) {
    kernel.codes = {{0, kernel.name}};
  }
}

/// Of an argument's first byte.
static uint32_t alignmentOf(const KernelArgument &argument) {
  return argument.alignment != 0
             ? argument.alignment
             : static_cast<uint32_t>(sizeOf(argument.dtype));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Data and the start of data lie at multiples of it.
constexpr size_t dataAlignment = 16;

static size_t alignData(size_t at) {
  return (at + dataAlignment - 1) / dataAlignment * dataAlignment;
}

namespace {
/// The arrays of a manifest, as they lie in the file.
struct ManifestArrays {
  std::vector<LlmcManifestKernel> kernels;
  std::vector<LlmcManifestArgument> arguments;
  std::vector<LlmcManifestScalar> scalars;
  std::vector<LlmcManifestTie> ties;
  std::vector<LlmcManifestImage> images;
  std::vector<LlmcManifestCode> codes;
  std::string strings;
};

class ManifestWriter : private ManifestArrays {
public:
  std::string write(const Manifest &manifest);

private:
  uint32_t intern(std::string_view text);
  void add(const KernelInfo &info);
  void add(const KernelImage &image);
  LlmcManifestHeader makeHeader() const;

  std::string data;
};
} // namespace

template <typename T>
static void appendArray(std::string &bytes, const std::vector<T> &values) {
  bytes.append(reinterpret_cast<const char *>(values.data()),
               values.size() * sizeof(T));
}

template <typename T> static uint32_t sizeOfTable(const std::vector<T> &table) {
  return static_cast<uint32_t>(table.size());
}

uint32_t ManifestWriter::intern(std::string_view text) {
  auto offset = static_cast<uint32_t>(strings.size());
  strings.append(text);
  strings.push_back('\0');
  return offset;
}

void ManifestWriter::add(const KernelInfo &info) {
  LlmcManifestKernel kernel = {};
  kernel.name = intern(info.name);
  kernel.target = intern(info.target);
  kernel.firstArgument = sizeOfTable(arguments);
  kernel.numArguments = sizeOfTable(info.arguments);
  kernel.firstScalar = sizeOfTable(scalars);
  kernel.numScalars = sizeOfTable(info.scalars);
  kernel.firstTie = sizeOfTable(ties);
  kernel.numTies = sizeOfTable(info.ties);
  kernel.firstCode = sizeOfTable(codes);
  kernel.numCodes = sizeOfTable(info.codes);
  kernel.threadsPerBlock = info.threadsPerBlock;
  kernel.sharedBytes = info.sharedBytes;
  kernel.rows = info.rows;
  kernel.rowsPerBlock = info.rowsPerBlock;
  kernel.scratchBytes = info.scratchBytes;
  kernels.push_back(kernel);
  for (const KernelArgument &argument : info.arguments) {
    arguments.push_back({argument.extentBytes,
                         alignmentOf(argument),
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
  for (const KernelCode &code : info.codes) {
    codes.push_back({code.image, intern(code.symbol)});
  }
}

void ManifestWriter::add(const KernelImage &image) {
  LlmcManifestImage flat = {};
  if (!image.data.empty()) {
    data.resize(alignData(data.size()));
    flat.dataOffset = data.size();
  }
  flat.dataBytes = image.data.size();
  flat.architecture = intern(image.architecture);
  flat.format = static_cast<uint8_t>(image.format);
  data += image.data;
  images.push_back(flat);
}

LlmcManifestHeader ManifestWriter::makeHeader() const {
  LlmcManifestHeader header = {};
  header.magic = LLMC_MANIFEST_MAGIC;
  header.version = LLMC_KERNEL_ABI_VERSION;
  header.numKernels = sizeOfTable(kernels);
  header.numArguments = sizeOfTable(arguments);
  header.numScalars = sizeOfTable(scalars);
  header.numTies = sizeOfTable(ties);
  header.numImages = sizeOfTable(images);
  header.numCodes = sizeOfTable(codes);
  header.stringBytes = static_cast<uint32_t>(strings.size());
  header.dataBytes = data.size();
  return header;
}

std::string ManifestWriter::write(const Manifest &manifest) {
  std::string features;
  for (const std::string &feature : manifest.features) {
    features += (features.empty() ? "" : ",") + feature;
  }
  uint32_t featuresAt = intern(features);
  for (const KernelInfo &info : manifest.kernels) {
    add(info);
  }
  for (const KernelImage &image : manifest.images) {
    add(image);
  }
  LlmcManifestHeader header = makeHeader();
  header.features = featuresAt;
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  appendArray(bytes, kernels);
  appendArray(bytes, arguments);
  appendArray(bytes, scalars);
  appendArray(bytes, ties);
  appendArray(bytes, images);
  appendArray(bytes, codes);
  bytes += strings;
  bytes.resize(alignData(bytes.size()));
  return bytes + data;
}

std::string serializeManifest(const Manifest &manifest) {
  return ManifestWriter().write(manifest);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status manifestError(std::string what) {
  return makeError(ErrorKind::mismatch, "kernel manifest: " + what);
}

/// A name that every assembler takes.
static bool isLegalName(std::string_view name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return isLetter(c) || (c >= '0' && c <= '9');
         });
}

static bool isZero(const uint8_t *bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](uint8_t b) { return b == 0; });
}

namespace {
/// The arrays after a header, copied out (the bytes may not be aligned).
class ManifestReader : private ManifestArrays {
public:
  Result<Manifest> read(const char *data, size_t size);

private:
  Status readTables(const char *bytes, size_t size);
  Status readArgument(KernelInfo &info,
                      const LlmcManifestArgument &argument) const;
  Status readCode(KernelInfo &info, const LlmcManifestCode &code,
                  const std::vector<KernelImage> &known) const;
  Result<KernelInfo> readKernel(const LlmcManifestKernel &kernel,
                                const std::vector<KernelImage> &known) const;
  Result<KernelImage> readImage(const LlmcManifestImage &image) const;
  static Status checkShape(const KernelInfo &info);

  bool contains(const LlmcManifestKernel &kernel) const {
    auto fits = [](uint64_t first, uint64_t count, size_t size) {
      return first + count <= size;
    };
    return kernel.name < strings.size() && kernel.target < strings.size() &&
           fits(kernel.firstArgument, kernel.numArguments, arguments.size()) &&
           fits(kernel.firstScalar, kernel.numScalars, scalars.size()) &&
           fits(kernel.firstTie, kernel.numTies, ties.size()) &&
           fits(kernel.firstCode, kernel.numCodes, codes.size());
  }
  std::string textAt(uint32_t offset) const { return strings.c_str() + offset; }

  LlmcManifestHeader header = {};
  std::string_view data;
};
} // namespace

template <typename T>
static bool readArray(const char *bytes, size_t size, size_t &at,
                      std::vector<T> &out, size_t count) {
  if (count * sizeof(T) > size - at) {
    return false;
  }
  out.resize(count);
  if (count > 0) {
    std::memcpy(out.data(), bytes + at, count * sizeof(T));
  }
  at += count * sizeof(T);
  return true;
}

Status ManifestReader::readTables(const char *bytes, size_t size) {
  if (size < sizeof(header)) {
    return manifestError("truncated");
  }
  std::memcpy(&header, bytes, sizeof(header));
  if (header.magic != LLMC_MANIFEST_MAGIC) {
    return manifestError("bad magic number");
  }
  if (header.version != LLMC_KERNEL_ABI_VERSION) {
    return manifestError("version " + std::to_string(header.version) +
                         ", this runtime reads " +
                         std::to_string(LLMC_KERNEL_ABI_VERSION));
  }
  if (header.reserved != 0) {
    return manifestError("expected 0 in a reserved field of the header, got " +
                         std::to_string(header.reserved));
  }
  size_t at = sizeof(header);
  bool whole = readArray(bytes, size, at, kernels, header.numKernels) &&
               readArray(bytes, size, at, arguments, header.numArguments) &&
               readArray(bytes, size, at, scalars, header.numScalars) &&
               readArray(bytes, size, at, ties, header.numTies) &&
               readArray(bytes, size, at, images, header.numImages) &&
               readArray(bytes, size, at, codes, header.numCodes) &&
               header.stringBytes <= size - at;
  if (!whole) {
    return manifestError("truncated");
  }
  strings.assign(bytes + at, header.stringBytes);
  at = alignData(at + header.stringBytes);
  if (at > size || header.dataBytes > size - at) {
    return manifestError("truncated");
  }
  data = std::string_view(bytes + at, header.dataBytes);
  if (strings.empty() || strings.back() != '\0' ||
      header.features >= strings.size()) {
    return manifestError("malformed names");
  }
  return Status::success();
}

Result<KernelImage>
ManifestReader::readImage(const LlmcManifestImage &image) const {
  if (image.format >= numKernelFormats || !isZero(image.reserved, 3)) {
    return manifestError("an image has format " + std::to_string(image.format) +
                         ", this runtime knows 0 to " +
                         std::to_string(numKernelFormats - 1));
  }
  KernelImage result;
  result.format = static_cast<KernelFormat>(image.format);
  bool inside = image.dataOffset <= data.size() &&
                image.dataBytes <= data.size() - image.dataOffset &&
                image.dataOffset % dataAlignment == 0;
  bool isObject = result.format == KernelFormat::object;
  if (!inside || isObject != (image.dataBytes == 0) ||
      image.architecture >= strings.size()) {
    return manifestError("an image of format " +
                         std::string(nameOf(result.format)) +
                         " has malformed data");
  }
  result.architecture = textAt(image.architecture);
  result.data = data.substr(image.dataOffset, image.dataBytes);
  return result;
}

Status
ManifestReader::readArgument(KernelInfo &info,
                             const LlmcManifestArgument &argument) const {
  uint32_t aligned = argument.alignment;
  bool isPower = aligned != 0 && (aligned & (aligned - 1)) == 0;
  if (argument.dtype >= numDTypes || argument.access > 2 ||
      argument.extentBytes < 0 || !isPower || aligned > alignment ||
      !isZero(argument.reserved, 2)) {
    return manifestError("argument of '" + info.name + "' is malformed");
  }
  info.arguments.push_back({static_cast<DType>(argument.dtype),
                            static_cast<Access>(argument.access),
                            argument.extentBytes, aligned});
  return Status::success();
}

Status ManifestReader::readCode(KernelInfo &info, const LlmcManifestCode &code,
                                const std::vector<KernelImage> &known) const {
  if (code.image >= known.size() || code.symbol >= strings.size() ||
      !isLegalName(textAt(code.symbol))) {
    return manifestError("code of '" + info.name + "' is malformed");
  }
  for (const KernelCode &other : info.codes) {
    if (other.image == code.image) {
      return manifestError("'" + info.name + "' has two codes in one image");
    }
  }
  info.codes.push_back({code.image, textAt(code.symbol)});
  return Status::success();
}

/// The numbers by which a kernel is launched.
Status ManifestReader::checkShape(const KernelInfo &info) {
  // A kernel of an empty result has no rows.
  if (info.rows < 0 || info.scratchBytes < 0) {
    return manifestError("'" + info.name + "' has malformed rows or scratch");
  }
  if (info.rowsPerBlock < 1 || info.threadsPerBlock < 1) {
    return manifestError("expected '" + info.name +
                         "' to have at least 1 row and 1 thread in a block, "
                         "got " +
                         std::to_string(info.rowsPerBlock) + " and " +
                         std::to_string(info.threadsPerBlock));
  }
  if (info.target.empty()) {
    return manifestError("'" + info.name + "' names no target");
  }
  if (info.codes.empty()) {
    return manifestError("'" + info.name + "' has no code");
  }
  return Status::success();
}

Result<KernelInfo>
ManifestReader::readKernel(const LlmcManifestKernel &kernel,
                           const std::vector<KernelImage> &known) const {
  if (!contains(kernel)) {
    return manifestError("a kernel's range runs past its table");
  }
  KernelInfo info;
  info.name = textAt(kernel.name);
  if (!isLegalName(info.name)) {
    return manifestError("expected a name of letters, digits and '_', got '" +
                         info.name + "'");
  }
  info.target = textAt(kernel.target);
  info.rows = kernel.rows;
  info.scratchBytes = kernel.scratchBytes;
  info.rowsPerBlock = kernel.rowsPerBlock;
  info.threadsPerBlock = kernel.threadsPerBlock;
  info.sharedBytes = kernel.sharedBytes;
  for (uint32_t i = 0; i < kernel.numArguments; ++i) {
    LLMC_TRY(readArgument(info, arguments[kernel.firstArgument + i]));
  }
  for (uint32_t i = 0; i < kernel.numScalars; ++i) {
    const LlmcManifestScalar &scalar = scalars[kernel.firstScalar + i];
    info.scalars.push_back({scalar.low, scalar.high});
  }
  for (uint32_t i = 0; i < kernel.numTies; ++i) {
    const LlmcManifestTie &tie = ties[kernel.firstTie + i];
    if (tie.read >= kernel.numArguments || tie.written >= kernel.numArguments) {
      return manifestError("tie of '" + info.name + "' is malformed");
    }
    info.ties.push_back({tie.read, tie.written});
  }
  for (uint32_t i = 0; i < kernel.numCodes; ++i) {
    LLMC_TRY(readCode(info, codes[kernel.firstCode + i], known));
  }
  LLMC_TRY(checkShape(info));
  return info;
}

Result<Manifest> ManifestReader::read(const char *bytes, size_t size) {
  LLMC_TRY(readTables(bytes, size));
  Manifest manifest;
  std::string_view features = strings.c_str() + header.features;
  while (!features.empty()) {
    size_t comma = std::min(features.find(','), features.size());
    manifest.features.emplace_back(features.substr(0, comma));
    features.remove_prefix(std::min(comma + 1, features.size()));
  }
  for (const LlmcManifestImage &image : images) {
    LLMC_TRY_ASSIGN(KernelImage read, readImage(image));
    manifest.images.push_back(std::move(read));
  }
  for (const LlmcManifestKernel &kernel : kernels) {
    LLMC_TRY_ASSIGN(KernelInfo info, readKernel(kernel, manifest.images));
    if (manifest.find(info.name)) {
      return manifestError("two kernels are named '" + info.name + "'");
    }
    manifest.kernels.push_back(std::move(info));
  }
  return manifest;
}

Result<Manifest> parseManifest(const void *data) {
  return parseManifest(data, std::numeric_limits<size_t>::max() / 2);
}

Result<Manifest> parseManifest(const void *data, size_t size) {
  return ManifestReader().read(static_cast<const char *>(data), size);
}

} // namespace llmc::rt::plan
