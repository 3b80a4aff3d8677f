//===- Rules.cpp - Which descriptors are complete -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn/OpGraph.h"

#include <algorithm>

using namespace llmc::standin;

#define OPERATION(which, type, x, w, y)                                        \
  {type,                                                                       \
   CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_ALPHA,                           \
   CUDNN_TYPE_FLOAT,                                                           \
   1,                                                                          \
   1,                                                                          \
   true},                                                                      \
      {type,                                                                   \
       CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_BETA,                        \
       CUDNN_TYPE_FLOAT,                                                       \
       1,                                                                      \
       1,                                                                      \
       true},                                                                  \
      {type,                                                                   \
       CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_CONV_DESC,                   \
       CUDNN_TYPE_BACKEND_DESCRIPTOR,                                          \
       1,                                                                      \
       1,                                                                      \
       true},                                                                  \
      {type,                                                                   \
       CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_##x,                         \
       CUDNN_TYPE_BACKEND_DESCRIPTOR,                                          \
       1,                                                                      \
       1,                                                                      \
       true},                                                                  \
      {type,                                                                   \
       CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_##w,                         \
       CUDNN_TYPE_BACKEND_DESCRIPTOR,                                          \
       1,                                                                      \
       1,                                                                      \
       true},                                                                  \
  {                                                                            \
    type, CUDNN_ATTR_OPERATION_CONVOLUTION_##which##_##y,                      \
        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, true                              \
  }

