//===- Convolution.cpp - Answers of convolution ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With b samples, i and o input and output features of a group, g groups, and
// along each spatial dimension x places of the input, k of the kernel and y of
// the result:
//
//   feature groups   [b, g i, x], [i, g o, k] -> [b, g o, y]
//   batch groups     [g b, i, x], [i, g o, k] -> [b, g o, y]
//
//   lhs_dilation x = stride y + rhs_dilation k - low                       (1)
//
// where k counts from the kernel's end in a reversed window. Samples and output
// features pass, input features are reduced. x, k and y of one dimension are
// needed whole, but for the cases in which (1) says that two of them are equal:
// a kernel of size 1 passes places, and one as large as its input reduces them.
//
// The three stand alike in (1), so cotangents are convolutions. With c that of
// the result, and sizes X, K and Y:
//
//   input    c under the kernel, reversed: stride and lhs_dilation change
//            places, low = rhs_dilation (K - 1) - low; input and output
//            features of a group change places
//   kernel   the input, its features as samples, under c, its samples as input
//            features: stride and rhs_dilation change places, feature and
//            batch groups too; then reversed where the window was
//
// `high` is what gives X or K places: edges may be cropped.
//
// Test: test/Dialect/StableHLO/Models/ConvolutionTest.cpp,
// test/EndToEnd/windows.test
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include <numeric>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

ConvolutionParts::ConvolutionParts(ConvolutionOp op)
    : window(op.getWindow()),
      groups(op.getFeatureGroupCount() * op.getBatchGroupCount()),
      groupsBatch(op.getBatchGroupCount() > 1) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  input = {dims.getInputBatchDimension(), dims.getInputFeatureDimension(),
           SmallVector<int64_t>(dims.getInputSpatialDimensions())};
  kernel = {dims.getKernelInputFeatureDimension(),
            dims.getKernelOutputFeatureDimension(),
            SmallVector<int64_t>(dims.getKernelSpatialDimensions())};
  output = {dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(),
            SmallVector<int64_t>(dims.getOutputSpatialDimensions())};
  samples = op.getType().getDimSize(output.first);
  inputs = op.getRhs().getType().getDimSize(kernel.first);
  outputs = op.getType().getDimSize(output.second) / groups;
  for (int64_t dim : output.spatial)
    places.push_back(op.getType().getDimSize(dim));
}

bool stablehlo::isEmpty(ConvolutionOp op) {
  return op.getLhs().getType().getNumElements() == 0 ||
         op.getRhs().getType().getNumElements() == 0 ||
         op.getType().getNumElements() == 0;
}

