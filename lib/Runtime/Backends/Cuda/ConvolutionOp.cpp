//===- ConvolutionOp.cpp - A convolution made ready by cuDNN --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/CudaConvolutionTest.cpp on the stand-in
// of test/Runtime/StandIn, and by test/Runtime/Backends/Cuda/real-cudnn.test.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionOp.h"

#include <algorithm>

namespace llmc::rt::cuda {

using Attribute = CudnnAttribute;

uint64_t convolutionWorkspace(const ConvolutionShape &shape) {
  uint64_t bytes = uint64_t(32) << 20;
  uint64_t sizes[] = {static_cast<uint64_t>(sizeOf(shape.a)),
                      static_cast<uint64_t>(sizeOf(shape.b)),
                      static_cast<uint64_t>(sizeOf(shape.c))};
  for (const ContractionIndex &index : shape.indices) {
    auto size = static_cast<uint64_t>(index.size);
    sizes[0] *= index.strideA ? size : 1;
    sizes[1] *= index.strideB ? size : 1;
    sizes[2] *= index.strideC ? size : 1;
  }
  for (const ConvolutionWindow &window : shape.windows) {
    sizes[0] *= static_cast<uint64_t>(window.sizeA);
    sizes[1] *= static_cast<uint64_t>(window.sizeB);
    sizes[2] *= static_cast<uint64_t>(window.sizeC);
  }
  constexpr uint64_t alignment = 256;
  for (uint64_t size : sizes) {
    bytes += (size + alignment - 1) / alignment * alignment;
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// Where a tensor begins before the operand's buffer does not, it is aligned as
/// the elements left out leave it.
static int64_t alignmentOf(const CudnnTensor &tensor, int64_t size,
                           int64_t alignment) {
  while (alignment > size && tensor.offset * size % alignment != 0) {
    alignment /= 2;
  }
  return alignment;
}

Result<CudnnObject> ConvolutionOp::makeTensor(const CudnnTensor &tensor,
                                              int64_t alignment) {
  LLMC_TRY_ASSIGN(CudnnObject made,
                  CudnnObject::make(cudnn, CudnnKind::tensor));
  CudnnData type = cudnnTypeOf(shape.c);
  LLMC_TRY(made.set(Attribute::tensorType, CudnnType::dataType, 1, &type));
  LLMC_TRY(made.set(Attribute::tensorSizes, tensor.sizes));
  LLMC_TRY(made.set(Attribute::tensorStrides, tensor.strides));
  LLMC_TRY(made.set(Attribute::tensorNumber,
                    {static_cast<int64_t>(tensor.operand)}));
  LLMC_TRY(made.set(Attribute::tensorAlignment,
                    {alignmentOf(tensor, sizeOf(shape.c), alignment)}));
  LLMC_TRY(made.finalize());
  return made;
}

Status ConvolutionOp::makeSettings(Variant &variant) {
  LLMC_TRY_ASSIGN(variant.settings,
                  CudnnObject::make(cudnn, CudnnKind::convolution));
  CudnnObject &made = variant.settings;
  auto places = static_cast<int64_t>(convolution.strides.size());
  CudnnData type = cudnnTypeOf(shape.accumulate);
  int mode = convolution.isFlipped ? 0 : 1; // Or a cross-correlation.
  LLMC_TRY(made.set(Attribute::convolutionPlaces, {places}));
  LLMC_TRY(made.set(Attribute::convolutionType, CudnnType::dataType, 1, &type));
  LLMC_TRY(made.set(Attribute::convolutionMode, CudnnType::convolutionMode, 1,
                    &mode));
  LLMC_TRY(made.set(Attribute::convolutionPadsBefore, convolution.padsBefore));
  LLMC_TRY(made.set(Attribute::convolutionPadsAfter, convolution.padsAfter));
  LLMC_TRY(made.set(Attribute::convolutionStrides, convolution.strides));
  LLMC_TRY(made.set(Attribute::convolutionDilations, convolution.dilations));
  return made.finalize();
}

/// The operation, and the first of its attributes.
static std::pair<CudnnKind, Attribute> operationOf(CudnnDirection direction) {
  switch (direction) {
  case CudnnDirection::data:
    return {CudnnKind::convolutionData, Attribute::dataAlpha};
  case CudnnDirection::filter:
    return {CudnnKind::convolutionFilter, Attribute::filterAlpha};
  default:
    return {CudnnKind::convolutionForward, Attribute::forwardAlpha};
  }
}

Status ConvolutionOp::makeGraph(Variant &variant, int64_t alignment) {
  LLMC_TRY(makeSettings(variant));
  for (size_t i = 0; i < 3; ++i) {
    LLMC_TRY_ASSIGN(variant.tensors[i], makeTensor(*tensorsOf()[i], alignment));
  }
  auto [kind, alphaName] = operationOf(convolution.direction);
  LLMC_TRY_ASSIGN(variant.operation, CudnnObject::make(cudnn, kind));
  CudnnObject &operation = variant.operation;
  // Of each operation: alpha, beta, the settings, w, x, y.
  auto number = [first = static_cast<int>(alphaName)](int i) {
    return static_cast<Attribute>(first + i);
  };
  const double alpha = 1, beta = shape.beta;
  const auto alpha32 = static_cast<float>(alpha),
             beta32 = static_cast<float>(beta);
  bool isWide = shape.accumulate == DType::f64;
  CudnnType type = isWide ? CudnnType::float64 : CudnnType::float32;
  LLMC_TRY(
      operation.set(number(0), type, 1,
                    isWide ? static_cast<const void *>(&alpha) : &alpha32));
  LLMC_TRY(operation.set(number(1), type, 1,
                         isWide ? static_cast<const void *>(&beta) : &beta32));
  LLMC_TRY(operation.set(number(2), variant.settings));
  LLMC_TRY(operation.set(number(4), variant.tensors[0]));
  LLMC_TRY(operation.set(number(3), variant.tensors[1]));
  LLMC_TRY(operation.set(number(5), variant.tensors[2]));
  LLMC_TRY(operation.finalize());
  LLMC_TRY_ASSIGN(variant.graph,
                  CudnnObject::make(cudnn, CudnnKind::operationGraph));
  LLMC_TRY(variant.graph.set(Attribute::graphOperations, operation));
  if (place.handle) {
    LLMC_TRY(variant.graph.set(Attribute::graphHandle, CudnnType::handle, 1,
                               &place.handle));
  }
  return variant.graph.finalize();
}

Status ConvolutionOp::prepare(const std::string &name) {
  constexpr int64_t aligned = 16;
  const int64_t alignments[] = {aligned, sizeOf(shape.c)};
  bool isNarrow = shape.c == DType::bf16 || shape.c == DType::f16;
  for (size_t i = 0; i < 2; ++i) {
    LLMC_TRY(makeGraph(variants[i], alignments[i]));
    LLMC_TRY_ASSIGN(variants[i].engine,
                    chooseEngine(cudnn, place, variants[i].graph,
                                 {isNarrow, workspaceBytes},
                                 "convolution '" + name + "'"));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Status ConvolutionOp::enqueue(CUstream stream, const uint64_t *buffers,
                              void *workspace) const {
  constexpr uint64_t aligned = 16;
  bool isAligned = (buffers[0] | buffers[1] | buffers[2]) % aligned == 0;
  const Variant &variant = variants[isAligned ? 0 : 1];
  std::vector<int64_t> numbers;
  std::vector<void *> pointers;
  for (const CudnnTensor *tensor : tensorsOf()) {
    numbers.push_back(tensor->operand);
    pointers.push_back(reinterpret_cast<void *>(
        buffers[tensor->operand] +
        static_cast<uint64_t>(tensor->offset * sizeOf(shape.c))));
  }
  LLMC_TRY_ASSIGN(CudnnObject pack,
                  CudnnObject::make(cudnn, CudnnKind::variantPack));
  LLMC_TRY(pack.set(Attribute::packNumbers, numbers));
  LLMC_TRY(pack.set(Attribute::packPointers, CudnnType::pointer,
                    static_cast<int64_t>(pointers.size()), pointers.data()));
  LLMC_TRY(
      pack.set(Attribute::packWorkspace, CudnnType::pointer, 1, &workspace));
  LLMC_TRY(pack.finalize());
  LLMC_TRY(cudnn.check(cudnn.cudnnSetStream(place.handle, stream),
                       "cudnnSetStream"));
  return cudnn.check(cudnn.cudnnBackendExecute(
                         place.handle, variant.engine.plan.get(), pack.get()),
                     "cudnnBackendExecute");
}

} // namespace llmc::rt::cuda
