//===- Descriptors.h - What a graph of cuDNN is described by --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor has attributes by their name, each of one type and of some count
// of elements, until it is finalized. From then on it does not change, and can
// be asked, and be an attribute of others.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CUDNN_DESCRIPTORS_H
#define LLMC_TEST_RUNTIME_STANDIN_CUDNN_DESCRIPTORS_H

#include "Core/Objects.h"

#include <cudnn_graph.h>

#include <cstring>
#include <map>

namespace llmc::standin {

struct Descriptor;
using DescriptorRef = std::shared_ptr<Descriptor>;

/// One way to compute a graph.
struct Engine {
  int64_t number = 0;
  std::vector<cudnnBackendNumericalNote_t> notes;
  int64_t workspaceBytes = 0;
  unsigned partialSums = 1;
  bool rounds = false;  ///< Operands, to those of TF32.
  bool refuses = false; ///< Where a plan of it is finalized.
};

struct Value {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  int64_t count = 0;
  std::vector<char> bytes;
  std::vector<DescriptorRef> descriptors;
};

struct Descriptor : Object {
  static constexpr Kind kKind = Kind::Descriptor;
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool finalized = false;
  std::map<int, Value> values;
  // Of engines, configurations and plans: what was chosen for which graph; of
  // heuristics all that are offered.
  DescriptorRef graph;
  std::vector<Engine> engines;

  bool has(int name) const { return values.count(name) != 0; }
  template <typename T> std::vector<T> list(int name) const {
    std::vector<T> found;
    if (auto it = values.find(name); it != values.end()) {
      found.resize(it->second.bytes.size() / sizeof(T));
      std::memcpy(found.data(), it->second.bytes.data(),
                  found.size() * sizeof(T));
    }
    return found;
  }
  template <typename T> T get(int name, T otherwise) const {
    std::vector<T> found = list<T>(name);
    return found.empty() ? otherwise : found[0];
  }
  const DescriptorRef &at(int name) const {
    return values.at(name).descriptors.at(0);
  }
};

struct ConvolverHandle : Object {
  static constexpr Kind kKind = Kind::Convolver;
  Context *context = nullptr;
  CUstream stream = nullptr;
};

/// Whether a descriptor of the type may have the attribute at all, and how.
struct AttributeRule {
  int descriptor, name;
  cudnnBackendAttributeType_t type;
  int64_t fewest, most;
  bool isRequired;
};
const AttributeRule *findRule(int descriptor, int name);
bool isKnown(int descriptor);
size_t bytesOfElement(cudnnBackendAttributeType_t type);

/// All that is required is there, and goes together.
cudnnStatus_t checkFinal(Descriptor &descriptor);

/// Returns `status`, and says why where that is wanted, and to
/// cudnnGetLastErrorString.
cudnnStatus_t refuseCudnn(cudnnStatus_t status, const char *why);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CUDNN_DESCRIPTORS_H
