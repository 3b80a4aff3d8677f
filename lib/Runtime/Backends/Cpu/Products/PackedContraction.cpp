//===- PackedContraction.cpp - Contractions of copied operands ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN is fastest where b lies in blocks of its own and a row of a has its
// elements side by side. Each run copies b once, and of an a that lies
// otherwise a strip of rows at a time, so that the copy stays in the cache:
//
//   a (m k), strides 1, 384    b (k n)
//   for rows [0, 128) [128, 256) ...:   strip (128 k), strides k, 1
//                                       c[rows] = strip * packed b
//
// Tested by test/Runtime/Backends/Cpu/ContractionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "LibraryContraction.h"

#include <algorithm>
#include <optional>

namespace llmc::rt::cpu {

namespace {

/// Bytes of a strip: half of a second-level cache of 1 MiB.
constexpr int64_t stripBytes = 512 << 10;

uint64_t alignedBytes(const dnnl::memory::desc &desc) {
  return (desc.get_size() + 63) / 64 * 64;
}

/// A copy between two descriptions of the same elements.
class Reorder {
public:
  Reorder(const dnnl::memory::desc &from, const dnnl::memory::desc &to)
      : from(from, libraryEngine(), nullptr), to(to, libraryEngine(), nullptr),
        primitive(describe(from, to)) {}

  void run(const void *source, void *target) {
    dnnl_memory_set_data_handle(from.get(), const_cast<void *>(source));
    dnnl_memory_set_data_handle(to.get(), target);
    dnnl_exec_arg_t arguments[2] = {{DNNL_ARG_FROM, from.get()},
                                    {DNNL_ARG_TO, to.get()}};
    dnnl_primitive_execute(primitive.get(), workerStream().get(), 2, arguments);
  }

private:
  static dnnl::reorder::primitive_desc describe(const dnnl::memory::desc &from,
                                                const dnnl::memory::desc &to) {
    return {libraryEngine(), from, libraryEngine(), to};
  }
  dnnl::memory from, to;
  dnnl::reorder primitive;
};

/// Some rows of the product.
struct Strip {
  std::optional<Reorder> copy; ///< Of a, where it is copied.
  std::unique_ptr<LibrarySlice> product;
};

class PackedSlice final : public OpSlice {
public:
  int64_t rows, rowsOfStrip;
  int64_t strideA, strideC; ///< In bytes, from row to row.
  std::optional<Reorder> pack;
  uint64_t stripAt = 0, workspaceAt = 0, bytes = 0;
  /// As many rows as all strips but the last have, and what the last has.
  Strip full, last;

  uint64_t workspaceBytes() const override { return bytes; }

  void run(const SliceBuffers &at) override {
    auto *workspace = static_cast<char *>(at.workspace);
    pack->run(at.b, workspace);
    for (int64_t row = 0; row < rows; row += rowsOfStrip) {
      Strip &strip = rows - row < rowsOfStrip ? last : full;
      const void *a = static_cast<const char *>(at.a) + row * strideA;
      if (strip.copy) {
        strip.copy->run(a, workspace + stripAt);
        a = workspace + stripAt;
      }
      strip.product->run({a, workspace, at.bias,
                          static_cast<char *>(at.c) + row * strideC,
                          workspace + workspaceAt});
    }
  }
};

/// The strip of `rows` rows of `shape`, and the product's description. None
/// where oneDNN has not got it.
Result<std::optional<dnnl::matmul::primitive_desc>>
makeStrip(MatrixShape shape, int64_t rows, bool isCopied, Strip &strip) {
  shape.m.size = rows;
  LLMC_TRY_ASSIGN(auto original, describeProduct(shape, false));
  if (isCopied) {
    shape.m.strideA = shape.k.size;
    shape.k.strideA = 1;
  }
  LLMC_TRY_ASSIGN(auto product, describeProduct(shape, true));
  if (!product || !original) {
    return std::optional<dnnl::matmul::primitive_desc>();
  }
  if (isCopied) {
    strip.copy.emplace(original->src_desc(), product->src_desc());
  }
  strip.product = std::make_unique<LibrarySlice>(*product);
  return std::move(product);
}

bool mayBePacked(const MatrixShape &shape) {
  return shape.batch.empty() && shape.shape.a == DType::f32 &&
         shape.m.size > 1 && shape.n.size > 1 && shape.k.size > 1;
}

} // namespace

Result<std::unique_ptr<OpSlice>> makePackedSlice(const MatrixShape &shape) {
  std::unique_ptr<OpSlice> none;
  LLMC_TRY_ASSIGN(auto original, describeProduct(shape, false));
  if (!mayBePacked(shape) || !original) {
    return std::move(none);
  }
  auto slice = std::make_unique<PackedSlice>();
  bool isCopied = shape.k.strideA != 1;
  int64_t width = shape.k.size * sizeOf(shape.shape.a);
  slice->rows = shape.m.size;
  int64_t fitting = std::max<int64_t>(stripBytes / width, 16);
  slice->rowsOfStrip = isCopied ? std::min(fitting, slice->rows) : slice->rows;
  slice->strideA = shape.m.strideA * sizeOf(shape.shape.a);
  slice->strideC = shape.m.strideC * sizeOf(shape.shape.c);
  OneThread limit;
  LLMC_TRY_ASSIGN(auto full,
                  makeStrip(shape, slice->rowsOfStrip, isCopied, slice->full));
  int64_t rest = slice->rows % slice->rowsOfStrip;
  LLMC_TRY_ASSIGN(auto last, makeStrip(shape, rest ? rest : slice->rowsOfStrip,
                                       isCopied, slice->last));
  // One copy of b serves all strips.
  if (!full || !last || full->weights_desc() != last->weights_desc() ||
      full->weights_desc() == original->weights_desc()) {
    return std::move(none);
  }
  slice->pack.emplace(original->weights_desc(), full->weights_desc());
  slice->stripAt = alignedBytes(full->weights_desc());
  slice->workspaceAt =
      slice->stripAt + (isCopied ? alignedBytes(full->src_desc()) : 0);
  slice->bytes =
      slice->workspaceAt + std::max(slice->full.product->workspaceBytes(),
                                    slice->last.product->workspaceBytes());
  return std::unique_ptr<OpSlice>(std::move(slice));
}

} // namespace llmc::rt::cpu
