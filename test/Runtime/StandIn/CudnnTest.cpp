//===- CudnnTest.cpp - Convolutions by the graph API ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <cudnn_graph.h>

using namespace llmc::standin::test;

namespace {

struct CudnnLibrary {
  void *library = openLibrary("libcudnn.so.9");
#define LLMC_TEST_CUDNN(name)                                                  \
  decltype(&::cudnn##name) name = reinterpret_cast<decltype(&::cudnn##name)>(  \
      findSymbol(library, "cudnn" #name));
  LLMC_TEST_CUDNN(GetVersion)
  LLMC_TEST_CUDNN(Create)
  LLMC_TEST_CUDNN(Destroy)
  LLMC_TEST_CUDNN(SetStream)
  LLMC_TEST_CUDNN(BackendCreateDescriptor)
  LLMC_TEST_CUDNN(BackendDestroyDescriptor)
  LLMC_TEST_CUDNN(BackendFinalize)
  LLMC_TEST_CUDNN(BackendSetAttribute)
  LLMC_TEST_CUDNN(BackendGetAttribute)
  LLMC_TEST_CUDNN(BackendExecute)
#undef LLMC_TEST_CUDNN
};
const CudnnLibrary &cudnn() {
  static const CudnnLibrary library;
  return library;
}

using Descriptor = cudnnBackendDescriptor_t;
using Numbers = std::vector<int64_t>;

Descriptor make(cudnnBackendDescriptorType_t type) {
  Descriptor made = nullptr;
  EXPECT_EQ(cudnn().BackendCreateDescriptor(type, &made), CUDNN_STATUS_SUCCESS);
  return made;
}

cudnnStatus_t set(Descriptor to, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, const void *value,
                  int64_t count = 1) {
  return cudnn().BackendSetAttribute(to, name, type, count, value);
}
cudnnStatus_t set(Descriptor to, cudnnBackendAttributeName_t name,
                  const Numbers &values) {
  return set(to, name, CUDNN_TYPE_INT64, values.data(),
             static_cast<int64_t>(values.size()));
}
cudnnStatus_t set(Descriptor to, cudnnBackendAttributeName_t name,
                  Descriptor value) {
  return set(to, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, &value);
}

/// A convolution of 1 x 1 x 1 x 4 under a kernel of 3: y is 1 x 1 x 1 x 2.
class CudnnTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_EQ(cudnn().Create(&handle), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnn().SetStream(handle, reinterpret_cast<cudaStream_t>(stream)),
              CUDNN_STATUS_SUCCESS);
  }