namespace {
//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

/// Which of the places along one dimension are equal in every term.
enum class Equal { None, InputAndOutput, InputAndKernel, KernelAndOutput };

Equal findEqual(const WindowDim &dim, int64_t places) {
  bool isAtZero = dim.low == 0 && dim.baseDilation == 1;
  if (dim.window == 1 && dim.stride == 1 && isAtZero && places == dim.size)
    return Equal::InputAndOutput;
  if (places == 1 && dim.windowDilation == 1 && isAtZero && !dim.isReversed &&
      dim.window == dim.size)
    return Equal::InputAndKernel;
  if (dim.size == 1 && dim.stride == 1 && dim.windowDilation == 1 &&
      dim.isReversed && dim.low == dim.window - 1 && places == dim.window)
    return Equal::KernelAndOutput;
  return Equal::None;
}

void addPlaces(ShardingRule &rule, const ConvolutionParts &parts, size_t at,
               ReductionKind kind) {
  const WindowDim &dim = parts.window[at];
  SmallVector<int, 1> &x = rule.operands[0][parts.input.spatial[at]],
                      &k = rule.operands[1][parts.kernel.spatial[at]],
                      &y = rule.results[0][parts.output.spatial[at]];
  switch (findEqual(dim, parts.places[at])) {
  case Equal::InputAndOutput:
    x = y = {rule.addFactor(dim.size)};
    return;
  case Equal::InputAndKernel:
    x = k = {rule.addFactor(dim.size, FactorKind::Reduced, kind)};
    return;
  case Equal::KernelAndOutput:
    k = y = {rule.addFactor(dim.window)};
    return;
  case Equal::None:
    x = {rule.addFactor(dim.size, FactorKind::Whole)};
    k = {rule.addFactor(dim.window, FactorKind::Whole)};
    y = {rule.addFactor(parts.places[at], FactorKind::Whole)};
    return;
  }
}

/// Of a convolution of nothing: no two dimensions hang together.
ShardingRule getRuleOfNothing(ConvolutionOp op) {
  ShardingRule rule = ShardingRule::forOp(op);
  auto addWhole = [&](RankedTensorType type, TensorFactors &tensor) {
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      tensor[dim] = {rule.addFactor(size, FactorKind::Whole)};
  };
  addWhole(op.getLhs().getType(), rule.operands[0]);
  addWhole(op.getRhs().getType(), rule.operands[1]);
  addWhole(op.getType(), rule.results[0]);
  return rule;
}

ShardingRule getRule(ConvolutionOp op) {
  if (isEmpty(op))
    return getRuleOfNothing(op);
  ShardingRule rule = ShardingRule::forOp(op);
  ConvolutionParts parts(op);
  // i1 multiplies by "and" and adds by "or".
  bool isBool = op.getLhs().getType().getElementType().isInteger(1);
  ReductionKind kind = isBool ? ReductionKind::bitOr : ReductionKind::sum;
  TensorFactors &x = rule.operands[0], &k = rule.operands[1],
                &y = rule.results[0];
  if (parts.groups > 1) {
    int group = rule.addFactor(parts.groups);
    x[parts.groupsBatch ? parts.input.first : parts.input.second] = {group};
    k[parts.kernel.second] = y[parts.output.second] = {group};
  }
  int sample = rule.addFactor(parts.samples);
  x[parts.input.first].push_back(sample);
  y[parts.output.first].push_back(sample);
  int output = rule.addFactor(parts.outputs);
  k[parts.kernel.second].push_back(output);
  y[parts.output.second].push_back(output);
  int input = rule.addFactor(parts.inputs, FactorKind::Reduced, kind);
  x[parts.input.second].push_back(input);
  k[parts.kernel.first].push_back(input);
  for (size_t at = 0; at < parts.window.size(); ++at)
    addPlaces(rule, parts, at, kind);
  rule.addLinear(kind, {{0}, {1}});
  return rule;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// How many pairs of a place of the kernel and one of the result meet an
/// element of the input along one dimension.
int64_t countTerms(const WindowDim &dim, int64_t places) {
  int64_t terms = 0;
  // Fewer turns, by the symmetry of (1).
  bool byKernel = dim.window <= places;
  int64_t turns = byKernel ? dim.window : places,
          step = byKernel ? dim.windowDilation : dim.stride,
          others = byKernel ? places : dim.window,
          otherStep = byKernel ? dim.stride : dim.windowDilation;
  int64_t period = dim.baseDilation / std::gcd(dim.baseDilation, otherStep);
  int64_t end = (dim.size - 1) * dim.baseDilation;
  for (int64_t turn = 0; turn < turns; ++turn) {
    // The least other place that meets an element, by trial of one period.
    int64_t first = turn * step - dim.low, other = 0;
    if (first < 0)
      other = (-first + otherStep - 1) / otherStep;
    int64_t tried = 0;
    while (tried < period && (first + other * otherStep) % dim.baseDilation)
      ++other, ++tried;
    int64_t at = first + other * otherStep;
    if (tried == period || other >= others || at > end)
      continue;
    int64_t jump = period * otherStep;
    terms += std::min((end - at) / jump, (others - 1 - other) / period) + 1;
  }
  return terms;
}

OpCost getCostOf(ConvolutionOp op) {
  OpCost cost = getTrafficCost(op);
  if (isEmpty(op))
    return cost;
  ConvolutionParts parts(op);
  int64_t terms = parts.groups * parts.samples * parts.outputs * parts.inputs;
  for (auto [dim, places] : llvm::zip_equal(parts.window, parts.places))
    terms *= countTerms(dim, places);
  cost.flops = 2 * terms;
  cost.modelFlops = cost.flops;
  return cost;
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

struct ConvolutionAnswers : AnswerDefaults<ConvolutionOp> {
  /// One slice along groups is an op of fewer groups.
  static bool uniform(ConvolutionOp op) {
    return op.getFeatureGroupCount() == 1 && op.getBatchGroupCount() == 1;
  }
  static ShardingRule rule(ConvolutionOp op) { return getRule(op); }
  static OpCost cost(ConvolutionOp op) { return getCostOf(op); }

  /// A device has as many groups as its tensors say.
  static LogicalResult localize(ConvolutionOp op, LocalForm &form) {
    auto local = cast<ConvolutionOp>(form.cloneOp());
    ConvolutionParts parts(op);
    RankedTensorType lhs = local.getLhs().getType();
    if (isEmpty(op))
      return success();
    if (parts.groupsBatch)
      local.setBatchGroupCount(lhs.getDimSize(parts.input.first) /
                               local.getType().getDimSize(parts.output.first));
    else if (parts.groups > 1)
      local.setFeatureGroupCount(
          lhs.getDimSize(parts.input.second) /
          local.getRhs().getType().getDimSize(parts.kernel.first));
    return success();
  }

  static LogicalResult derive(ConvolutionOp op, DerivativeCall &call) {
    // Sums of nothing depend on nothing.
    return isEmpty(op) ? success() : deriveConvolution(op, call);
  }

  static KernelForm form(ConvolutionOp op) {
    return isEmpty(op) ? KernelForm::Decompose : KernelForm::Library;
  }
  /// Sums of nothing are zero.
  static LogicalResult decompose(ConvolutionOp op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    results.push_back(constantSplat(b, op.getLoc(), op.getType(), 0));
    return success();
  }
  static Operation *buildLibraryCall(ConvolutionOp op, OpBuilder &b) {
    ConvolutionParts parts(op);
    SmallVector<Attribute> windows;
    for (const WindowDim &dim : parts.window)
      windows.push_back(dist::WindowAttr::get(
          op.getContext(), dim.stride, dim.low, dim.baseDilation,
          dim.windowDilation, dim.isReversed));
    return dist::ConvolveOp::create(
        b, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(), Value(),
        Value(), parts.input.list(), parts.kernel.list(), parts.output.list(),
        b.getArrayAttr(windows), op.getFeatureGroupCount(),
        op.getBatchGroupCount());
  }

  static LogicalResult evaluate(ConvolutionOp op, EvaluationCall &call) {
    HostTensor result(op.getType());
    if (!isEmpty(op))
      evaluateConvolution(op, call.operands, result);
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void stablehlo::registerConvolutionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<ConvolutionOp, ConvolutionAnswers>(context);
    ConvolutionOp::attachInterface<FactorModel<ConvolutionOp, 2, 0, true>>(
        *context);
  });
}
