//===- MatmulOp.cpp - A contraction made ready ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Device/LibraryTest.cpp on the stand-in of
// test/Runtime/StandIn.
//
//===----------------------------------------------------------------------===//

#include "MatmulOp.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cuda {

/// Bytes of which algorithms want, or do not want, that operands begin at a
/// multiple.
constexpr uint32_t matmulAlignment = 16;

static cudaDataType cudaTypeOf(DType type) {
  switch (type) {
  case DType::f64:
    return CUDA_R_64F;
  case DType::bf16:
    return CUDA_R_16BF;
  case DType::f16:
    return CUDA_R_16F;
  case DType::f8E4M3FN:
    return CUDA_R_8F_E4M3;
  case DType::f8E5M2:
    return CUDA_R_8F_E5M2;
  default:
    return CUDA_R_32F;
  }
}

/// Never TF32: it would round operands, which the descriptor does not allow.
/// For the same reason fast accumulation of floats of eight bits stays off, as
/// it is by default: it would keep sums of about 14 bits.
static cublasComputeType_t computeTypeOf(DType accumulate) {
  switch (accumulate) {
  case DType::f64:
    return CUBLAS_COMPUTE_64F;
  case DType::f16:
    return CUBLAS_COMPUTE_16F;
  default:
    return CUBLAS_COMPUTE_32F;
  }
}

static cublasLtEpilogue_t epilogueOf(bool hasBias, Activation activation) {
  switch (activation) {
  case Activation::relu:
    return hasBias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  case Activation::geluTanh: // cuBLASLt's is the one by tanh.
    return hasBias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  default:
    return hasBias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

MatmulOp::~MatmulOp() {
  for (Variant &variant : variants) {
    if (variant.desc) {
      cublas.cublasLtMatmulDescDestroy(variant.desc);
    }
  }
  for (cublasLtMatrixLayout_t layout : {x, y, d}) {
    if (layout) {
      cublas.cublasLtMatrixLayoutDestroy(layout);
    }
  }
}

template <typename T>
Status MatmulOp::set(cublasLtMatmulDesc_t desc,
                     cublasLtMatmulDescAttributes_t what, T value) const {
  return cublas.check(
      cublas.cublasLtMatmulDescSetAttribute(desc, what, &value, sizeof(value)),
      "cublasLtMatmulDescSetAttribute");
}

Status MatmulOp::setLayout(cublasLtMatrixLayout_t *layout,
                           const MatrixLayout &from, cudaDataType type) {
  LLMC_TRY(cublas.check(cublas.cublasLtMatrixLayoutCreate(
                            layout, type, static_cast<uint64_t>(from.rows),
                            static_cast<uint64_t>(from.cols), from.lead),
                        "cublasLtMatrixLayoutCreate"));
  if (plan.batches == 1) {
    return Status::success();
  }
  LLMC_TRY(cublas.check(cublas.cublasLtMatrixLayoutSetAttribute(
                            *layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                            &plan.batches, sizeof(plan.batches)),
                        "cublasLtMatrixLayoutSetAttribute"));
  return cublas.check(cublas.cublasLtMatrixLayoutSetAttribute(
                          *layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                          &from.batchStride, sizeof(from.batchStride)),
                      "cublasLtMatrixLayoutSetAttribute");
}

Status MatmulOp::makeLayouts() {
  const ContractionShape &shape = plan.shape;
  LLMC_TRY(
      setLayout(&x, plan.x, cudaTypeOf(plan.isSwapped ? shape.b : shape.a)));
  LLMC_TRY(
      setLayout(&y, plan.y, cudaTypeOf(plan.isSwapped ? shape.a : shape.b)));
  return setLayout(&d, plan.d, cudaTypeOf(shape.c));
}

Status MatmulOp::makeVariant(bool finishes, Variant &variant) {
  const ContractionShape &shape = plan.shape;
  LLMC_TRY(cublas.check(cublas.cublasLtMatmulDescCreate(
                            &variant.desc, computeTypeOf(shape.accumulate),
                            cudaTypeOf(shape.accumulate)),
                        "cublasLtMatmulDescCreate"));
  LLMC_TRY(set(variant.desc, CUBLASLT_MATMUL_DESC_TRANSA,
               plan.transposesX ? CUBLAS_OP_T : CUBLAS_OP_N));
  LLMC_TRY(set(variant.desc, CUBLASLT_MATMUL_DESC_TRANSB,
               plan.transposesY ? CUBLAS_OP_T : CUBLAS_OP_N));
  if (!finishes) {
    return Status::success();
  }
  LLMC_TRY(set(variant.desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
               epilogueOf(shape.hasBias, shape.activation)));
  if (!shape.hasBias) {
    return Status::success();
  }
  // The heuristic wants to see that there is one; each call has its own.
  LLMC_TRY(set(variant.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
               static_cast<const void *>(
                   reinterpret_cast<const void *>(uintptr_t(256)))));
  return plan.batches == 1
             ? Status::success()
             : set(variant.desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE,
                   plan.biasBatchStride);
}

/// The algorithm of the form, for buffers at multiples of `alignment` bytes.
Result<cublasLtMatmulAlgo_t> MatmulOp::ask(const Variant &variant,
                                           uint32_t alignment,
                                           const std::string &name) const {
  cublasLtMatmulPreference_t preference = nullptr;
  LLMC_TRY(cublas.check(cublas.cublasLtMatmulPreferenceCreate(&preference),
                        "cublasLtMatmulPreferenceCreate"));
  cublasStatus_t status = cublas.cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspaceBytes,
      sizeof(workspaceBytes));
  for (auto what : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublas.cublasLtMatmulPreferenceSetAttribute(
          preference, what, &alignment, sizeof(uint32_t));
    }
  }
  std::vector<cublasLtMatmulHeuristicResult_t> found(form + 1);
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublas.cublasLtMatmulAlgoGetHeuristic(
        handle, variant.desc, x, y, d, d, preference,
        static_cast<int>(found.size()), found.data(), &count);
  }
  cublas.cublasLtMatmulPreferenceDestroy(preference);
  LLMC_TRY(cublas.check(
      status, fmt::format("cuBLASLt has no algorithm for contraction '{}' "
                          "with {} bytes of workspace",
                          name, workspaceBytes)));
  if (count <= static_cast<int>(form) ||
      found[form].state != CUBLAS_STATUS_SUCCESS) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected {} algorithms of cuBLASLt for "
                                 "contraction '{}' with {} bytes of "
                                 "workspace, got {}",
                                 form + 1, name, workspaceBytes, count))
        .withHint("compile the plan for the libraries of this machine");
  }
  return found[form].algo;
}

