//===- GpuCalls.cpp - Calls that kernels of a GPU compute -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "GpuCalls.h"
#include "AttendForm.h"
#include "OrderForm.h"
#include "ProductForm.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// A form of a kind of call, or none.
template <typename Shape>
std::optional<CallPlan> planOf(const Shape &, ArrayRef<RankedTensorType>) {
  return {};
}

/// Integers that do not fill their byte wrap otherwise than those of memory.
bool fillsBytes(rt::DType type) {
  return type != rt::DType::i1 && type != rt::DType::i4 &&
         type != rt::DType::u4;
}

template <typename Shape>
std::optional<CallPlan> planProductOf(const Shape &shape,
                                      ArrayRef<RankedTensorType> types) {
  for (rt::DType type : {shape.a, shape.b, shape.c})
    if (!fillsBytes(type))
      return {};
  return planProduct(makeProduct(shape), types);
}

/// What the library of products cannot express: of no index of a factor the
/// elements lie side by side, as in products of each feature by itself.
std::optional<CallPlan> planOf(const rt::ContractionShape &shape,
                               ArrayRef<RankedTensorType> types) {
  if (shape.alpha != 1 || shape.activation != rt::Activation::none)
    return {};
  return planProductOf(shape, types);
}

std::optional<CallPlan> planOf(const rt::ConvolutionShape &shape,
                               ArrayRef<RankedTensorType> types) {
  return planProductOf(shape, types);
}

/// Where sizes of groups do not fit, the result is no number: not of integers.
std::optional<CallPlan> planOf(const rt::GroupedContractionShape &shape,
                               ArrayRef<RankedTensorType> types) {
  if (!rt::isFloat(shape.product.c))
    return {};
  return planProduct(makeProduct(shape), types);
}

std::optional<CallPlan> planOf(const rt::ArgsortShape &shape,
                               ArrayRef<RankedTensorType> types) {
  return planOrder(shape, types);
}

std::optional<CallPlan> planOf(const rt::AttentionShape &shape,
                               ArrayRef<RankedTensorType> types) {
  return planAttention(makeAttention(shape), types);
}

} // namespace

std::optional<CallPlan> planGpuCall(const rt::LibraryDescriptor &descriptor,
                                    ArrayRef<RankedTensorType> types) {
  if (llvm::any_of(types, [](RankedTensorType type) {
        return type.getNumElements() == 0;
      }))
    return {};
  return std::visit([&](const auto &shape) { return planOf(shape, types); },
                    descriptor);
}

} // namespace llmc::kernels
