//===- ConvolutionPrimitive.cpp - A convolution of oneDNN -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cpu/ConvolutionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionPrimitive.h"

#include <algorithm>
#include <string_view>

namespace llmc::rt::cpu {

namespace {

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

int64_t strideOf(const RoleShape::Index &index, ConvolutionOperand operand) {
  return index.strides[operand];
}

/// The source or destination; nothing where groups are not the major part of
/// its features.
std::optional<DescribedOperand> describeData(const RoleShape &shape,
                                             ConvolutionOperand operand,
                                             const RoleShape::Index &features,
                                             OperandDim RoleWindow::*dim) {
  DescribedOperand data;
  int64_t groups = strideOf(shape.groups, operand),
          stride = strideOf(features, operand);
  if (features.size == 1) {
    stride = groups;
  } else if (shape.groups.size > 1 && groups != features.size * stride) {
    return std::nullopt;
  }
  data.add(shape.samples.size, strideOf(shape.samples, operand));
  data.add(shape.groups.size * features.size, stride);
  for (const RoleWindow &window : shape.windows) {
    data.add((window.*dim).size, (window.*dim).stride);
  }
  if (shape.windows.empty()) {
    data.add(1, 0);
  }
  return data;
}

DescribedOperand describeWeights(const RoleShape &shape) {
  DescribedOperand weights;
  ConvolutionOperand operand = shape.roles.weights;
  if (shape.groups.size > 1) {
    weights.add(shape.groups.size, strideOf(shape.groups, operand));
  }
  weights.add(shape.outputs.size, strideOf(shape.outputs, operand));
  weights.add(shape.inputs.size, strideOf(shape.inputs, operand));
  for (const RoleWindow &window : shape.windows) {
    weights.add(window.weights.size, window.weights.stride);
  }
  if (shape.windows.empty()) {
    weights.add(1, 0);
  }
  return weights;
}

/// Dims of size 1 get a stride: that of features that lie side by side where
/// they do, else one that no other dim passes. False where a longer dim has
/// none, as where an operand is repeated.
bool settleStrides(DescribedOperand &operand) {
  if (operand.hasFeaturesInside()) {
    operand.strides = operand.featuresInside();
    return true;
  }
  int64_t end = 1;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    if (operand.dims[d] != 1) {
      if (operand.strides[d] < 1) {
        return false;
      }
      end = std::max(end, operand.dims[d] * operand.strides[d]);
    }
  }
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    if (operand.dims[d] == 1) {
      operand.strides[d] = end;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Question
//===----------------------------------------------------------------------===//

/// What is narrower is copied.
bool isUpToSingle(DType type) {
  return type == DType::f32 || type == DType::bf16 || type == DType::f16 ||
         findSmallFloat(type);
}

bool hasTypes(const ConvolutionShape &shape) {
  return isUpToSingle(shape.a) && isUpToSingle(shape.b) &&
         isUpToSingle(shape.c) && shape.accumulate == DType::f32;
}

/// A value for each feature of the result, side by side.
bool hasBias(const ConvolutionShape &shape) {
  int64_t features = 1;
  for (const ContractionIndex &index : shape.indices) {
    if (index.kind == ContractionIndexKind::n) {
      features = index.size;
    }
  }
  bool sound = shape.bias == DType::f32;
  for (const ContractionIndex &index : shape.indices) {
    int64_t wanted = index.kind == ContractionIndexKind::n       ? 1
                     : index.kind == ContractionIndexKind::batch ? features
                                                                 : 0;
    sound = sound && (index.size == 1 || index.strideBias == wanted);
  }
  return sound;
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// A loop of oneDNN's own, which is slower than ours.
bool isReference(const char *implementation) {
  return std::string_view(implementation).substr(0, 3) == "ref";
}

/// Whether blocks of features, which oneDNN's kernels for small windows prefer,
/// are worth two copies: each element that is copied is read so often.
bool prefersBlocks(const RoleShape &shape) {
  constexpr int64_t leastReads = 256;
  int64_t places = 1;
  for (const RoleWindow &window : shape.windows) {
    places *= window.weights.size;
  }
  return places > 1 && places * shape.inputs.size >= leastReads &&
         places * shape.outputs.size >= leastReads;
}

/// A convolution as products of small matrices: a row of places at a time, for
/// which it reads all weights.
bool isRowByRow(std::string_view implementation) {
  return implementation.substr(0, 7) == "brgconv" &&
         implementation.substr(0, 10) != "brgconv_1x";
}

/// Whether a row is too short for weights that leave the second cache between
/// two rows.
bool outgrowsRows(const RoleShape &shape) {
  constexpr int64_t shortRow = 7, cachedWeights = int64_t(1) << 18;
  int64_t weights = shape.inputs.size * shape.outputs.size;
  for (const RoleWindow &window : shape.windows) {
    weights *= window.weights.size;
  }
  return !shape.windows.empty() && weights > cachedWeights &&
         shape.windows.back().destination.size < shortRow;
}

/// Whether an implementation for features that lie side by side is at least as
/// fast as one for blocks, their copies included: with AVX-512 but for short
/// rows, with AVX2 where blocks are not worth it.
bool isFastInside(const char *implementation, const RoleShape &shape) {
  std::string_view name = implementation;
  if (isReference(implementation)) {
    return false;
  }
  return name.find("avx512") != std::string_view::npos
             ? !isRowByRow(name) || !outgrowsRows(shape)
             : !prefersBlocks(shape);
}

/// Layouts of source and destination.
struct Layouts {
  dnnl::memory::desc source, destination;
};

/// The description of a primitive of one of the three kinds. Where features lie
/// side by side in source or destination, the other is copied so if it lies
/// otherwise, as a part of the features does; all else is as oneDNN likes. With
/// features outside it has a product of patches for what no kernel of its own
/// does.
template <typename Description, typename Make>
Description choose(const ConvolutionQuestion &question, Make make) {
  const DescribedOperand &source = question.source,
                         &destination = question.destination;
  if (source.hasFeaturesInside() || destination.hasFeaturesInside()) {
    Description inside = make(Layouts{source.inside(), destination.inside()});
    if (isFastInside(inside.impl_info_str(), question.shape)) {
      return inside;
    }
  }
  for (const Layouts &layouts :
       {Layouts{source.any(), destination.any()},
        Layouts{source.featuresOutside(), destination.featuresOutside()}}) {
    Description chosen = make(layouts);
    if (!isReference(chosen.impl_info_str())) {
      return chosen;
    }
  }
  throw dnnl::error(dnnl_unimplemented, "a reference implementation");
}

class Asker {
public:
  explicit Asker(const ConvolutionQuestion &question) : question(question) {
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  ConvolutionPrimitive ask() {
    const ConvolutionRoles &roles = question.shape.roles;
    if (roles.destination == operandC) {
      return askForward();
    }
    return roles.source == operandC ? askByData() : askByWeights();
  }

private:
  using Forward = dnnl::convolution_forward;
  using ByData = dnnl::convolution_backward_data;
  using ByWeights = dnnl::convolution_backward_weights;
  static constexpr auto direct = dnnl::algorithm::convolution_direct;

  Forward::primitive_desc forward(const Layouts &layouts) const {
    return {{dnnl::prop_kind::forward_training, direct, layouts.source,
             question.weights.any(), question.bias(), layouts.destination,
             question.strides, question.dilations, question.low, question.high},
            attributes,
            libraryEngine()};
  }
  ConvolutionPrimitive askForward() const;
  ConvolutionPrimitive askByData() const;
  ConvolutionPrimitive askByWeights() const;

  const ConvolutionQuestion &question;
  dnnl::primitive_attr attributes;
};

ConvolutionPrimitive Asker::askForward() const {
  auto chosen = choose<Forward::primitive_desc>(
      question, [&](const Layouts &layouts) { return forward(layouts); });
  return {Forward(chosen), chosen.src_desc(), chosen.weights_desc(),
          chosen.dst_desc(), chosen.scratchpad_desc()};
}

ConvolutionPrimitive Asker::askByData() const {
  auto make = [&](const Layouts &layouts) -> ByData::primitive_desc {
    return {{direct, layouts.source, question.weights.any(),
             layouts.destination, question.strides, question.dilations,
             question.low, question.high},
            attributes,
            libraryEngine(),
            forward(layouts)};
  };
  auto chosen = choose<ByData::primitive_desc>(question, make);
  return {ByData(chosen), chosen.diff_src_desc(), chosen.weights_desc(),
          chosen.diff_dst_desc(), chosen.scratchpad_desc()};
}

ConvolutionPrimitive Asker::askByWeights() const {
  auto make = [&](const Layouts &layouts) -> ByWeights::primitive_desc {
    return {{direct, layouts.source, question.weights.any(),
             layouts.destination, question.strides, question.dilations,
             question.low, question.high},
            attributes,
            libraryEngine(),
            forward(layouts)};
  };
  auto chosen = choose<ByWeights::primitive_desc>(question, make);
  return {ByWeights(chosen), chosen.src_desc(), chosen.diff_weights_desc(),
          chosen.diff_dst_desc(), chosen.scratchpad_desc()};
}

} // namespace

std::optional<ConvolutionQuestion> makeQuestion(const ConvolutionShape &shape) {
  constexpr size_t mostWindows = 3;
  if (!hasTypes(shape) || shape.windows.size() > mostWindows ||
      (shape.hasBias && !hasBias(shape))) {
    return std::nullopt;
  }
  std::optional<RoleShape> found = findRoles(shape);
  if (!found) {
    return std::nullopt;
  }
  std::optional<DescribedOperand> source = describeData(
      *found, found->roles.source, found->inputs, &RoleWindow::source);
  std::optional<DescribedOperand> destination =
      describeData(*found, found->roles.destination, found->outputs,
                   &RoleWindow::destination);
  if (!source || !destination) {
    return std::nullopt;
  }
  ConvolutionQuestion question{*found, *source, describeWeights(*found),
                               *destination};
  question.hasBias = shape.hasBias;
  if (!settleStrides(question.source) || !settleStrides(question.weights) ||
      !settleStrides(question.destination)) {
    return std::nullopt;
  }
  for (const RoleWindow &window : found->windows) {
    question.strides.push_back(window.stride);
    question.dilations.push_back(window.dilation - 1);
    question.low.push_back(window.low);
    question.high.push_back(window.high);
  }
  if (found->windows.empty()) {
    question.strides = {1};
    question.dilations = question.low = question.high = {0};
  }
  return question;
}

ConvolutionPrimitive makePrimitive(const ConvolutionQuestion &question) {
  return Asker(question).ask();
}

} // namespace llmc::rt::cpu
