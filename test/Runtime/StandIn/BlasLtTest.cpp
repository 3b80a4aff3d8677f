//===- BlasLtTest.cpp - Products of matrices ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <cmath>
#include <cstring>
#include <cublasLt.h>

using namespace llmc::standin::test;

namespace {

struct Blas {
  void *library = openLibrary("libcublasLt.so.13");
#define LLMC_TEST_BLAS(name)                                                   \
  decltype(&::cublasLt##name) name =                                           \
      reinterpret_cast<decltype(&::cublasLt##name)>(                           \
          findSymbol(library, "cublasLt" #name));
  LLMC_TEST_BLAS(Create)
  LLMC_TEST_BLAS(Destroy)
  LLMC_TEST_BLAS(GetVersion)
  LLMC_TEST_BLAS(GetStatusName)
  LLMC_TEST_BLAS(Matmul)
  LLMC_TEST_BLAS(MatmulDescInit_internal)
  LLMC_TEST_BLAS(MatmulDescSetAttribute)
  LLMC_TEST_BLAS(MatmulDescGetAttribute)
  LLMC_TEST_BLAS(MatrixLayoutInit_internal)
  LLMC_TEST_BLAS(MatrixLayoutSetAttribute)
  LLMC_TEST_BLAS(MatmulPreferenceInit_internal)
  LLMC_TEST_BLAS(MatmulPreferenceSetAttribute)
  LLMC_TEST_BLAS(MatmulAlgoGetHeuristic)
  LLMC_TEST_BLAS(MatmulAlgoCheck)
  LLMC_TEST_BLAS(MatrixTransform)
#undef LLMC_TEST_BLAS
};
const Blas &blas() {
  static const Blas library;
  return library;
}

class BlasLtTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_EQ(blas().Create(&handle), CUBLAS_STATUS_SUCCESS);
    describe(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    blas().MatmulPreferenceInit_internal(&preference, sizeof preference);
  }
  void TearDown() override {
    EXPECT_EQ(blas().Destroy(handle), CUBLAS_STATUS_SUCCESS);
    DeviceTest::TearDown();
  }

  void describe(cublasComputeType_t compute, cudaDataType_t scale) {
    blas().MatmulDescInit_internal(&product, sizeof product, compute, scale);
  }
  template <typename T> void set(cublasLtMatmulDescAttributes_t name, T value) {
    EXPECT_EQ(
        blas().MatmulDescSetAttribute(&product, name, &value, sizeof value),
        CUBLAS_STATUS_SUCCESS);
  }
  template <typename T>
  void set(cublasLtMatmulPreferenceAttributes_t name, T value) {
    EXPECT_EQ(blas().MatmulPreferenceSetAttribute(&preference, name, &value,
                                                  sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
  void layout(int which, cudaDataType_t type, uint64_t rows, uint64_t columns,
              int64_t ld) {
    blas().MatrixLayoutInit_internal(&layouts[which], sizeof layouts[which],
                                     type, rows, columns, ld);
  }
  template <typename T>
  void set(int which, cublasLtMatrixLayoutAttribute_t name, T value) {
    EXPECT_EQ(blas().MatrixLayoutSetAttribute(&layouts[which], name, &value,
                                              sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
  /// f32 matrices by columns without gaps: A is m x k, B is k x n.
  void plain(uint64_t m, uint64_t n, uint64_t k,
             cudaDataType_t type = CUDA_R_32F) {
    layout(0, type, m, k, m);
    layout(1, type, k, n, k);
    layout(2, type, m, n, m);
    layout(3, type, m, n, m);
  }
  cublasStatus_t heuristic(int requested, int *count) {
    return blas().MatmulAlgoGetHeuristic(
        handle, &product, &layouts[0], &layouts[1], &layouts[2], &layouts[3],
        &preference, requested, results, count);
  }
  cublasStatus_t multiply(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c,
                          CUdeviceptr d,
                          const cublasLtMatmulAlgo_t *algorithm = nullptr,
                          CUdeviceptr workspace = 0, size_t bytes = 0) {
    auto pointer = [](CUdeviceptr p) { return reinterpret_cast<void *>(p); };
    return blas().Matmul(handle, &product, &alpha, pointer(a), &layouts[0],
                         pointer(b), &layouts[1], &beta, pointer(c),
                         &layouts[2], pointer(d), &layouts[3], algorithm,
                         pointer(workspace), bytes,
                         reinterpret_cast<cudaStream_t>(stream));
  }
  std::vector<float> result(CUdeviceptr d, size_t count) {
    EXPECT_CUDA(cuStreamSynchronize(stream));
    return download(d, count);
  }

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t layouts[4];
  cublasLtMatmulPreferenceOpaque_t preference;
  cublasLtMatmulHeuristicResult_t results[8];
  float alpha = 1, beta = 0;
};
using BlasLtDeathTest = BlasLtTest;

constexpr auto kSuccess = CUBLAS_STATUS_SUCCESS;
constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;

} // namespace

TEST_F(BlasLtTest, MultipliesByColumnsAndAdds) {
  plain(2, 2, 3);
  alpha = 2;
  beta = -1;
  CUdeviceptr a = upload({1, 2, 3, 4, 5, 6}), b = upload({1, 0, 1, 0, 1, 0});
  CUdeviceptr c = upload({10, 20, 30, 40});
  ASSERT_EQ(multiply(a, b, c, c), kSuccess);
  alpha = beta = 100; // they are read by the call
  EXPECT_EQ(result(c, 4), (std::vector<float>{2, -4, -24, -32}));
}

TEST_F(BlasLtTest, TransposesAndReadsByRowsAndInBatches) {
  // A by rows, 3 x 2 and transposed; B by columns and transposed; two of each.
  layout(0, CUDA_R_32F, 3, 2, 2);
  layout(1, CUDA_R_32F, 2, 3, 2);
  layout(2, CUDA_R_32F, 2, 2, 2);
  layout(3, CUDA_R_32F, 2, 2, 2);
  set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t(CUBLAS_OP_T));
  set(CUBLASLT_MATMUL_DESC_TRANSB, int32_t(CUBLAS_OP_T));
  set(0, CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t(CUBLASLT_ORDER_ROW));
  for (int i = 0; i < 4; ++i)
    set(i, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
  set(0, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t(6));
  set(3, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t(4));
  CUdeviceptr a = upload({1, 2, 3, 4, 5, 6, 1, 0, 0, 1, 0, 0});
  CUdeviceptr b = upload({1, 4, 2, 5, 3, 6}), d = allocate(32); // b of both
  ASSERT_EQ(multiply(a, b, 0, d), kSuccess);
  EXPECT_EQ(result(d, 8), (std::vector<float>{22, 28, 49, 64, 1, 2, 4, 5}));
}

TEST_F(BlasLtTest, ReadsAlphaAndBetaOfADeviceWhenItRuns) {
  plain(1, 1, 1);
  set(CUBLASLT_MATMUL_DESC_POINTER_MODE, int32_t(CUBLASLT_POINTER_MODE_DEVICE));
  CUdeviceptr a = upload({3}), d = upload({7}), two = upload({2});
  ASSERT_EQ(blas().Matmul(handle, &product, reinterpret_cast<void *>(two),
                          reinterpret_cast<void *>(a), &layouts[0],
                          reinterpret_cast<void *>(a), &layouts[1],
                          reinterpret_cast<void *>(two),
                          reinterpret_cast<void *>(d), &layouts[2],
                          reinterpret_cast<void *>(d), &layouts[3], nullptr,
                          nullptr, 0, reinterpret_cast<cudaStream_t>(stream)),
            kSuccess);
  EXPECT_EQ(result(d, 1), std::vector<float>{32});
}

TEST_F(BlasLtTest, ComputesInTheTypesOfTheTables) {
  struct Row {
    cublasComputeType_t compute;
    cudaDataType_t scale, factor, result;
    cublasStatus_t expected;
  };
  const Row rows[] = {
      {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, kSuccess},
      {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, kSuccess},
      {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, kSuccess},
      {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
       kSuccess},
      {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, kSuccess},
      {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, kSuccess},
      {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_16F, kUnsupported},
      {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_64F, CUDA_R_64F, kUnsupported},
      {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_16BF, kUnsupported},
      {CUBLAS_COMPUTE_32F, CUDA_R_64F, CUDA_R_32F, CUDA_R_32F, kUnsupported},
      {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F,
       kUnsupported},
      {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, kUnsupported},
      // Integers and floats of 8 bits want A transposed.
      {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, kUnsupported},
      {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16BF,
       kUnsupported},
  };
  for (const Row &row : rows) {
    describe(row.compute, row.scale);
    plain(16, 16, 16, row.factor);
    layout(2, row.result, 16, 16, 16);
    layout(3, row.result, 16, 16, 16);
    int count = 0;
    EXPECT_EQ(heuristic(1, &count), row.expected)
        << row.compute << " " << row.factor << " " << row.result;
  }
}

TEST_F(BlasLtTest, WantsCOfTheTypeOfD) {
  plain(16, 16, 16, CUDA_R_16BF);
  layout(3, CUDA_R_32F, 16, 16, 16);
  int count = 0;
  EXPECT_EQ(heuristic(1, &count), kUnsupported);
}

TEST_F(BlasLtTest, RoundsNarrowFloatsToTheNearest) {
  plain(1, 3, 1, CUDA_R_16BF);
  auto bf16 = [](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return uint16_t(bits >> 16);
  };
  uint16_t one = bf16(1), values[] = {bf16(1.5f), bf16(-3), bf16(257)};
  CUdeviceptr a = allocate(2), b = allocate(6), d = allocate(6);
  ASSERT_CUDA(cuMemcpyHtoD(a, &one, 2));
  ASSERT_CUDA(cuMemcpyHtoD(b, values, 6));
  ASSERT_CUDA(cuStreamSynchronize(nullptr));
  alpha = 1.00390625f; // 1 + 2^-8: a half of the last bit, so it is dropped
  ASSERT_EQ(multiply(a, b, 0, d), kSuccess);
  ASSERT_CUDA(cuStreamSynchronize(stream));
  uint16_t rounded[3];
  ASSERT_CUDA(cuMemcpyDtoH(rounded, d, 6));
  EXPECT_EQ(rounded[0], bf16(1.5078125f)); // 1.505859375 is nearer to it
  EXPECT_EQ(rounded[1], bf16(-3.015625f)); // of -3.01171875
  EXPECT_EQ(rounded[2], bf16(256));        // 257 is a tie
}

TEST_F(BlasLtTest, MultipliesFloatsOfEightBitsWithScales) {
  for (int i = 0; i < 2; ++i)
    layout(i, CUDA_R_8F_E4M3, 16, 16, 16);
  for (int i = 2; i < 4; ++i)
    layout(i, CUDA_R_32F, 16, 16, 16);
  set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t(CUBLAS_OP_T));
  CUdeviceptr factors = allocate(256), d = allocate(1024), scale = upload({8});
  ASSERT_CUDA(cuMemsetD8(factors, 0x3a, 256)); // 1.25
  set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
  ASSERT_CUDA(cuStreamSynchronize(nullptr));
  ASSERT_EQ(multiply(factors, factors, 0, d), kSuccess);
  EXPECT_EQ(result(d, 256), std::vector<float>(256, 8 * 16 * 1.25f * 1.25f));
}

TEST_F(BlasLtTest, AppliesEpilogues) {
  plain(1, 2, 1);
  layout(3, CUDA_R_32F, 1, 2, 1);
  CUdeviceptr a = upload({1}), b = upload({-1, 2}), d = allocate(8);
  CUdeviceptr bias = upload({0.5f, 0}), aux = allocate(64);
  auto gelu = [](double x) {
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  auto run = [&](cublasLtEpilogue_t epilogue) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(epilogue));
    EXPECT_EQ(multiply(a, b, 0, d), kSuccess);
    return result(d, 2);
  };
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  EXPECT_EQ(run(CUBLASLT_EPILOGUE_BIAS), (std::vector<float>{-0.5f, 2.5f}));
  EXPECT_EQ(run(CUBLASLT_EPILOGUE_RELU_BIAS), (std::vector<float>{0, 2.5f}));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(8));
  std::vector<float> values = run(CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  EXPECT_NEAR(values[0], gelu(-0.5), 1e-6);
  EXPECT_NEAR(values[1], gelu(2.5), 1e-6);
  EXPECT_EQ(download(aux, 9)[0], -0.5f);
  EXPECT_EQ(download(aux, 9)[8], 2.5f);
  values = run(CUBLASLT_EPILOGUE_DGELU_BGRAD);
  for (int i = 0; i < 2; ++i) {
    double x = i ? 2.5 : -0.5, step = 1e-4;
    double slope = (gelu(x + step) - gelu(x - step)) / (2 * step);
    EXPECT_NEAR(values[i], (i ? 2 : -1) * slope, 1e-5);
  }
  EXPECT_NEAR(download(bias, 1)[0], values[0] + values[1], 1e-6);
  run(CUBLASLT_EPILOGUE_BGRADB);
  EXPECT_EQ(download(bias, 2), (std::vector<float>{-1, 2}));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(9));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_GELU_AUX));
  EXPECT_EQ(multiply(a, b, 0, d), kInvalid);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_DRELU));
  EXPECT_EQ(multiply(a, b, 0, d), kUnsupported);
}

TEST_F(BlasLtTest, OffersAlgorithmsWithinTheWorkspace) {
  plain(8, 8, 64);
  int without = 0, with = 0;
  ASSERT_EQ(heuristic(8, &without), kSuccess);
  EXPECT_EQ(without, 1);
  EXPECT_EQ(results[0].workspaceSize, 0u);
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(1 << 20));
  for (uint64_t k = 64; with < 2 && k < 90; ++k) {
    plain(8, 8, k);
    ASSERT_EQ(heuristic(8, &with), kSuccess);
  }
  EXPECT_GE(with, 2);
  int one = 0;
  ASSERT_EQ(heuristic(1, &one), kSuccess);
  EXPECT_EQ(one, 1);
  EXPECT_EQ(heuristic(0, &one), kInvalid);
}