static const AttributeRule rules[] = {
#define ROW(kind, name, type, fewest, most, required)                          \
  {CUDNN_BACKEND_##kind##_DESCRIPTOR,                                          \
   CUDNN_ATTR_##name,                                                          \
   CUDNN_TYPE_##type,                                                          \
   fewest,                                                                     \
   most,                                                                       \
   required},
    ROW(CONVOLUTION, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, 1, true) ROW(
        CONVOLUTION, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, 1,
        true) ROW(CONVOLUTION, CONVOLUTION_DILATIONS, INT64, 1, 3,
                  true) ROW(CONVOLUTION, CONVOLUTION_FILTER_STRIDES, INT64, 1,
                            3, true) ROW(CONVOLUTION, CONVOLUTION_POST_PADDINGS,
                                         INT64, 1, 3, true)
        ROW(CONVOLUTION, CONVOLUTION_PRE_PADDINGS, INT64, 1, 3, true) ROW(
            CONVOLUTION, CONVOLUTION_SPATIAL_DIMS, INT64, 1, 1,
            true) ROW(TENSOR, TENSOR_BYTE_ALIGNMENT, INT64, 1, 1,
                      true) ROW(TENSOR, TENSOR_DATA_TYPE, DATA_TYPE, 1, 1, true)
            ROW(TENSOR, TENSOR_DIMENSIONS, INT64, 1, CUDNN_DIM_MAX,
                true) ROW(TENSOR, TENSOR_STRIDES, INT64, 1, CUDNN_DIM_MAX,
                          true) ROW(TENSOR, TENSOR_UNIQUE_ID, INT64, 1, 1, true)
                ROW(OPERATIONGRAPH, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR,
                    1, 64, true) ROW(OPERATIONGRAPH,
                                     OPERATIONGRAPH_HANDLE, HANDLE, 1, 1, true)
                    ROW(ENGINEHEUR, ENGINEHEUR_MODE, HEUR_MODE, 1, 1, true) ROW(
                        ENGINEHEUR,
                        ENGINEHEUR_OPERATION_GRAPH,
                        BACKEND_DESCRIPTOR,
                        1,
                        1, true) ROW(EXECUTION_PLAN,
                                     EXECUTION_PLAN_HANDLE, HANDLE, 1, 1,
                                     true) ROW(EXECUTION_PLAN,
                                               EXECUTION_PLAN_ENGINE_CONFIG,
                                               BACKEND_DESCRIPTOR, 1, 1, true)
                        ROW(VARIANT_PACK, VARIANT_PACK_UNIQUE_IDS, INT64, 1, 64,
                            true) ROW(VARIANT_PACK, VARIANT_PACK_DATA_POINTERS,
                                      VOID_PTR,
                                      1, 64, true) ROW(VARIANT_PACK,
                                                       VARIANT_PACK_WORKSPACE,
                                                       VOID_PTR, 1, 1, false)
                            ROW(TENSOR, TENSOR_IS_VIRTUAL, BOOLEAN, 1, 1, false) ROW(
                                TENSOR,
                                TENSOR_IS_BY_VALUE,
                                BOOLEAN, 1,
                                1, false) ROW(POINTWISE, POINTWISE_MODE,
                                              POINTWISE_MODE,
                                              1,
                                              1, true) ROW(POINTWISE, POINTWISE_MATH_PREC,
                                                           DATA_TYPE, 1, 1, true)
                                ROW(POINTWISE, POINTWISE_AXIS, INT64, 1, 1, false) ROW(
                                    OPERATION_POINTWISE,
                                    OPERATION_POINTWISE_PW_DESCRIPTOR,
                                    BACKEND_DESCRIPTOR,
                                    1,
                                    1, true) ROW(OPERATION_POINTWISE,
                                                 OPERATION_POINTWISE_XDESC,
                                                 BACKEND_DESCRIPTOR, 1, 1,
                                                 true) ROW(OPERATION_POINTWISE,
                                                           OPERATION_POINTWISE_BDESC,
                                                           BACKEND_DESCRIPTOR, 1, 1, false)
                                    ROW(OPERATION_POINTWISE,
                                        OPERATION_POINTWISE_TDESC,
                                        BACKEND_DESCRIPTOR,
                                        1,
                                        1, false) ROW(OPERATION_POINTWISE,
                                                      OPERATION_POINTWISE_YDESC,
                                                      BACKEND_DESCRIPTOR, 1,
                                                      1, true) ROW(MATMUL,
                                                                   MATMUL_COMP_TYPE,
                                                                   DATA_TYPE, 1, 1, true)
                                        ROW(OPERATION_MATMUL,
                                            OPERATION_MATMUL_ADESC,
                                            BACKEND_DESCRIPTOR,
                                            1, 1,
                                            true) ROW(OPERATION_MATMUL,
                                                      OPERATION_MATMUL_BDESC,
                                                      BACKEND_DESCRIPTOR, 1,
                                                      1, true)
                                            ROW(OPERATION_MATMUL,
                                                OPERATION_MATMUL_CDESC,
                                                BACKEND_DESCRIPTOR,
                                                1, 1,
                                                true) ROW(OPERATION_MATMUL,
                                                          OPERATION_MATMUL_DESC,
                                                          BACKEND_DESCRIPTOR, 1,
                                                          1, true)
                                                ROW(REDUCTION,
                                                    REDUCTION_COMP_TYPE,
                                                    DATA_TYPE, 1,
                                                    1,
                                                    true) ROW(REDUCTION,
                                                              REDUCTION_OPERATOR,
                                                              REDUCTION_OPERATOR_TYPE,
                                                              1,
                                                              1, true)
                                                    ROW(OPERATION_REDUCTION,
                                                        OPERATION_REDUCTION_XDESC,
                                                        BACKEND_DESCRIPTOR, 1,
                                                        1,
                                                        true) ROW(OPERATION_REDUCTION,
                                                                  OPERATION_REDUCTION_YDESC,
                                                                  BACKEND_DESCRIPTOR,
                                                                  1, 1, true)
                                                        ROW(OPERATION_REDUCTION,
                                                            OPERATION_REDUCTION_DESC,
                                                            BACKEND_DESCRIPTOR,
                                                            1, 1, true)
                                                            ROW(OPERATION_RESHAPE,
                                                                OPERATION_RESHAPE_XDESC,
                                                                BACKEND_DESCRIPTOR,
                                                                1, 1, true)
                                                                ROW(OPERATION_RESHAPE,
                                                                    OPERATION_RESHAPE_YDESC,
                                                                    BACKEND_DESCRIPTOR,
                                                                    1, 1, true)
#undef ROW
                                                                    OPERATION(
                                                                        FORWARD,
                                                                        CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                                                        X, W,
                                                                        Y),
    OPERATION(BWD_DATA,
              CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, DX,
              W, DY),
    OPERATION(BWD_FILTER,
              CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, X,
              DW, DY),
};