  static Descriptor makeTensor(int64_t number, int64_t size) {
    Descriptor made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    auto type = CUDNN_DATA_FLOAT;
    set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, &type);
    set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, {1, 1, 1, size});
    set(made, CUDNN_ATTR_TENSOR_STRIDES, {size, size, size, 1});
    set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, {number});
    set(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
    EXPECT_EQ(cudnn().BackendFinalize(made), CUDNN_STATUS_SUCCESS);
    return made;
  }

  static Descriptor makeSettings(int64_t pad) {
    Descriptor made = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    auto type = CUDNN_DATA_FLOAT;
    auto mode = CUDNN_CROSS_CORRELATION;
    set(made, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, &type);
    set(made, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
        &mode);
    set(made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2});
    set(made, CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1});
    set(made, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {1, 1});
    set(made, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {0, pad});
    set(made, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {0, 0});
    return made;
  }

  static Descriptor makeOperation(Descriptor settings, int64_t sizeOfY) {
    Descriptor made =
        make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    float alpha = 1, beta = 0;
    set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT,
        &alpha);
    set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT,
        &beta);
    set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, settings);
    set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, makeTensor(1, 4));
    set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, makeTensor(2, 3));
    set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
        makeTensor(3, sizeOfY));
    return made;
  }

  Descriptor makeHeuristic() {
    Descriptor settings = makeSettings(0);
    EXPECT_EQ(cudnn().BackendFinalize(settings), CUDNN_STATUS_SUCCESS);
    Descriptor operation = makeOperation(settings, 2);
    EXPECT_EQ(cudnn().BackendFinalize(operation), CUDNN_STATUS_SUCCESS);
    Descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle);
    EXPECT_EQ(cudnn().BackendFinalize(graph), CUDNN_STATUS_SUCCESS);
    Descriptor heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    auto mode = CUDNN_HEUR_MODE_FALLBACK;
    set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode);
    EXPECT_EQ(cudnn().BackendFinalize(heuristic), CUDNN_STATUS_SUCCESS);
    return heuristic;
  }

  /// By the one engine of the fallback.
  Descriptor makePlan() {
    Descriptor heuristic = makeHeuristic();
    Descriptor config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count = 0;
    EXPECT_EQ(cudnn().BackendGetAttribute(
                  heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                  CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &config),
              CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(count, 1);
    Descriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, &handle);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    EXPECT_EQ(cudnn().BackendFinalize(plan), CUDNN_STATUS_SUCCESS);
    return plan;
  }

  static Descriptor makePack(const Numbers &numbers,
                             const std::vector<CUdeviceptr> &pointers) {
    Descriptor pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers);
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
        pointers.data(), static_cast<int64_t>(pointers.size()));
    EXPECT_EQ(cudnn().BackendFinalize(pack), CUDNN_STATUS_SUCCESS);
    return pack;
  }

  cudnnHandle_t handle = nullptr;
};

TEST_F(CudnnTest, Computes) {
  CUdeviceptr x = upload({1, 2, 3, 4}), w = upload({1, 10, 100}),
              y = upload({-1, -1});
  Descriptor pack = makePack({3, 1, 2}, {y, x, w});
  EXPECT_EQ(cudnn().BackendExecute(handle, makePlan(), pack),
            CUDNN_STATUS_SUCCESS);
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download(y, 2), (std::vector<float>{321, 432}));
}

TEST_F(CudnnTest, AttributesHaveATypeAndACount) {
  Descriptor tensor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  float wrong = 1;
  EXPECT_EQ(set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, &wrong),
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  EXPECT_EQ(set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, {1, 2}),
            CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  EXPECT_EQ(set(tensor, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2}),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnn().BackendFinalize(tensor), CUDNN_STATUS_BAD_PARAM);
  int64_t number = 0, count = 0;
  EXPECT_EQ(cudnn().BackendGetAttribute(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID,
                                        CUDNN_TYPE_INT64, 1, &count, &number),
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  Descriptor done = makeTensor(1, 4);
  EXPECT_EQ(set(done, CUDNN_ATTR_TENSOR_UNIQUE_ID, {2}),
            CUDNN_STATUS_NOT_INITIALIZED);
}

TEST_F(CudnnTest, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_EQ(cudnn().BackendFinalize(makeSettings(-1)), CUDNN_STATUS_BAD_PARAM);
  Descriptor settings = makeSettings(0);
  Descriptor operation =
      make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  EXPECT_EQ(set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                settings),
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  EXPECT_EQ(cudnn().BackendFinalize(settings), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnn().BackendFinalize(makeOperation(settings, 3)),
            CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  // An engine is the heuristic's to give.
  EXPECT_EQ(cudnn().BackendFinalize(make(CUDNN_BACKEND_ENGINE_DESCRIPTOR)),
            CUDNN_STATUS_NOT_SUPPORTED);
}

TEST_F(CudnnTest, PacksAreWhole) {
  CUdeviceptr x = upload({1, 2, 3, 4}), w = upload({1, 10, 100, 0, 0, 0}),
              y = upload({-1, -1});
  Descriptor plan = makePlan();
  EXPECT_EQ(cudnn().BackendExecute(handle, plan, makePack({1, 2}, {x, w})),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      cudnn().BackendExecute(handle, plan, makePack({1, 2, 3}, {x, w + 4, y})),
      CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
}

/// Four dims; one that lies nowhere has a number above 10.
Descriptor makeFour(int64_t number, const Numbers &sizes,
                    cudnnDataType_t type) {
  Descriptor made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  Numbers strides(4, 1);
  for (int i = 2; i >= 0; --i)
    strides[i] = strides[i + 1] * sizes[i + 1];
  bool isVirtual = number > 10;
  set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, &type);
  set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, sizes);
  set(made, CUDNN_ATTR_TENSOR_STRIDES, strides);
  set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, {number});
  set(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4});
  set(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, &isVirtual);
  EXPECT_EQ(cudnn().BackendFinalize(made), CUDNN_STATUS_SUCCESS);
  return made;
}