TEST_F(BlasLtTest, HoldsTheTermsOfAnAlgorithm) {
  plain(8, 8, 64);
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(1 << 20));
  int count = 0;
  ASSERT_EQ(heuristic(8, &count), kSuccess);
  CUdeviceptr a = allocate(4 * 8 * 64 + 16), b = allocate(4 * 8 * 64);
  CUdeviceptr d = allocate(256), workspace = allocate(1 << 20);
  for (int i = 0; i < count; ++i) {
    const auto &found = results[i];
    if (found.workspaceSize) {
      EXPECT_EQ(
          multiply(a, b, 0, d, &found.algo, workspace, found.workspaceSize - 1),
          kInvalid);
    }
    EXPECT_EQ(multiply(a, b, 0, d, &found.algo, workspace, 1 << 20), kSuccess);
    // The preference promised 256 bytes, so 4 are too few.
    EXPECT_EQ(multiply(a + 4, b, 0, d, &found.algo, workspace, 1 << 20),
              kInvalid);
  }
  EXPECT_EQ(multiply(a + 4, b, 0, d), kSuccess);
  plain(8, 8, 32);
  EXPECT_EQ(multiply(a, b, 0, d, &results[0].algo, workspace, 1 << 20),
            kInvalid);
  ASSERT_CUDA(cuStreamSynchronize(stream));
}

