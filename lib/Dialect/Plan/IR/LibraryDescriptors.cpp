//===- LibraryDescriptors.cpp - What a library computes -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kind of descriptor as an attribute, from and to the runtime's struct. A
// kind that is added to `rt::LibraryDescriptor` does not compile until it has
// an attribute here. Tested by test/Dialect/Plan/ops.mlir,
// invalid-libraries.mlir.
//
//===----------------------------------------------------------------------===//

#include "LibraryDescriptors.h"
#include "DimAssembly.h"

#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Support/StoredElements.h"

using namespace mlir;
using namespace llmc::plan;
namespace rt = llmc::rt;
using llmc::getRuntimeDType;

using EmitError = function_ref<InFlightDiagnostic()>;

rt::LibraryDescriptor LibraryOp::getRuntimeDescriptor() {
  SmallVector<rt::DType> types;
  for (auto use : getOperands().getAsRange<UseAttr>())
    types.push_back(
        getRuntimeDType(use.getOperand().getDtype()).value_or(rt::DType::f32));
  return getDescriptor().getDescriptor(types);
}

Type llmc::plan::getElementType(MLIRContext *context, rt::DType type) {
  switch (type) {
  case rt::DType::f64:
    return Float64Type::get(context);
  case rt::DType::f32:
    return Float32Type::get(context);
  case rt::DType::bf16:
    return BFloat16Type::get(context);
  case rt::DType::f16:
    return Float16Type::get(context);
  case rt::DType::i1:
    return IntegerType::get(context, 1);
  case rt::DType::i4:
    return IntegerType::get(context, 4);
  case rt::DType::u4:
    return IntegerType::get(context, 4, IntegerType::Unsigned);
  case rt::DType::f8E4M3FN:
    return Float8E4M3FNType::get(context);
  case rt::DType::f8E5M2:
    return Float8E5M2Type::get(context);
  case rt::DType::f8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case rt::DType::f8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case rt::DType::f8E4M3B11FNUZ:
    return Float8E4M3B11FNUZType::get(context);
  case rt::DType::u8:
  case rt::DType::u16:
  case rt::DType::u32:
  case rt::DType::u64:
    return IntegerType::get(context, 8 * rt::sizeOf(type),
                            IntegerType::Unsigned);
  default:
    return IntegerType::get(context, 8 * rt::sizeOf(type));
  }
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The enums of the text are those of the runtime.
template <typename Mine, typename Theirs>
static constexpr bool areEqual(Mine mine, Theirs theirs) {
  return static_cast<uint32_t>(mine) == static_cast<uint32_t>(theirs);
}
static_assert(areEqual(LoopKind::Batch, rt::ContractionIndexKind::batch) &&
              areEqual(LoopKind::M, rt::ContractionIndexKind::m) &&
              areEqual(LoopKind::N, rt::ContractionIndexKind::n) &&
              areEqual(LoopKind::K, rt::ContractionIndexKind::k) &&
              getMaxEnumValForLoopKind() + 1 ==
                  rt::contractionIndexNames.size());
static_assert(areEqual(Activation::None, rt::Activation::none) &&
              areEqual(Activation::Relu, rt::Activation::relu) &&
              areEqual(Activation::Gelu, rt::Activation::gelu) &&
              areEqual(Activation::GeluTanh, rt::Activation::geluTanh) &&
              areEqual(Activation::Tanh, rt::Activation::tanh) &&
              areEqual(Activation::Logistic, rt::Activation::logistic) &&
              getMaxEnumValForActivation() + 1 == rt::activationNames.size());

static DimWords getLoopWords() {
  DimWords words{{}, {"a", "b", "c", "bias"}};
  for (std::string_view name : rt::contractionIndexNames)
    words.kinds.push_back(StringRef(name));
  return words;
}

Attribute LoopDimAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<DimText> dim = parseDim(parser, getLoopWords());
  if (failed(dim))
    return {};
  ArrayRef<int64_t> strides = dim->strides;
  return parser.getChecked<LoopDimAttr>(
      loc, parser.getContext(), static_cast<LoopKind>(dim->kind), dim->size,
      strides[0], strides[1], strides[2], strides[3]);
}