Status MatmulOp::choose(Variant &variant, const std::string &name) {
  const ContractionShape &shape = plan.shape;
  auto least = static_cast<uint32_t>(
      std::min({sizeOf(shape.a), sizeOf(shape.b), sizeOf(shape.c)}));
  if (plan.needsAlignment()) {
    least = matmulAlignment;
  }
  const uint32_t alignments[] = {plan.keepsAlignment ? matmulAlignment : least,
                                 least};
  for (size_t i = 0; i < 2; ++i) {
    LLMC_TRY_ASSIGN(variant.algorithms[i], ask(variant, alignments[i], name));
  }
  return Status::success();
}

Status MatmulOp::prepare(const std::string &name) {
  LLMC_TRY(makeLayouts());
  for (bool finishes : {false, true}) {
    bool isUsed = false;
    for (const MatmulCall &call : plan.calls) {
      isUsed |= call.finishes == finishes;
    }
    if (isUsed) {
      LLMC_TRY(makeVariant(finishes, variants[finishes]));
      LLMC_TRY(choose(variants[finishes], name));
    }
  }
  return Status::success();
}

/// A factor in the type in which the library scales.
struct MatmulScale {
  explicit MatmulScale(double value, DType type) {
    storeElement(type, bytes, 0, value);
  }
  alignas(8) unsigned char bytes[8] = {};
};

Status MatmulOp::enqueue(CUstream stream, const uint64_t *buffers,
                         void *workspace) const {
  const ContractionShape &shape = plan.shape;
  MatmulScale alpha(shape.alpha, shape.accumulate);
  MatmulScale zero(0, shape.accumulate), one(1, shape.accumulate);
  auto place = [](uint64_t base, int64_t offset, DType type) {
    return base + static_cast<uint64_t>(offset * sizeOf(type));
  };
  for (const MatmulCall &call : plan.calls) {
    const Variant &variant = variants[call.finishes];
    uint64_t a = place(buffers[0], call.a, shape.a);
    uint64_t b = place(buffers[1], call.b, shape.b);
    uint64_t c = place(buffers[2 + shape.hasBias], call.c, shape.c);
    bool isAligned = (a | b | c) % matmulAlignment == 0;
    if (!isAligned && plan.needsAlignment()) {
      return makeError(ErrorKind::mismatch,
                       fmt::format("expected buffers at multiples of {} bytes "
                                   "for a product of {}, got others",
                                   matmulAlignment, nameOf(shape.a)));
    }
    if (call.finishes && shape.hasBias) {
      uint64_t bias = place(buffers[2], call.bias, shape.bias);
      isAligned = isAligned && bias % matmulAlignment == 0;
      LLMC_TRY(set(variant.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                   reinterpret_cast<const void *>(bias)));
    }
    auto *result = reinterpret_cast<void *>(c);
    LLMC_TRY(cublas.check(
        cublas.cublasLtMatmul(
            handle, variant.desc, alpha.bytes,
            reinterpret_cast<const void *>(plan.isSwapped ? b : a), x,
            reinterpret_cast<const void *>(plan.isSwapped ? a : b), y,
            call.adds ? one.bytes : zero.bytes, result, d, result, d,
            &variant.algorithms[isAligned ? 0 : 1], workspace, workspaceBytes,
            reinterpret_cast<cudaStream_t>(stream)),
        "cublasLtMatmul"));
  }
  return Status::success();
}

} // namespace llmc::rt::cuda
