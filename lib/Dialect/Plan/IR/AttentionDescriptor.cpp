//===- AttentionDescriptor.cpp - Attention as an attribute ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From and to the runtime's struct, whose table of strides says which names
// there are and what each may be along. Tested by test/Dialect/Plan/ops.mlir,
// invalid-attention.mlir.
//
//===----------------------------------------------------------------------===//

#include "DimAssembly.h"
#include "LibraryDescriptors.h"

#include "llmc/Support/StoredElements.h"

using namespace mlir;
using namespace llmc::plan;
namespace rt = llmc::rt;
using llmc::getRuntimeDType;

using EmitError = function_ref<InFlightDiagnostic()>;

/// The enums of the text are those of the runtime.
static constexpr bool areEqual(AttentionKind mine,
                               rt::AttentionIndexKind theirs) {
  return static_cast<uint32_t>(mine) == static_cast<uint32_t>(theirs);
}
static_assert(areEqual(AttentionKind::Batch, rt::AttentionIndexKind::batch) &&
              areEqual(AttentionKind::Row, rt::AttentionIndexKind::row) &&
              areEqual(AttentionKind::Column, rt::AttentionIndexKind::column) &&
              areEqual(AttentionKind::Depth, rt::AttentionIndexKind::depth) &&
              areEqual(AttentionKind::Value, rt::AttentionIndexKind::value) &&
              getMaxEnumValForAttentionKind() + 1 ==
                  rt::attentionIndexNames.size());

static constexpr size_t kNumStrides = rt::attentionStrides.size();

static DimWords getAttentionWords() {
  DimWords words;
  for (std::string_view name : rt::attentionIndexNames)
    words.kinds.push_back(StringRef(name));
  for (const rt::AttentionStride &each : rt::attentionStrides)
    words.strides.push_back(StringRef(each.name));
  return words;
}

Attribute AttentionDimAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<DimText> dim = parseDim(parser, getAttentionWords());
  if (failed(dim))
    return {};
  return parser.getChecked<AttentionDimAttr>(
      loc, parser.getContext(), static_cast<AttentionKind>(dim->kind),
      dim->size, dim->strides);
}

void AttentionDimAttr::print(AsmPrinter &printer) const {
  printDim(printer,
           {static_cast<uint32_t>(getKind()), getSize(),
            llvm::to_vector(getStrides())},
           getAttentionWords());
}

LogicalResult AttentionDimAttr::verify(EmitError emitError, AttentionKind kind,
                                       int64_t size,
                                       ArrayRef<int64_t> strides) {
  if (size < 1)
    return emitError() << "expected a size of at least 1, got " << size;
  if (strides.size() != kNumStrides)
    return emitError() << "expected " << kNumStrides << " strides, got "
                       << strides.size();
  for (auto [each, stride] : llvm::zip_equal(rt::attentionStrides, strides)) {
    if (stride < 0)
      return emitError() << "expected a stride of at least 0 of "
                         << StringRef(each.name) << ", got " << stride;
    if (stride != 0 && !each.along[static_cast<size_t>(kind)])
      return emitError() << "expected no stride where '"
                         << stringifyAttentionKind(kind) << "' has no dim, got "
                         << StringRef(each.name) << " = " << stride;
  }
  return success();
}

/// One index of each kind but batch; strides of what is there.
static LogicalResult verifyDims(EmitError emitError,
                                ArrayRef<AttentionDimAttr> dims, bool gradient,
                                bool hasBias, bool hasDropout) {
  for (size_t kind = 1; kind < rt::attentionIndexNames.size(); ++kind) {
    auto count = llvm::count_if(dims, [&](AttentionDimAttr dim) {
      return static_cast<size_t>(dim.getKind()) == kind;
    });
    if (count != 1)
      return emitError() << "expected one dim of kind "
                         << StringRef(rt::attentionIndexNames[kind]) << ", got "
                         << count;
  }
  for (AttentionDimAttr dim : dims)
    for (auto [each, stride] :
         llvm::zip_equal(rt::attentionStrides, dim.getStrides())) {
      bool isThere = each.name == "bias"   ? hasBias
                     : each.name == "bits" ? hasDropout
                                           : each.name[0] != 'd' || gradient;
      if (stride != 0 && !isThere)
        return emitError() << "expected no stride of what is not there, got "
                           << StringRef(each.name) << " = " << stride;
    }
  return success();
}

LogicalResult AttentionAttr::verify(EmitError emitError,
                                    ArrayRef<AttentionDimAttr> dims,
                                    Type accumulate, FloatAttr scale,
                                    bool gradient, bool safe, bool causal,
                                    int64_t shift, bool hasOffset, bool hasBias,
                                    DropoutAttr dropout) {
  if (!accumulate.isF32() && !accumulate.isF64())
    return emitError() << "expected sums in f32 or f64, got " << accumulate;
  if (!causal && (shift != 0 || hasOffset))
    return emitError() << "expected a shift or an offset only where causal";
  return verifyDims(emitError, dims, gradient, hasBias, bool(dropout));
}

rt::LibraryDescriptor
AttentionAttr::getDescriptor(ArrayRef<rt::DType> types) const {
  rt::AttentionShape shape;
  shape.dtype = types.empty() ? rt::DType::f32 : types[0];
  shape.hasBias = getHasBias();
  shape.bias = shape.hasBias && types.size() > 3 ? types[3] : rt::DType::f32;
  shape.accumulate = *getRuntimeDType(getAccumulate());
  for (AttentionDimAttr dim : getDims()) {
    rt::AttentionIndex &index = shape.indices.emplace_back();
    index.kind = static_cast<rt::AttentionIndexKind>(dim.getKind());
    index.size = dim.getSize();
    for (auto [each, stride] :
         llvm::zip_equal(rt::attentionStrides, dim.getStrides()))
      index.*each.stride = stride;
  }
  shape.scale = getScale() ? getScale().getValueAsDouble() : 1.0;
  shape.isGradient = getGradient();
  shape.isSafe = getSafe();
  shape.isCausal = getCausal();
  shape.shift = getShift();
  shape.hasOffset = getHasOffset();
  if (getDropout())
    shape.dropout = getDropout().getValue();
  return shape;
}

LibraryDescriptorInterface
llmc::plan::getAttentionAttr(MLIRContext *context,
                             const rt::AttentionShape &shape) {
  SmallVector<AttentionDimAttr> dims;
  for (const rt::AttentionIndex &index : shape.indices) {
    SmallVector<int64_t> strides;
    for (const rt::AttentionStride &each : rt::attentionStrides)
      strides.push_back(index.*each.stride);
    dims.push_back(AttentionDimAttr::get(
        context, static_cast<AttentionKind>(index.kind), index.size, strides));
  }
  FloatAttr scale;
  if (shape.scale != 1)
    scale = Builder(context).getF64FloatAttr(shape.scale);
  DropoutAttr dropout;
  if (shape.hasDropout())
    dropout = DropoutAttr::get(context, shape.dropout);
  return AttentionAttr::get(
      context, dims, getElementType(context, shape.accumulate), scale,
      shape.isGradient, shape.isSafe, shape.isCausal, shape.shift,
      shape.hasOffset, shape.hasBias, dropout);
}