void LoopDimAttr::print(AsmPrinter &printer) const {
  printDim(printer,
           {static_cast<uint32_t>(getKind()),
            getSize(),
            {getA(), getB(), getC(), getBias()}},
           getLoopWords());
}

LogicalResult LoopDimAttr::verify(EmitError emitError, LoopKind kind,
                                  int64_t size, int64_t a, int64_t b, int64_t c,
                                  int64_t bias) {
  if (size < 1)
    return emitError() << "expected a size of at least 1, got " << size;
  if (a < 0 || b < 0 || c < 0 || bias < 0)
    return emitError() << "expected strides of at least 0, got " << a << ", "
                       << b << ", " << c << " and " << bias;
  if ((kind == LoopKind::M && b != 0) || (kind == LoopKind::N && a != 0) ||
      (kind == LoopKind::K && (c != 0 || bias != 0)))
    return emitError() << "expected no stride where '"
                       << stringifyLoopKind(kind)
                       << "' has no dim, got a = " << a << ", b = " << b
                       << ", c = " << c << ", bias = " << bias;
  return success();
}

/// What contractions and convolutions have in common.
static LogicalResult verifySum(EmitError emitError, ArrayRef<LoopDimAttr> dims,
                               Type accumulate, int64_t beta, bool hasBias) {
  if (!getRuntimeDType(accumulate))
    return emitError() << "expected sums in a type that the runtime stores, "
                          "got "
                       << accumulate;
  if (beta != 0 && beta != 1)
    return emitError() << "expected a beta of 0 or 1, got " << beta;
  for (LoopDimAttr dim : dims)
    if (!hasBias && dim.getBias() != 0)
      return emitError() << "expected no stride of a bias that is not there, "
                            "got "
                         << dim.getBias();
  return success();
}

LogicalResult ContractionAttr::verify(EmitError emitError,
                                      ArrayRef<LoopDimAttr> dims,
                                      Type accumulate, FloatAttr alpha,
                                      int64_t beta, bool hasBias,
                                      Activation activation) {
  return verifySum(emitError, dims, accumulate, beta, hasBias);
}

/// Fills in what contractions and convolutions have in common.
template <typename Shape, typename Attr>
static void readSum(Attr attr, ArrayRef<rt::DType> types, Shape &shape) {
  auto at = [&](size_t operand) {
    return operand < types.size() ? types[operand] : rt::DType::f32;
  };
  shape.a = at(0);
  shape.b = at(1);
  shape.hasBias = attr.getHasBias();
  shape.bias = shape.hasBias ? at(2) : rt::DType::f32;
  shape.c = at(shape.hasBias ? 3 : 2);
  shape.accumulate = *getRuntimeDType(attr.getAccumulate());
  for (LoopDimAttr dim : attr.getDims())
    shape.indices.push_back(
        {static_cast<rt::ContractionIndexKind>(dim.getKind()), dim.getSize(),
         dim.getA(), dim.getB(), dim.getC(), dim.getBias()});
  shape.beta = static_cast<double>(attr.getBeta());
}

rt::LibraryDescriptor
ContractionAttr::getDescriptor(ArrayRef<rt::DType> types) const {
  rt::ContractionShape shape;
  readSum(*this, types, shape);
  shape.alpha = getAlpha() ? getAlpha().getValueAsDouble() : 1.0;
  shape.activation = static_cast<rt::Activation>(getActivation());
  return shape;
}

static SmallVector<LoopDimAttr>
getDims(MLIRContext *context,
        const std::vector<rt::ContractionIndex> &indices) {
  SmallVector<LoopDimAttr> dims;
  for (const rt::ContractionIndex &index : indices)
    dims.push_back(LoopDimAttr::get(context, static_cast<LoopKind>(index.kind),
                                    index.size, index.strideA, index.strideB,
                                    index.strideC, index.strideBias));
  return dims;
}

