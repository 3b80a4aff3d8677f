//===- Library.cpp - The functions of libcudnn ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn/Descriptors.h"

#include <algorithm>

using namespace llmc::standin;

static std::string &lastError() {
  static thread_local std::string text;
  return text;
}

cudnnStatus_t llmc::standin::refuseCudnn(cudnnStatus_t status,
                                         const char *why) {
  explain("cudnn: %d: %s", static_cast<int>(status), why);
  lastError() = why;
  return status;
}

size_t CUDNNWINAPI cudnnGetVersion() {
  return environmentNumber("LLMC_STANDIN_CUDNN_VERSION", CUDNN_VERSION);
}

const char *CUDNNWINAPI cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS)
    return "CUDNN_STATUS_SUCCESS";
  return status / 1000 == 1   ? "CUDNN_STATUS_NOT_INITIALIZED"
         : status / 1000 == 2 ? "CUDNN_STATUS_BAD_PARAM"
         : status / 1000 == 3 ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status / 1000 == 4 ? "CUDNN_STATUS_INTERNAL_ERROR"
                              : "CUDNN_STATUS_EXECUTION_FAILED";
}

void CUDNNWINAPI cudnnGetLastErrorString(char *message, size_t bytes) {
  if (!message || !bytes)
    return;
  std::string &text = lastError();
  size_t count = std::min(text.size(), bytes - 1);
  std::memcpy(message, text.data(), count);
  message[count] = 0;
  text.clear();
}

cudnnStatus_t CUDNNWINAPI cudnnCreate(cudnnHandle_t *handle) {
  Lock lock(Scheduler::get().mutex);
  if (!handle)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no handle");
  if (contextStack().empty())
    return refuseCudnn(CUDNN_STATUS_NOT_INITIALIZED, "no context is current");
  auto made = std::make_shared<ConvolverHandle>();
  made->context = contextStack().back();
  *handle = static_cast<cudnnHandle_t>(Handles::get().add(made));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnDestroy(cudnnHandle_t handle) {
  Lock lock(Scheduler::get().mutex);
  auto found = Handles::get().find<ConvolverHandle>(handle);
  if (!found)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "no handle of the library");
  Handles::get().remove(*found);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnSetStream(cudnnHandle_t handle,
                                         cudaStream_t stream) {
  Lock lock(Scheduler::get().mutex);
  auto found = Handles::get().find<ConvolverHandle>(handle);
  if (!found)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "no handle of the library");
  auto known = findStream(reinterpret_cast<CUstream>(stream), *found->context);
  if (!known || known->context != found->context)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH,
                       "a stream of another context than the handle's");
  found->stream = reinterpret_cast<CUstream>(stream);
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

cudnnStatus_t CUDNNWINAPI cudnnBackendCreateDescriptor(
    cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor) {
  Lock lock(Scheduler::get().mutex);
  if (!descriptor)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no place");
  if (!isKnown(type))
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "a descriptor that the stand-in does not know");
  auto made = std::make_shared<Descriptor>();
  made->type = type;
  *descriptor = Handles::get().add(made);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  Lock lock(Scheduler::get().mutex);
  auto found = Handles::get().find<Descriptor>(descriptor);
  if (!found)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "no descriptor");
  Handles::get().remove(*found);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI
cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  Lock lock(Scheduler::get().mutex);
  auto found = Handles::get().find<Descriptor>(descriptor);
  if (!found)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "no descriptor");
  if (found->finalized)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "it is finalized already");
  cudnnStatus_t status = checkFinal(*found);
  found->finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