const AttributeRule *llmc::standin::findRule(int descriptor, int name) {
  for (const AttributeRule &rule : rules)
    if (rule.descriptor == descriptor && rule.name == name)
      return &rule;
  return nullptr;
}

bool llmc::standin::isKnown(int descriptor) {
  return descriptor == CUDNN_BACKEND_ENGINE_DESCRIPTOR ||
         descriptor == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR ||
         std::any_of(std::begin(rules), std::end(rules),
                     [&](auto &rule) { return rule.descriptor == descriptor; });
}

size_t llmc::standin::bytesOfElement(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  case CUDNN_TYPE_BOOLEAN:
    return 1;
  default:
    return 4;
  }
}

static cudnnStatus_t invalid(const char *why) {
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM, why);
}

static cudnnStatus_t checkTensor(const Descriptor &tensor) {
  auto sizes = tensor.list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  auto strides = tensor.list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  auto alignment = tensor.get<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
  if (sizes.size() != strides.size())
    return invalid("a tensor with other strides than dims");
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 1 || strides[i] < 1)
      return invalid("a size or a stride of a tensor that is below 1");
  if (alignment < 1 || (alignment & (alignment - 1)))
    return invalid("an alignment that is no power of two");
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t checkSettings(const Descriptor &settings) {
  auto places = static_cast<size_t>(
      settings.get<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0));
  for (int name :
       {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
        CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
        CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}) {
    auto list = settings.list<int64_t>(name);
    bool isPad = name == CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS ||
                 name == CUDNN_ATTR_CONVOLUTION_POST_PADDINGS;
    if (list.size() != places)
      return invalid("a list of a convolution that is not as long as its dims");
    for (int64_t value : list)
      if (value < (isPad ? 0 : 1))
        return invalid("a negative pad, or a step below 1");
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t checkGraph(const Descriptor &graph) {
  if (isGraphOfOps(graph))
    return checkOps(readOpGraph(graph));
  return graph.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).count == 1
             ? CUDNN_STATUS_SUCCESS
             : refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN,
                           "a convolution beside other operations");
}

static cudnnStatus_t checkHeuristic(Descriptor &heuristic) {
  auto mode = heuristic.get<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE,
                                                    CUDNN_HEUR_MODE_A);
  if (mode > CUDNN_HEUR_MODE_A)
    return invalid("a mode that no heuristic has");
  heuristic.graph = heuristic.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  bool isFallback = mode == CUDNN_HEUR_MODE_FALLBACK;
  heuristic.engines =
      isGraphOfOps(*heuristic.graph)
          ? enginesFor(readOpGraph(*heuristic.graph), isFallback)
          : enginesFor(readConvolution(*heuristic.graph), isFallback);
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t checkPlan(Descriptor &plan) {
  const Descriptor &config = *plan.at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  plan.graph = config.graph;
  plan.engines = config.engines;
  return plan.engines.at(0).refuses
             ? refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
                           "the engine does not have this shape after all")
             : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t checkPack(const Descriptor &pack) {
  auto numbers = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  if (pack.values.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count !=
      static_cast<int64_t>(numbers.size()))
    return invalid("other pointers than numbers of tensors");
  std::sort(numbers.begin(), numbers.end());
  return std::unique(numbers.begin(), numbers.end()) == numbers.end()
             ? CUDNN_STATUS_SUCCESS
             : refuseCudnn(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
                           "a tensor with two pointers");
}

cudnnStatus_t llmc::standin::checkFinal(Descriptor &descriptor) {
  for (const AttributeRule &rule : rules)
    if (rule.descriptor == descriptor.type && rule.isRequired &&
        !descriptor.has(rule.name))
      return invalid(
          format("descriptor %d lacks attribute %d", rule.descriptor, rule.name)
              .c_str());
  switch (descriptor.type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return checkTensor(descriptor);
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    return checkSettings(descriptor);
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return checkGraph(descriptor);
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    return checkHeuristic(descriptor);
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return checkPlan(descriptor);
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    return checkPack(descriptor);
  case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
  case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "an engine that the heuristic has not given");
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    return checkConvolution(descriptor);
  default: // What goes together is seen in the graph.
    return CUDNN_STATUS_SUCCESS;
  }
}