TEST_F(BlasLtTest, RefusesWhatDoesNotFit) {
  CUdeviceptr a = allocate(4096), d = allocate(4096);
  plain(4, 4, 4);
  layout(1, CUDA_R_32F, 5, 4, 5);
  EXPECT_EQ(multiply(a, a, 0, d), kInvalid);
  plain(4, 4, 4);
  layout(0, CUDA_R_32F, 4, 4, 3);
  EXPECT_EQ(multiply(a, a, 0, d), kInvalid);
  plain(4, 4, 4);
  set(2, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
  EXPECT_EQ(multiply(a, a, 0, d), kInvalid);
  plain(4, 4, 4);
  set(0, CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t(CUBLASLT_ORDER_COL32));
  EXPECT_EQ(multiply(a, a, 0, d), kUnsupported);
  plain(4, 4, 4);
  beta = 1;
  EXPECT_EQ(multiply(a, a, 0, d), kInvalid);
  int32_t value = 0;
  EXPECT_EQ(blas().MatmulDescSetAttribute(
                &product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &value, 4),
            kInvalid);
  size_t written = 0;
  EXPECT_EQ(blas().MatmulDescGetAttribute(
                &product, CUBLASLT_MATMUL_DESC_EPILOGUE, nullptr, 0, &written),
            kSuccess);
  EXPECT_EQ(written, 4u);
  EXPECT_EQ(blas().MatrixTransform, nullptr);
  EXPECT_EQ(blas().GetVersion(), 130100u);
  EXPECT_STREQ(blas().GetStatusName(kUnsupported),
               "CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST_F(BlasLtDeathTest, ReportsMatricesThatLieWhereTheyMayNot) {
  plain(4, 4, 4);
  CUdeviceptr a = allocate(64), d = allocate(64);
  EXPECT_DEATH(multiply(a, a, 0, d + 4), "D, 64 bytes at .* is not part");
  EXPECT_DEATH(multiply(a, a, 0, a), "D lies on a factor");
  beta = 1;
  CUdeviceptr c = allocate(128);
  EXPECT_DEATH(multiply(a, a, c, c + 16), "D lies on C");
}
