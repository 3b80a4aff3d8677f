//===- CudnnGraph.cpp - A graph of cuDNN, op by op ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnGraph.h"

namespace llmc::rt::cuda {

using Attribute = CudnnAttribute;
using Tensor = CudnnGraph::Tensor;

/// Numbers of tensors that lie nowhere begin here.
static constexpr int64_t firstVirtual = 1000;
/// Of what is not in memory, or begins where its buffer does.
static constexpr int64_t virtualAlignment = 16;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Status CudnnGraph::makeTensor(CudnnObject &made, CudnnData type,
                              const Sizes &sizes, const Sizes &strides,
                              int64_t number, int64_t alignment,
                              std::optional<CudnnAttribute> flag) {
  LLMC_TRY_ASSIGN(made, CudnnObject::make(cudnn, CudnnKind::tensor));
  LLMC_TRY(made.set(Attribute::tensorType, CudnnType::dataType, 1, &type));
  LLMC_TRY(made.set(Attribute::tensorSizes, sizes));
  LLMC_TRY(made.set(Attribute::tensorStrides, strides));
  LLMC_TRY(made.set(Attribute::tensorNumber, {number}));
  LLMC_TRY(made.set(Attribute::tensorAlignment, {alignment}));
  if (flag) {
    const bool isTrue = true;
    LLMC_TRY(made.set(*flag, CudnnType::boolean, 1, &isTrue));
  }
  return made.finalize();
}

Tensor CudnnGraph::addTensor(CudnnData type, const Sizes &sizes,
                             const Sizes &strides, int64_t number,
                             int64_t alignment,
                             std::optional<CudnnAttribute> flag) {
  CudnnObject &made = tensors.emplace_back();
  if (status.ok()) {
    status = makeTensor(made, type, sizes, strides, number, alignment, flag);
  }
  return tensors.size() - 1;
}

Tensor CudnnGraph::addBuffer(int64_t number, CudnnData type, const Sizes &sizes,
                             const Sizes &strides, int64_t alignment) {
  return addTensor(type, sizes, strides, number, alignment, {});
}

Tensor CudnnGraph::addScalar(int64_t number, CudnnData type) {
  const Sizes ones = {1, 1, 1, 1};
  return addTensor(type, ones, ones, number, virtualAlignment,
                   Attribute::tensorIsScalar);
}

Tensor CudnnGraph::addVirtual(CudnnData type, const Sizes &sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) {
    strides[i] = strides[i + 1] * sizes[i + 1];
  }
  return addVirtual(type, sizes, strides);
}

Tensor CudnnGraph::addVirtual(CudnnData type, const Sizes &sizes,
                              const Sizes &strides) {
  return addTensor(type, sizes, strides, firstVirtual + virtuals++,
                   virtualAlignment, Attribute::tensorIsVirtual);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

CudnnObject &CudnnGraph::keep(CudnnObject object) {
  return settings.emplace_back(std::move(object));
}

Status CudnnGraph::addOperation(CudnnKind kind, const Attributes &attributes) {
  LLMC_TRY_ASSIGN(CudnnObject made, CudnnObject::make(cudnn, kind));
  for (auto &[name, descriptor] : attributes) {
    LLMC_TRY(made.set(name, CudnnType::descriptor, 1, &descriptor));
  }
  LLMC_TRY(made.finalize());
  operations.push_back(std::move(made));
  return Status::success();
}

Status CudnnGraph::makePoint(CudnnPoint mode, Tensor x, Tensor y,
                             const Beside &beside) {
  LLMC_TRY_ASSIGN(CudnnObject made,
                  CudnnObject::make(cudnn, CudnnKind::pointwise));
  LLMC_TRY(
      made.set(Attribute::pointwiseMode, CudnnType::pointwiseMode, 1, &mode));
  LLMC_TRY(
      made.set(Attribute::pointwiseType, CudnnType::dataType, 1, &beside.type));
  if (beside.axis) {
    LLMC_TRY(made.set(Attribute::pointwiseAxis, {*beside.axis}));
  }
  LLMC_TRY(made.finalize());
  Attributes attributes = {
      {Attribute::pointwiseSettings, keep(std::move(made)).get()},
      {Attribute::pointwiseX, of(x)},
      {Attribute::pointwiseY, of(y)}};
  if (beside.b) {
    attributes.push_back({Attribute::pointwiseB, of(*beside.b)});
  }
  if (beside.choice) {
    attributes.push_back({Attribute::pointwiseChoice, of(*beside.choice)});
  }
  return addOperation(CudnnKind::pointwiseOperation, attributes);
}

void CudnnGraph::point(CudnnPoint mode, Tensor x, Tensor y,
                       const Beside &beside) {
  if (status.ok()) {
    status = makePoint(mode, x, y, beside);
  }
}

Status CudnnGraph::makeMultiply(Tensor a, Tensor b, Tensor c) {
  LLMC_TRY_ASSIGN(CudnnObject made,
                  CudnnObject::make(cudnn, CudnnKind::matmul));
  auto type = CudnnData::f32;
  LLMC_TRY(made.set(Attribute::matmulType, CudnnType::dataType, 1, &type));
  LLMC_TRY(made.finalize());
  return addOperation(
      CudnnKind::matmulOperation,
      {{Attribute::matmulA, of(a)},
       {Attribute::matmulB, of(b)},
       {Attribute::matmulC, of(c)},
       {Attribute::matmulSettings, keep(std::move(made)).get()}});
}

void CudnnGraph::multiply(Tensor a, Tensor b, Tensor c) {
  if (status.ok()) {
    status = makeMultiply(a, b, c);
  }
}

/// `kind` is a cudnnReduceTensorOp_t.
Status CudnnGraph::makeReduce(int kind, Tensor x, Tensor y) {
  LLMC_TRY_ASSIGN(CudnnObject made,
                  CudnnObject::make(cudnn, CudnnKind::reduction));
  auto type = CudnnData::f32;
  LLMC_TRY(made.set(Attribute::reductionType, CudnnType::dataType, 1, &type));
  LLMC_TRY(
      made.set(Attribute::reductionKind, CudnnType::reductionKind, 1, &kind));
  LLMC_TRY(made.finalize());
  return addOperation(
      CudnnKind::reductionOperation,
      {{Attribute::reductionX, of(x)},
       {Attribute::reductionY, of(y)},
       {Attribute::reductionSettings, keep(std::move(made)).get()}});
}

void CudnnGraph::reduce(int kind, Tensor x, Tensor y) {
  if (status.ok()) {
    status = makeReduce(kind, x, y);
  }
}

void CudnnGraph::reshape(Tensor x, Tensor y) {
  if (status.ok()) {
    status = addOperation(
        CudnnKind::reshapeOperation,
        {{Attribute::reshapeX, of(x)}, {Attribute::reshapeY, of(y)}});
  }
}

Result<const CudnnObject *> CudnnGraph::finalize(const CudnnPlace &place) {
  LLMC_TRY(status);
  LLMC_TRY_ASSIGN(graph, CudnnObject::make(cudnn, CudnnKind::operationGraph));
  std::vector<CudnnDescriptor> all;
  for (const CudnnObject &operation : operations) {
    all.push_back(operation.get());
  }
  LLMC_TRY(graph.set(Attribute::graphOperations, CudnnType::descriptor,
                     static_cast<int64_t>(all.size()), all.data()));
  if (place.handle) {
    LLMC_TRY(
        graph.set(Attribute::graphHandle, CudnnType::handle, 1, &place.handle));
  }
  LLMC_TRY(graph.finalize());
  return static_cast<const CudnnObject *>(&graph);
}

} // namespace llmc::rt::cuda
