//===- LibraryContraction.cpp - Contractions by oneDNN --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matmul primitive on strided memory, made at load: f32, and bf16 with f32
// accumulation. Accumulation into c is the `sum` post-op and comes before that
// of the activation; the workspace is the plan's (`scratchpad_mode::user`). A
// run sets the handles and calls the C interface with arguments on the stack,
// so that we allocate nothing.
//
// oneDNN knows no stride of zero: a batch index that an operand repeats over is
// an extent of one there; any other is left to the loops. So is a bias that is
// no row of c, or that alpha would scale.
//
//===----------------------------------------------------------------------===//

#include "LibraryContraction.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cpu {

LibrarySlice::LibrarySlice(const dnnl::matmul::primitive_desc &desc)
    : primitive(desc), a(desc.src_desc(), libraryEngine(), nullptr),
      b(desc.weights_desc(), libraryEngine(), nullptr),
      c(desc.dst_desc(), libraryEngine(), nullptr),
      workspace(desc.scratchpad_desc(), libraryEngine(), nullptr) {
  if (!desc.bias_desc().is_zero()) {
    bias = dnnl::memory(desc.bias_desc(), libraryEngine(), nullptr);
  }
}

void LibrarySlice::run(const SliceBuffers &at) {
  // The handles are read only, though the interface takes them as void *.
  dnnl_memory_set_data_handle(a.get(), const_cast<void *>(at.a));
  dnnl_memory_set_data_handle(b.get(), const_cast<void *>(at.b));
  dnnl_memory_set_data_handle(c.get(), at.c);
  dnnl_memory_set_data_handle(workspace.get(), at.workspace);
  dnnl_exec_arg_t arguments[5] = {{DNNL_ARG_SRC, a.get()},
                                  {DNNL_ARG_WEIGHTS, b.get()},
                                  {DNNL_ARG_DST, c.get()},
                                  {DNNL_ARG_SCRATCHPAD, workspace.get()}};
  int count = 4;
  if (at.bias) {
    dnnl_memory_set_data_handle(bias.get(), const_cast<void *>(at.bias));
    arguments[count++] = {DNNL_ARG_BIAS, bias.get()};
  }
  dnnl_primitive_execute(primitive.get(), workerStream().get(), count,
                         arguments);
}

namespace {

bool hasTypes(const ContractionShape &shape) {
  if (shape.accumulate != DType::f32) {
    return false;
  }
  bool single =
      shape.a == DType::f32 && shape.b == DType::f32 && shape.c == DType::f32;
  bool half = shape.a == DType::bf16 && shape.b == DType::bf16 &&
              (shape.c == DType::bf16 || shape.c == DType::f32);
  return single || half;
}

/// A row of f32 that every row of c gets.
bool hasBias(const MatrixShape &shape) {
  if (!shape.shape.hasBias) {
    return true;
  }
  bool sound = shape.shape.bias == DType::f32 && shape.shape.alpha == 1 &&
               shape.m.strideBias == 0 &&
               (shape.n.size == 1 || shape.n.strideBias == 1);
  for (const ContractionIndex &index : shape.batch) {
    sound = sound && index.strideBias == 0;
  }
  return sound;
}

bool isEmpty(const MatrixShape &shape) {
  return shape.m.size == 0 || shape.n.size == 0 || shape.k.size == 0 ||
         std::any_of(shape.batch.begin(), shape.batch.end(),
                     [](const ContractionIndex &i) { return i.size == 0; });
}

using Stride = int64_t ContractionIndex::*;

/// One operand as oneDNN sees it: batch indices, then its two matrix indices.
/// The stride of an extent of one follows from the extents alone: oneDNN's
/// cache of primitives takes two descriptors for one that differ in such a
/// stride, though they may want workspaces of different sizes.
dnnl::memory::desc describe(const MatrixShape &shape, DType type,
                            const ContractionIndex &row,
                            const ContractionIndex &column, Stride stride) {
  dnnl::memory::dims extents, strides;
  for (const ContractionIndex &index : shape.batch) {
    bool isOne = index.*stride == 0 || index.size == 1;
    extents.push_back(isOne ? 1 : index.size);
    strides.push_back(isOne ? 1 : index.*stride);
  }
  extents.insert(extents.end(), {row.size, column.size});
  strides.insert(strides.end(), {row.size == 1 ? column.size : row.*stride,
                                 column.size == 1 ? 1 : column.*stride});
  auto kind = type == DType::bf16 ? dnnl::memory::data_type::bf16
                                  : dnnl::memory::data_type::f32;
  return {extents, kind, strides};
}

/// Of matrices of the rank that the operands have.
dnnl::memory::desc describeBias(const MatrixShape &shape) {
  if (!shape.shape.hasBias) {
    return {};
  }
  dnnl::memory::dims extents(shape.batch.size() + 1, 1);
  extents.push_back(shape.n.size);
  dnnl::memory::dims strides(shape.batch.size() + 1, shape.n.size);
  strides.push_back(1);
  return {extents, dnnl::memory::data_type::f32, strides};
}

dnnl::algorithm algorithmOf(Activation activation) {
  switch (activation) {
  case Activation::relu:
    return dnnl::algorithm::eltwise_relu;
  case Activation::gelu:
    return dnnl::algorithm::eltwise_gelu_erf;
  case Activation::geluTanh:
    return dnnl::algorithm::eltwise_gelu_tanh;
  case Activation::tanh:
    return dnnl::algorithm::eltwise_tanh;
  case Activation::logistic:
    return dnnl::algorithm::eltwise_logistic;
  case Activation::none:
    break;
  }
  return dnnl::algorithm::undef;
}

dnnl::primitive_attr attributesOf(const ContractionShape &shape) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops operations;
  if (shape.beta != 0) {
    operations.append_sum(1.0f);
  }
  if (shape.activation != Activation::none) {
    operations.append_eltwise(1.0f, algorithmOf(shape.activation), 0.0f, 0.0f);
  }
  if (operations.len() > 0) {
    attributes.set_post_ops(operations);
  }
  if (shape.alpha != 1) {
    attributes.set_output_scales(0, {static_cast<float>(shape.alpha)});
  }
  return attributes;
}

