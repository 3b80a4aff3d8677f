//===- Library.cpp - The functions of libcublasLt -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlasLt/Product.h"

#include <algorithm>
#include <cstring>

using namespace llmc::standin;

namespace {
struct LibraryHandle : Object {
  static constexpr Kind kKind = Kind::Library;
};
} // namespace

bool llmc::standin::isLibraryHandle(const void *handle) {
  return Handles::get().find<LibraryHandle>(handle) != nullptr;
}

cublasStatus_t CUBLASWINAPI cublasLtCreate(cublasLtHandle_t *handle) {
  Lock lock(Scheduler::get().mutex);
  if (!handle)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (contextStack().empty())
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "no context is current");
  *handle = static_cast<cublasLtHandle_t>(
      Handles::get().add(std::make_shared<LibraryHandle>()));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtDestroy(cublasLtHandle_t handle) {
  Lock lock(Scheduler::get().mutex);
  auto found = Handles::get().find<LibraryHandle>(handle);
  if (!found)
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "no handle of the library");
  Handles::get().remove(*found);
  return CUBLAS_STATUS_SUCCESS;
}

size_t CUBLASWINAPI cublasLtGetVersion() { return CUBLAS_VERSION; }
size_t CUBLASWINAPI cublasLtGetCudartVersion() { return CUDA_VERSION; }

cublasStatus_t CUBLASWINAPI cublasLtGetProperty(libraryPropertyType type,
                                                int *value) {
  if (!value || type > PATCH_LEVEL)
    return CUBLAS_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION   ? CUBLAS_VER_MAJOR
           : type == MINOR_VERSION ? CUBLAS_VER_MINOR
                                   : CUBLAS_VER_PATCH;
  return CUBLAS_STATUS_SUCCESS;
}

const char *CUBLASWINAPI cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
#define NAME(status)                                                           \
  case CUBLAS_STATUS_##status:                                                 \
    return "CUBLAS_STATUS_" #status;
    NAME(SUCCESS)
    NAME(NOT_INITIALIZED)
    NAME(ALLOC_FAILED)
    NAME(INVALID_VALUE)
    NAME(ARCH_MISMATCH)
    NAME(MAPPING_ERROR)
    NAME(EXECUTION_FAILED)
    NAME(INTERNAL_ERROR)
    NAME(NOT_SUPPORTED)
    NAME(LICENSE_ERROR)
#undef NAME
  }
  return "unknown status";
}

const char *CUBLASWINAPI cublasLtGetStatusString(cublasStatus_t status) {
  return cublasLtGetStatusName(status);
}

uint32_t llmc::standin::alignmentOf(const LayoutFields &layout,
                                    uint32_t bytes) {
  uint64_t step = (layout.ld | layout.batchStride) * bytesOf(layout.type);
  uint32_t alignment = 16;
  while (alignment > 1 && ((step | bytes) & (alignment - 1)))
    alignment /= 2;
  return std::max<uint32_t>(alignment, bytesOf(layout.type));
}

uint64_t llmc::standin::digest(const Problem &p) {
  uint64_t result = 0xcbf29ce484222325ull;
  auto add = [&result](uint64_t value) {
    result = (result ^ value) * 0x100000001b3ull;
    result ^= result >> 29;
  };
  for (const LayoutFields *layout : {&p.a, &p.b, &p.c, &p.d})
    for (uint64_t value :
         {uint64_t(layout->type), uint64_t(layout->order), layout->rows,
          layout->columns, uint64_t(layout->batchCount)})
      add(value);
  const ProductFields &x = p.product;
  for (uint64_t value :
       {uint64_t(x.compute), uint64_t(x.scale), uint64_t(x.transA),
        uint64_t(x.transB), uint64_t(x.epilogue), uint64_t(x.pointerMode)})
    add(value);
  return result;
}

/// The algorithms that fit, the best first. The same question has the same
/// answer in all processes.
static std::vector<AlgorithmFields>
algorithmsFor(const Problem &p, const PreferenceFields &preference) {
  Random random(digest(p) + seed());
  std::vector<AlgorithmFields> found;
  for (uint32_t parts : {1u, 2u, 3u, 4u}) {
    AlgorithmFields algorithm = {AlgorithmFields::kMagic,
                                 parts,
                                 alignmentOf(p.a, preference.alignA),
                                 alignmentOf(p.b, preference.alignB),
                                 alignmentOf(p.c, preference.alignC),
                                 alignmentOf(p.d, preference.alignD),
                                 0,
                                 digest(p)};
    if (parts > 1)
      algorithm.workspaceBytes =
          (parts * p.m * p.n * p.d.batchCount * 4 + 255) / 256 * 256;
    bool wanted = parts == 1 || random.below(2);
    if (wanted && algorithm.workspaceBytes <= preference.workspaceBytes &&
        parts <= p.k)
      found.insert(found.begin() + random.below(found.size() + 1), algorithm);
  }
  return found;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int requested,
    cublasLtMatmulHeuristicResult_t results[], int *count) {
  Lock lock(Scheduler::get().mutex);
  if (!isLibraryHandle(handle))
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "no handle of the library");
  auto *wishes = fieldsOf<PreferenceFields>(preference);
  if (!wishes || requested <= 0 || !results || !count)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no preference, or no place");
  if (wishes->searchMode != CUBLASLT_SEARCH_BEST_FIT)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "a search mode");
  *count = 0;
  Problem problem;
  if (cublasStatus_t status = makeProblem(product, a, b, c, d, problem))
    return status;
  for (const AlgorithmFields &found : algorithmsFor(problem, *wishes)) {
    if (*count == requested)
      break;
    cublasLtMatmulHeuristicResult_t &result = results[(*count)++];
    std::memset(&result, 0, sizeof result);
    std::memcpy(&result.algo, &found, sizeof found);
    result.workspaceSize = found.workspaceBytes;
    result.state = CUBLAS_STATUS_SUCCESS;
    result.wavesCount = 1;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI
cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        const cublasLtMatmulAlgo_t *algorithm,
                        cublasLtMatmulHeuristicResult_t *result) {
  Lock lock(Scheduler::get().mutex);
  if (!isLibraryHandle(handle))
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "no handle of the library");
  Problem problem;
  if (cublasStatus_t status = makeProblem(product, a, b, c, d, problem))
    return status;
  auto *fields = fieldsOf<AlgorithmFields>(algorithm);
  if (!fields || fields->shape != digest(problem) || !result)
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "the algorithm was found for another product");
  result->workspaceSize = fields->workspaceBytes;
  result->state = CUBLAS_STATUS_SUCCESS;
  result->wavesCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}