Descriptor makePoint(cudnnPointwiseMode_t mode, Descriptor x, Descriptor b,
                     Descriptor y) {
  Descriptor settings = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  auto type = CUDNN_DATA_FLOAT;
  set(settings, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, &mode);
  set(settings, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, &type);
  EXPECT_EQ(cudnn().BackendFinalize(settings), CUDNN_STATUS_SUCCESS);
  Descriptor made = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  set(made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, settings);
  set(made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b)
    set(made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
  set(made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  EXPECT_EQ(cudnn().BackendFinalize(made), CUDNN_STATUS_SUCCESS);
  return made;
}

cudnnStatus_t finalizeGraph(cudnnHandle_t handle,
                            const std::vector<Descriptor> &operations) {
  Descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
      operations.data(), static_cast<int64_t>(operations.size()));
  set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle);
  return cudnn().BackendFinalize(graph);
}

// What such graphs compute is seen by CudaAttentionTest.
TEST_F(CudnnTest, GraphsOfOperationsAreWhole) {
  Descriptor x = makeFour(1, {1, 1, 2, 3}, CUDNN_DATA_FLOAT),
             y = makeFour(2, {1, 1, 2, 3}, CUDNN_DATA_FLOAT),
             row = makeFour(3, {1, 1, 2, 1}, CUDNN_DATA_FLOAT),
             inside = makeFour(11, {1, 1, 2, 3}, CUDNN_DATA_FLOAT);
  Descriptor exponential = makePoint(CUDNN_POINTWISE_EXP, x, nullptr, inside),
             difference = makePoint(CUDNN_POINTWISE_SUB, inside, row, y);
  EXPECT_EQ(finalizeGraph(handle, {exponential, difference}),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(finalizeGraph(handle, {difference, exponential}),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      finalizeGraph(handle, {makePoint(CUDNN_POINTWISE_SUB, x, nullptr, y)}),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(finalizeGraph(handle, {makePoint(CUDNN_POINTWISE_SUB, x, y, row)}),
            CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  Descriptor other = makeFour(1, {1, 1, 2, 3}, CUDNN_DATA_FLOAT);
  EXPECT_EQ(
      finalizeGraph(handle, {makePoint(CUDNN_POINTWISE_SUB, x, row, other)}),
      CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
  Descriptor reduction = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  set(reduction, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
  EXPECT_EQ(cudnn().BackendFinalize(reduction), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(CudnnTest, WhatAGpuWouldNotSurviveEndsTheProcess) {
  CUdeviceptr x = upload({1, 2, 3, 4}), w = upload({1, 10, 100});
  Descriptor plan = makePlan();
  EXPECT_DEATH(
      cudnn().BackendExecute(handle, plan, makePack({1, 2, 3}, {x, w, x})),
      "stand-in: cudnnBackendExecute: y lies on x");
  EXPECT_DEATH(
      cudnn().BackendExecute(handle, plan, makePack({1, 2, 3}, {x, w, 64})),
      "y, 8 bytes at 0x40, is not part of one allocation");
  Descriptor gone = makeTensor(1, 4);
  cudnn().BackendDestroyDescriptor(gone);
  EXPECT_DEATH(cudnn().BackendFinalize(gone), "stand-in: ");
}

} // namespace