/// No index that an operand repeats over, but for batch indices of a and b.
bool hasStrides(const MatrixShape &shape) {
  auto walks = [](const ContractionIndex &index, Stride stride) {
    return index.size == 1 || index.*stride > 0;
  };
  bool sound = walks(shape.m, &ContractionIndex::strideA) &&
               walks(shape.m, &ContractionIndex::strideC) &&
               walks(shape.n, &ContractionIndex::strideB) &&
               walks(shape.n, &ContractionIndex::strideC) &&
               walks(shape.k, &ContractionIndex::strideA) &&
               walks(shape.k, &ContractionIndex::strideB);
  for (const ContractionIndex &index : shape.batch) {
    sound = sound && walks(index, &ContractionIndex::strideC);
  }
  return sound && shape.outerK.empty() && shape.batch.size() <= 4;
}

} // namespace

Result<std::optional<dnnl::matmul::primitive_desc>>
describeProduct(const MatrixShape &shape, bool isPacked) {
  std::optional<dnnl::matmul::primitive_desc> none;
  if (!hasTypes(shape.shape) || isEmpty(shape) || !hasStrides(shape) ||
      !hasBias(shape)) {
    return std::move(none);
  }
  OneThread limit;
  try {
    auto side = [&](DType type, const ContractionIndex &row,
                    const ContractionIndex &column, Stride stride) {
      return describe(shape, type, row, column, stride);
    };
    using Index = ContractionIndex;
    dnnl::memory::desc b =
        side(shape.shape.b, shape.k, shape.n, &Index::strideB);
    if (isPacked) {
      b = {b.dims(), b.data_type(), dnnl::memory::format_tag::any};
    }
    dnnl::matmul::desc matmul(
        side(shape.shape.a, shape.m, shape.k, &Index::strideA), b,
        describeBias(shape),
        side(shape.shape.c, shape.m, shape.n, &Index::strideC));
    return std::optional(dnnl::matmul::primitive_desc(
        matmul, attributesOf(shape.shape), libraryEngine()));
  } catch (const dnnl::error &error) {
    if (error.status == dnnl_unimplemented ||
        error.status == dnnl_invalid_arguments) {
      return std::move(none);
    }
    return makeError(ErrorKind::mismatch,
                     fmt::format("oneDNN cannot make contraction '{}': {}",
                                 shape.name, error.what()));
  }
}

Result<std::unique_ptr<OpSlice>> makeLibrarySlice(const MatrixShape &shape) {
  LLMC_TRY_ASSIGN(auto chosen, describeProduct(shape, /*isPacked=*/false));
  if (!chosen) {
    return std::unique_ptr<OpSlice>();
  }
  return std::unique_ptr<OpSlice>(std::make_unique<LibrarySlice>(*chosen));
}

} // namespace llmc::rt::cpu