/// Of an attribute that is to be `value`, with descriptors that are finalized.
static cudnnStatus_t readDescriptors(Value &value) {
  for (int64_t i = 0; i < value.count; ++i) {
    void *handle = nullptr;
    std::memcpy(&handle, value.bytes.data() + i * sizeof handle, sizeof handle);
    auto found = Handles::get().find<Descriptor>(handle);
    if (!found)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "no descriptor");
    if (!found->finalized)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                         "an attribute that is not finalized");
    value.descriptors.push_back(found);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnBackendSetAttribute(
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *elements) {
  Lock lock(Scheduler::get().mutex);
  auto found = Handles::get().find<Descriptor>(descriptor);
  if (!found || !elements)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                       "no descriptor, or no elements");
  if (found->finalized)
    return refuseCudnn(CUDNN_STATUS_NOT_INITIALIZED, "it is finalized");
  const AttributeRule *rule = findRule(found->type, name);
  if (!rule)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM,
                       "an attribute that the descriptor does not have");
  // Scalars are of the type that is computed in.
  bool isWide = rule->type == CUDNN_TYPE_FLOAT && type == CUDNN_TYPE_DOUBLE;
  if (type != rule->type && !isWide)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                       "an attribute of another type");
  if (count < rule->fewest || count > rule->most)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                       "an attribute of another count");
  Value value;
  value.type = type;
  value.count = count;
  const auto *bytes = static_cast<const char *>(elements);
  value.bytes.assign(bytes, bytes + count * bytesOfElement(type));
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    if (cudnnStatus_t status = readDescriptors(value))
      return status;
  if (type == CUDNN_TYPE_HANDLE) {
    void *handle = nullptr;
    std::memcpy(&handle, elements, sizeof handle);
    if (!Handles::get().find<ConvolverHandle>(handle))
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "no handle of the library");
  }
  found->values[name] = std::move(value);
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// What is asked
//===----------------------------------------------------------------------===//

namespace {
/// An answer of cudnnBackendGetAttribute.
struct Question {
  const Descriptor &of;
  cudnnBackendAttributeType_t type;
  int64_t wanted;
  int64_t *count;
  void *elements;

  template <typename T>
  cudnnStatus_t answer(cudnnBackendAttributeType_t answered,
                       const std::vector<T> &values) const {
    if (type != answered)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                         "an attribute of another type");
    if (count)
      *count = static_cast<int64_t>(values.size());
    for (int64_t i = 0; i < wanted && i < static_cast<int64_t>(values.size());
         ++i)
      std::memcpy(static_cast<char *>(elements) + i * sizeof(T), &values[i],
                  sizeof(T));
    return CUDNN_STATUS_SUCCESS;
  }

  /// Descriptors of the caller become the engines.
  cudnnStatus_t fill(cudnnBackendDescriptorType_t kind) const {
    if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                         "an attribute of another type");
    auto there = static_cast<int64_t>(of.engines.size());
    if (count)
      *count = wanted ? std::min(wanted, there) : there;
    for (int64_t i = 0; i < wanted && i < there; ++i) {
      void *handle = nullptr;
      std::memcpy(&handle, static_cast<char *>(elements) + i * sizeof handle,
                  sizeof handle);
      auto made = Handles::get().find<Descriptor>(handle);
      if (!made || made->type != kind || made->finalized)
        return refuseCudnn(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
                           "a place that is no new descriptor of the kind");
      made->graph = of.graph;
      made->engines = {of.engines[i]};
      made->finalized = true;
    }
    return CUDNN_STATUS_SUCCESS;
  }
};
} // namespace

cudnnStatus_t CUDNNWINAPI cudnnBackendGetAttribute(
    cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t wanted, int64_t *count,
    void *elements) {
  Lock lock(Scheduler::get().mutex);
  auto found = Handles::get().find<Descriptor>(descriptor);
  if (!found || (wanted > 0 && !elements))
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                       "no descriptor, or no elements");
  if (!found->finalized)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                       "it is not finalized");
  Question question{*found, type, wanted, count, elements};
  switch (name) {
  case CUDNN_ATTR_ENGINEHEUR_RESULTS:
    return question.fill(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  case CUDNN_ATTR_ENGINECFG_ENGINE:
    return question.fill(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    return question.answer(CUDNN_TYPE_NUMERICAL_NOTE,
                           found->engines.at(0).notes);
  case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
    return question.answer(CUDNN_TYPE_INT64,
                           std::vector<int64_t>{found->engines.at(0).number});
  case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    return question.answer(
        CUDNN_TYPE_INT64,
        std::vector<int64_t>{found->engines.at(0).workspaceBytes});
  default:
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "an attribute that the stand-in does not answer");
  }
}
