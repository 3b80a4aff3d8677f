//===- Cudnn.h - cuDNN, as far as it is used ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN is often not installed where llmc is built, so the few functions of its
// C graph API that are called are declared here, with the numbers of
// cudnn_graph.h, which cuDNN keeps within version 9. A graph is made of
// descriptors: each is created, gets attributes, and is finalized, after which
// it does not change.
//
// https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNN_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNN_H

#include "SymbolTable.h"

#include <cuda.h>

#include <string_view>
#include <vector>

namespace llmc::rt::cuda {

using CudnnHandle = struct CudnnContextTag *; ///< cudnnHandle_t.
using CudnnStatus = int;                      ///< cudnnStatus_t; 0 is success.
using CudnnDescriptor = void *;               ///< cudnnBackendDescriptor_t.

/// cudnnBackendDescriptorType_t.
enum class CudnnKind : int {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engineConfig = 3,
  engineHeuristic = 4,
  executionPlan = 5,
  convolutionForward = 10,
  convolutionFilter = 11,
  convolutionData = 12,
  pointwiseOperation = 13,
  operationGraph = 15,
  variantPack = 16,
  tensor = 17,
  matmul = 18,
  matmulOperation = 19,
  reduction = 21,
  reductionOperation = 22,
  reshapeOperation = 31,
  deviceProperties = 38,
};

/// cudnnBackendAttributeName_t. Of each operation the first; the
/// others follow it (ConvolutionOp.cpp).
enum class CudnnAttribute : int {
  pointwiseMode = 0,
  pointwiseType = 1,
  pointwiseAxis = 9,
  convolutionType = 100,
  convolutionMode = 101,
  convolutionDilations = 102,
  convolutionStrides = 103,
  convolutionPadsAfter = 104,
  convolutionPadsBefore = 105,
  convolutionPlaces = 106,
  heuristicMode = 200,
  heuristicGraph = 201,
  heuristicResults = 202,
  heuristicDevice = 204,
  configEngine = 300,
  planHandle = 400,
  planConfig = 401,
  planWorkspace = 402,
  planDevice = 407,
  forwardAlpha = 700,
  dataAlpha = 706,
  filterAlpha = 712,
  pointwiseSettings = 750,
  pointwiseX = 751,
  pointwiseB = 752,
  pointwiseY = 753,
  pointwiseChoice = 758,
  graphHandle = 800,
  graphOperations = 801,
  tensorAlignment = 900,
  tensorType = 901,
  tensorSizes = 902,
  tensorStrides = 903,
  tensorNumber = 906,
  tensorIsVirtual = 907,
  tensorIsScalar = 908,
  packNumbers = 1000,
  packPointers = 1001,
  packWorkspace = 1003,
  engineNotes = 1303,
  matmulType = 1500,
  matmulA = 1520,
  matmulB = 1521,
  matmulC = 1522,
  matmulSettings = 1523,
  reductionKind = 1600,
  reductionType = 1601,
  reductionX = 1610,
  reductionY = 1611,
  reductionSettings = 1612,
  reshapeX = 2200,
  reshapeY = 2201,
  deviceText = 2702,
};

/// cudnnBackendAttributeType_t.
enum class CudnnType : int {
  handle = 0,
  dataType = 1,
  boolean = 2,
  int64 = 3,
  float32 = 4,
  float64 = 5,
  pointer = 6,
  convolutionMode = 7,
  heuristicMode = 8,
  numericalNote = 11,
  pointwiseMode = 14,
  descriptor = 15,
  reductionKind = 18,
  text = 24,
};

/// cudnnDataType_t.
enum class CudnnData : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i32 = 4,
  bf16 = 9,
  boolean = 11,
};

/// cudnnBackendNumericalNote_t.
enum class CudnnNote : int {
  tensorCore = 0,
  downConverts = 1,
  reducedPrecision = 2,
  fourier = 3,
  nondeterministic = 4,
  winograd = 5,
  winograd4 = 6,
  winograd6 = 7,
  winograd13 = 8,
  strictNan = 9,
};

struct Cudnn {
  size_t (*cudnnGetVersion)() = nullptr;
  const char *(*cudnnGetErrorString)(CudnnStatus status) = nullptr;
  void (*cudnnGetLastErrorString)(char *text, size_t bytes) = nullptr;
  CudnnStatus (*cudnnCreate)(CudnnHandle *handle) = nullptr;
  CudnnStatus (*cudnnDestroy)(CudnnHandle handle) = nullptr;
  CudnnStatus (*cudnnSetStream)(CudnnHandle handle, CUstream stream) = nullptr;
  CudnnStatus (*cudnnBackendCreateDescriptor)(CudnnKind kind,
                                              CudnnDescriptor *made) = nullptr;
  CudnnStatus (*cudnnBackendDestroyDescriptor)(CudnnDescriptor descriptor) =
      nullptr;
  CudnnStatus (*cudnnBackendFinalize)(CudnnDescriptor descriptor) = nullptr;
  CudnnStatus (*cudnnBackendSetAttribute)(CudnnDescriptor descriptor,
                                          CudnnAttribute name, CudnnType type,
                                          int64_t count,
                                          const void *elements) = nullptr;
  CudnnStatus (*cudnnBackendGetAttribute)(CudnnDescriptor descriptor,
                                          CudnnAttribute name, CudnnType type,
                                          int64_t wanted, int64_t *count,
                                          void *elements) = nullptr;
  CudnnStatus (*cudnnBackendExecute)(CudnnHandle handle, CudnnDescriptor plan,
                                     CudnnDescriptor pack) = nullptr;

  /// Loads libcudnn.so.9, once for the process. Error (15): it is not there,
  /// lacks a symbol, or is older than 9.0.
  static Result<const Cudnn *> get();

  /// `what` failed: "<what>: <text> (<last error of the library>)"; 15 where
  /// the library, or this installation of it, does not have what is asked for,
  /// 12 where memory is missing, else 70.
  Status check(CudnnStatus status, std::string_view what) const;
};

/// A descriptor that is destroyed with its owner.
class CudnnObject {
public:
  CudnnObject() = default;
  CudnnObject(CudnnObject &&other) noexcept { *this = std::move(other); }
  CudnnObject &operator=(CudnnObject &&other) noexcept {
    std::swap(cudnn, other.cudnn);
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~CudnnObject() {
    if (descriptor) {
      cudnn->cudnnBackendDestroyDescriptor(descriptor);
    }
  }

  static Result<CudnnObject> make(const Cudnn &cudnn, CudnnKind kind);

  Status set(CudnnAttribute name, CudnnType type, int64_t count,
             const void *elements);
  Status set(CudnnAttribute name, const std::vector<int64_t> &values) {
    return set(name, CudnnType::int64, static_cast<int64_t>(values.size()),
               values.data());
  }
  Status set(CudnnAttribute name, const CudnnObject &object) {
    return set(name, CudnnType::descriptor, 1, &object.descriptor);
  }
  Status finalize();
  CudnnDescriptor get() const { return descriptor; }

private:
  const Cudnn *cudnn = nullptr;
  CudnnDescriptor descriptor = nullptr;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNN_H
