//===- Constants.cpp - Answers of constant and iota -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both are inactive and have no operands. The elements of a constant depend on
// the position in the whole tensor, so it must not be split unless it is a
// splat: a split user takes a slice of the whole value, which costs nothing
// inside its kernel. An iota splits freely: a device adds its offset.
//
// Only a splat has scalar code: kernels keep several elements as a table.
//
// Test: test/Dialect/StableHLO/Models/ElementTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/LocalIndex.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Rule, derivative, cost: both ops
//===----------------------------------------------------------------------===//

/// Whether all elements are the same.
static bool isSplat(ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  return elements && elements.isSplat();
}

namespace {
struct ConstantRule
    : graph::ShardingRuleOpInterface::ExternalModel<ConstantRule, ConstantOp> {
  graph::ShardingRule getShardingRule(Operation *op) const {
    graph::ShardingRule rule = graph::ShardingRule::elementwise(op);
    if (!isSplat(cast<ConstantOp>(op)))
      for (graph::Factor &factor : rule.factors)
        factor.kind = graph::FactorKind::Whole;
    return rule;
  }
  /// The value's type is the local one.
  LogicalResult buildLocalForm(Operation *op, LocalForm &form) const {
    RankedTensorType type = form.getLocalType(op->getResult(0));
    auto elements =
        dyn_cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
    bool fits = elements && (elements.isSplat() || elements.getNumElements() ==
                                                       type.getNumElements());
    if (!fits)
      return op->emitOpError()
             << "expected a constant that is not split unless it is a splat, "
                "got local type "
             << type;
    auto clone = cast<ConstantOp>(form.cloneOp());
    clone.setValueAttr(elements.isSplat() ? elements.resizeSplat(type)
                                          : elements.reshape(type));
    return success();
  }
};

/// The positions of a device start at its offset.
struct IotaRule
    : graph::ShardingRuleOpInterface::ExternalModel<IotaRule, IotaOp> {
  graph::ShardingRule getShardingRule(Operation *op) const {
    return graph::ShardingRule::elementwise(op);
  }
  LogicalResult buildLocalForm(Operation *op, LocalForm &form) const {
    Value global = op->getResult(0);
    int64_t d = cast<IotaOp>(op).getIotaDimension();
    graph::LocalDim dim = form.getDim(global, d);
    if (dim.isPlain()) {
      form.cloneOp();
      return success();
    }
    OpBuilder &b = form.builder;
    Type integer = getPositionType(op->getContext(), dim);
    Value offset =
        dim.isSplit() ? form.buildOffset(global, d, integer) : Value();
    Value line = buildPositions(b, form.loc, dim, offset, integer);
    line = buildIndices(b, form.loc, dim, line);
    RankedTensorType type = form.getLocalType(global);
    line = convertTo(b, form.loc, line, type.getElementType());
    form.results.push_back(broadcastInDim(b, form.loc, line, type, {d}));
    return success();
  }
};

template <typename Op>
struct SourceDerivative
    : graph::DerivativeOpInterface::ExternalModel<SourceDerivative<Op>, Op> {
  LogicalResult buildDerivative(Operation *, OpBuilder &, ValueRange,
                                ArrayRef<bool>,
                                SmallVectorImpl<Value> &) const {
    return success();
  }
  bool isInactive(Operation *) const { return true; }
};

template <typename Op>
struct SourceCost : graph::CostOpInterface::ExternalModel<SourceCost<Op>, Op> {
  graph::OpCost getCost(Operation *op) const {
    return graph::getTrafficCost(op);
  }
};

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

Value emitScalar(OpBuilder &b, Location loc, const HostTensor &tensor) {
  Type type = getSignless(tensor.getElementType());
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        b, loc, b.getFloatAttr(floating, tensor.getFloat(0)));
  APInt value(type.getIntOrFloatBitWidth(),
              static_cast<uint64_t>(tensor.getInt(0)), /*isSigned=*/false,
              /*implicitTrunc=*/true);
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

struct ConstantKernel
    : graph::KernelOpInterface::ExternalModel<ConstantKernel, ConstantOp> {
  graph::KernelForm getKernelForm(Operation *) const {
    return graph::KernelForm::Element;
  }
  Value emitElement(Operation *op, OpBuilder &b, Location loc, unsigned,
                    ValueRange indices, graph::ElementSource) const {
    auto elements =
        dyn_cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
    if (!elements || !elements.isSplat())
      return {};
    auto scalar = RankedTensorType::get({}, elements.getElementType());
    FailureOr<HostTensor> tensor =
        HostTensor::fromAttribute(elements.resizeSplat(scalar));
    return failed(tensor) ? Value() : emitScalar(b, loc, *tensor);
  }
};

using ConstantForms =
    graph::OneFormModel<ConstantOp, graph::KernelForm::Element>;

struct ConstantEvaluation
    : graph::EvaluationOpInterface::ExternalModel<ConstantEvaluation,
                                                  ConstantOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<HostTensor>,
                         graph::EvaluationScope &,
                         SmallVectorImpl<HostTensor> &results) const {
    FailureOr<HostTensor> tensor =
        HostTensor::fromAttribute(cast<ConstantOp>(op).getValue());
    if (failed(tensor))
      return op->emitOpError() << "expected dense elements to evaluate";
    results.push_back(*tensor);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// iota
//===----------------------------------------------------------------------===//

struct IotaKernel
    : graph::KernelOpInterface::ExternalModel<IotaKernel, IotaOp> {
  graph::KernelForm getKernelForm(Operation *) const {
    return graph::KernelForm::Element;
  }
  Value emitElement(Operation *op, OpBuilder &b, Location loc, unsigned,
                    ValueRange indices, graph::ElementSource) const {
    Value index = indices[cast<IotaOp>(op).getIotaDimension()];
    Type type = getSignless(getElement(op->getResult(0)));
    // Where it is an index again, casts alone would be folded, although it has
    // wrapped around.
    bool isNarrow = type.isInteger() && type.getIntOrFloatBitWidth() < 32;
    if (isNarrow)
      return arith::TruncIOp::create(
          b, loc, type,
          arith::IndexCastOp::create(b, loc, b.getI32Type(), index));
    if (!isa<FloatType>(type))
      return arith::IndexCastOp::create(b, loc, type, index);
    Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return arith::SIToFPOp::create(b, loc, type, wide);
  }
};

using IotaForms = graph::OneFormModel<IotaOp, graph::KernelForm::Element>;

struct IotaEvaluation
    : graph::EvaluationOpInterface::ExternalModel<IotaEvaluation, IotaOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<HostTensor>,
                         graph::EvaluationScope &,
                         SmallVectorImpl<HostTensor> &results) const {
    auto iota = cast<IotaOp>(op);
    HostTensor result(cast<RankedTensorType>(iota.getType()));
    int64_t dim = iota.getIotaDimension();
    int64_t size = result.getShape()[dim];
    int64_t stride = result.getStrides()[dim];
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      result.setInt(i, i / stride % size);
    results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void stablehlo::registerConstantModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ConstantOp::attachInterface<ConstantRule, SourceDerivative<ConstantOp>,
                                SourceCost<ConstantOp>, ConstantKernel,
                                ConstantForms, ConstantEvaluation>(*context);
    IotaOp::attachInterface<IotaRule, SourceDerivative<IotaOp>,
                            SourceCost<IotaOp>, IotaKernel, IotaForms,
                            IotaEvaluation>(*context);
  });
}