static LibraryDescriptorInterface getAttr(MLIRContext *context,
                                          const rt::ContractionShape &shape) {
  FloatAttr alpha;
  if (shape.alpha != 1)
    alpha = Builder(context).getF64FloatAttr(shape.alpha);
  return ContractionAttr::get(context, getDims(context, shape.indices),
                              getElementType(context, shape.accumulate), alpha,
                              static_cast<int64_t>(shape.beta), shape.hasBias,
                              static_cast<Activation>(shape.activation));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

LogicalResult WindowAttr::verify(EmitError emitError, DenseI64ArrayAttr sizes,
                                 DenseI64ArrayAttr strides,
                                 DenseI64ArrayAttr steps, int64_t low,
                                 bool reversed) {
  auto areThree = [](DenseI64ArrayAttr list, int64_t least) {
    return list.size() == 3 &&
           llvm::all_of(list.asArrayRef(),
                        [=](int64_t value) { return value >= least; });
  };
  if (areThree(sizes, 1) && areThree(strides, 0) && areThree(steps, 1))
    return success();
  return emitError() << "expected three sizes and steps of at least 1 and "
                        "strides of at least 0, got ["
                     << sizes.asArrayRef() << "], [" << steps.asArrayRef()
                     << "] and [" << strides.asArrayRef() << "]";
}

LogicalResult ConvolutionAttr::verify(EmitError emitError,
                                      ArrayRef<LoopDimAttr> dims,
                                      ArrayRef<WindowAttr> windows,
                                      Type accumulate, int64_t beta,
                                      bool hasBias) {
  return verifySum(emitError, dims, accumulate, beta, hasBias);
}

rt::LibraryDescriptor
ConvolutionAttr::getDescriptor(ArrayRef<rt::DType> types) const {
  rt::ConvolutionShape shape;
  readSum(*this, types, shape);
  for (WindowAttr window : getWindows()) {
    ArrayRef<int64_t> sizes = window.getSizes(), strides = window.getStrides(),
                      steps = window.getSteps();
    shape.windows.push_back({sizes[0], sizes[1], sizes[2], strides[0],
                             strides[1], strides[2], steps[0], steps[1],
                             steps[2], window.getLow(), window.getReversed()});
  }
  return shape;
}

static LibraryDescriptorInterface getAttr(MLIRContext *context,
                                          const rt::ConvolutionShape &shape) {
  SmallVector<WindowAttr> windows;
  auto three = [&](int64_t a, int64_t b, int64_t c) {
    return DenseI64ArrayAttr::get(context, {a, b, c});
  };
  for (const rt::ConvolutionWindow &window : shape.windows)
    windows.push_back(WindowAttr::get(
        context, three(window.sizeA, window.sizeB, window.sizeC),
        three(window.strideA, window.strideB, window.strideC),
        three(window.dilationA, window.dilationB, window.stepC), window.low,
        window.isReversed));
  return ConvolutionAttr::get(context, getDims(context, shape.indices), windows,
                              getElementType(context, shape.accumulate),
                              static_cast<int64_t>(shape.beta), shape.hasBias);
}

static LibraryDescriptorInterface getAttr(MLIRContext *context,
                                          const rt::AttentionShape &shape) {
  return getAttentionAttr(context, shape);
}

static LibraryDescriptorInterface getAttr(MLIRContext *context,
                                          const rt::ArgsortShape &shape) {
  return getArgsortAttr(context, shape);
}

static LibraryDescriptorInterface
getAttr(MLIRContext *context, const rt::GroupedContractionShape &shape) {
  return getGroupedContractionAttr(context, shape);
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

LibraryDescriptorInterface
llmc::plan::getDescriptorAttr(MLIRContext *context,
                              const rt::LibraryDescriptor &descriptor) {
  return std::visit([&](const auto &each) { return getAttr(context, each); },
                    descriptor);
}
