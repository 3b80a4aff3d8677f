//===- Descriptors.h - What a product is described by ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structs lie in the opaque ones of cublasLt.h, which a caller may allocate
// himself.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_BLASLT_DESCRIPTORS_H
#define LLMC_TEST_RUNTIME_STANDIN_BLASLT_DESCRIPTORS_H

#include "Core/Objects.h"

#include <cublasLt.h>

namespace llmc::standin {

struct LayoutFields {
  static constexpr uint32_t kMagic = 0x4c41594f;
  uint32_t magic;
  uint32_t type;
  int32_t order, batchCount;
  uint64_t rows, columns;
  int64_t ld, batchStride, planeOffset;
  uint32_t batchMode;
};

struct ProductFields {
  static constexpr uint32_t kMagic = 0x50524f44;
  uint32_t magic;
  int32_t compute, scale, pointerMode, transA, transB, transC, fill;
  uint32_t epilogue;
  int32_t smCount, auxType, biasType;
  int32_t scaleModeA, scaleModeB, scaleModeC, scaleModeD, scaleModeAux,
      scaleModeOut;
  int8_t fastAccumulation;
  uint64_t bias; // device addresses
  int64_t biasStride;
  uint64_t aux;
  int64_t auxLd, auxStride, alphaStride;
  uint64_t scaleA, scaleB, scaleC, scaleD, amaxD, scaleAux, amaxAux, scaleOut;
  uint64_t emulation;
};

struct PreferenceFields {
  static constexpr uint32_t kMagic = 0x50524546;
  uint32_t magic;
  uint32_t searchMode, reductionMask;
  uint32_t alignA, alignB, alignC, alignD;
  float maxWaves;
  uint64_t workspaceBytes, implementations;
};

/// One way to compute a product: what cublasLtMatmulAlgo_t holds.
struct AlgorithmFields {
  static constexpr uint32_t kMagic = 0x414c474f;
  uint32_t magic;
  uint32_t partialSums; // k is summed up in so many parts
  uint32_t alignA, alignB, alignC, alignD;
  uint64_t workspaceBytes;
  uint64_t shape; // a digest of what it was found for
};

static_assert(sizeof(LayoutFields) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(ProductFields) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(PreferenceFields) <=
              sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(AlgorithmFields) <= sizeof(cublasLtMatmulAlgo_t));

/// The fields that an opaque struct holds; null where it holds none.
template <typename Fields, typename Opaque>
const Fields *fieldsOf(const Opaque *opaque) {
  auto *fields = reinterpret_cast<const Fields *>(opaque);
  return fields && fields->magic == Fields::kMagic ? fields : nullptr;
}

/// A product with all that describes it.
struct Problem {
  ProductFields product;
  LayoutFields a, b, c, d;
  uint64_t m, n, k;
};

/// Makes a problem of the descriptors, or says what is wrong or not supported.
cublasStatus_t makeProblem(cublasLtMatmulDesc_t product,
                           cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                           cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                           Problem &problem);

/// Whether the documentation lists these types, orders, and epilogue.
cublasStatus_t checkTypes(const Problem &problem);
cublasStatus_t checkEpilogue(const Problem &problem);

/// Tells problems apart that want different algorithms.
uint64_t digest(const Problem &problem);

/// The greatest alignment, up to 16, at which all rows of the matrix begin
/// where its first byte is aligned to `bytes`.
uint32_t alignmentOf(const LayoutFields &layout, uint32_t bytes);

bool isEightBitFloat(int type);
size_t bytesOf(int type);

bool isLibraryHandle(const void *handle);

/// Returns `status`, and says why where that is wanted.
cublasStatus_t refuse(cublasStatus_t status, const char *why);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_BLASLT_DESCRIPTORS_H
