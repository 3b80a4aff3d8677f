//===- Weights.cpp - What the initializers of a graph are -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/Onnx/weights.test
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "GraphImporter.h"
#include "llmc/Support/StoredElements.h"
#include <cmath>
#include <filesystem>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

/// Integers of more elements than this are read when the plan runs, as are the
/// numbers that an exporter has computed.
static constexpr int64_t kMostInline = int64_t(1) << 16;

/// Lines as "p_h_0_weight: PARAMETER target='h.0.weight'".
Signature onnx::readSignature(const Model &model) {
  Signature signature;
  auto found = model.graph.metadata.find(
      "pkg.torch.export.ExportedProgram.graph_signature");
  if (found == model.graph.metadata.end())
    return signature;
  signature.isThere = true;
  SmallVector<StringRef> lines;
  StringRef(found->second.data(), found->second.size()).split(lines, '\n');
  for (StringRef line : lines) {
    StringRef kind = line.split(':').second.ltrim().take_until(
        [](char c) { return c == ' '; });
    StringRef target = line.split("target='").second.split('\'').first;
    if (target.empty())
      continue;
    if (kind == "PARAMETER")
      signature.parameters[target] = true;
    if (kind == "BUFFER")
      signature.buffers[target] = true;
    if (kind == "BUFFER_MUTATION")
      signature.mutated[target] = true;
  }
  return signature;
}

static int64_t countOf(const Tensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      return -1;
  return count;
}

bool Weights::isMade(const Tensor &tensor) const {
  StringRef name(tensor.name.data(), tensor.name.size());
  return signature.isThere && !signature.parameters.contains(name) &&
         !signature.buffers.contains(name);
}

bool Weights::isArgument(const Tensor &tensor) const {
  bool isFloat =
      tensor.type == ElementType::f32 || tensor.type == ElementType::f64 ||
      tensor.type == ElementType::f16 || tensor.type == ElementType::bf16;
  int64_t count = countOf(tensor);
  // Halves of bytes are no region of a file that has the elements.
  if (bytesOf(tensor.type) == 0)
    return false;
  if (isFloat && !isMade(tensor))
    return !tensor.dims.empty() && count > 0;
  return count > kMostInline;
}

rt::Result<FileRegion> Weights::findRegion(const Tensor &tensor) {
  int64_t size = 0;
  if (__builtin_mul_overflow(countOf(tensor), bytesOf(tensor.type), &size) ||
      size < 0)
    return rt::makeError(ErrorKind::malformed,
                         "tensor '" + std::string(tensor.name) +
                             "': expected sizes of 64 bits, got others");
  if (tensor.isExternal)
    return external.find(tensor, size);
  if (tensor.raw.empty() || static_cast<int64_t>(tensor.raw.size()) != size)
    return rt::makeError(tensor.raw.empty() ? ErrorKind::unsupported
                                            : ErrorKind::malformed,
                         "tensor '" + std::string(tensor.name) +
                             "': expected " + std::to_string(size) +
                             " bytes of elements in one piece, "
                             "got " +
                             std::to_string(tensor.raw.size()))
        .withHint("store weights as raw_data or float_data");
  std::error_code error;
  return FileRegion{std::filesystem::absolute(path, error).string(),
                    static_cast<int64_t>(tensor.raw.data() - bytes.data()),
                    size};
}

rt::Result<Tensor> Weights::load(const Tensor &tensor, std::string &storage) {
  Tensor loaded = tensor;
  if (!tensor.isExternal)
    return loaded;
  LLMC_TRY_ASSIGN(FileRegion region, findRegion(tensor));
  LLMC_TRY_ASSIGN(storage, external.read(region));
  loaded.raw = storage;
  loaded.isExternal = false;
  return loaded;
}

/// Whole numbers and infinities that are not all equal. Stops at the first
/// other one, so that of a weight little is read.
static bool isMask(const Tensor &tensor, MLIRContext *context) {
  if (tensor.dims.size() < 2)
    return false;
  rt::Result<HostTensor> value = decode(context, tensor);
  if (!value)
    return false;
  bool isEqual = true;
  for (int64_t i = 0; i < value->getNumElements(); ++i) {
    double element = value->getFloat(i);
    if (std::isfinite(element) && element != std::trunc(element))
      return false;
    isEqual &= element == value->getFloat(0);
  }
  return !isEqual;
}

rt::Result<Tensor> Weights::loadFirst(const Tensor &tensor, int64_t most,
                                      std::string &storage) {
  LLMC_TRY_ASSIGN(FileRegion region, findRegion(tensor));
  Tensor part = tensor;
  int64_t size = bytesOf(tensor.type), count = std::min(countOf(tensor), most);
  if (tensor.isExternal) {
    LLMC_TRY_ASSIGN(storage,
                    external.read({region.path, region.offset, count * size}));
    part.raw = storage;
    part.isExternal = false;
  }
  part.raw = part.raw.substr(0, count * size);
  part.dims = {1, count};
  return part;
}

/// PyTorch merges tensors of so many elements, and no larger ones.
bool Weights::isMergedEasily(const Tensor &tensor, MLIRContext *context) {
  constexpr int64_t kMostMerged = 1024;
  int64_t count = countOf(tensor);
  if (signature.isThere || tensor.dims.size() != 1 || count < 2 ||
      count > kMostMerged)
    return false;
  std::string storage;
  rt::Result<Tensor> part = loadFirst(tensor, count, storage);
  rt::Result<HostTensor> value =
      part ? decode(context, *part) : rt::Result<HostTensor>(part.status());
  if (!value)
    return false;
  for (int64_t i = 1; i < count; ++i)
    if (value->getFloat(i) != value->getFloat(0))
      return false;
  return true;
}

rt::Result<bool> Weights::isParameter(const Tensor &tensor,
                                      MLIRContext *context) {
  if (bytesOf(tensor.type) == 0 || tensor.dims.empty())
    return false;
  StringRef name(tensor.name.data(), tensor.name.size());
  if (signature.isThere &&
      (signature.parameters.contains(name) || signature.buffers.contains(name)))
    return signature.parameters.contains(name);
  if (signature.isThere)
    return false;
  // A look at the first elements decides for all but masks.
  constexpr int64_t kLooked = 4096;
  Type element = toElement(context, tensor.type);
  if (!isa_and_nonnull<FloatType>(element))
    return false;
  std::string storage;
  LLMC_TRY_ASSIGN(Tensor part, loadFirst(tensor, kLooked, storage));
  return tensor.dims.size() < 2 || !isMask(part, context);
}
