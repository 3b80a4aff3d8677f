//===- Argsort.cpp - Answers of argsort -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dim is needed whole, all others pass. Positions have no derivative; what
// is read at them has that of a gather. Where there is nothing to compare, the
// positions are the elements' own.
//
// Evaluation compares doubles and integers of 64 bits.
//
// Test: test/Dialect/NN/Models/ArgsortTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

static RankedTensorType getKeyType(ArgsortOp op) {
  return cast<RankedTensorType>(op.getKeys().front().getType());
}

/// Whether element i of the key is less than element j.
static bool isLess(const HostTensor &key, int64_t i, int64_t j) {
  if (key.isUnsigned())
    return uint64_t(key.getInt(i)) < uint64_t(key.getInt(j));
  if (!key.isFloat())
    return key.getInt(i) < key.getInt(j);
  double x = key.getFloat(i), y = key.getFloat(j);
  if (std::signbit(x) != std::signbit(y))
    return std::signbit(x);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) == std::signbit(x) && std::isnan(x) != std::isnan(y);
  return x < y;
}

namespace {
struct ArgsortAnswers : AnswerDefaults<ArgsortOp> {
  using Op = ArgsortOp;

  static ShardingRule rule(Op op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = getKeyType(op);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isSorted = dim == op.getDim();
      int factor =
          rule.addFactor(type.getDimSize(dim),
                         isSorted ? FactorKind::Whole : FactorKind::Pass);
      for (TensorFactors &key : rule.operands)
        key[dim] = {factor};
      if (isSorted)
        factor = rule.addFactor(op.getResult().getType().getDimSize(dim),
                                FactorKind::Whole);
      rule.results[0][dim] = {factor};
    }
    return rule;
  }

  static bool inactive(Op) { return true; }
  static LogicalResult derive(Op, DerivativeCall &) { return success(); }

  static OpCost cost(Op op) {
    OpCost cost = getTrafficCost(op);
    RankedTensorType type = getKeyType(op);
    int64_t size = std::max<int64_t>(type.getDimSize(op.getDim()), 2);
    cost.flops = type.getNumElements() * llvm::Log2_64_Ceil(size) *
                 static_cast<int64_t>(op.getKeys().size());
    return cost;
  }

  static KernelForm form(Op op) {
    bool isOrdered = getKeyType(op).getDimSize(op.getDim()) <= 1 ||
                     op.getResult().getType().getNumElements() == 0;
    return isOrdered ? KernelForm::Decompose : KernelForm::Library;
  }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    results.push_back(
        hlo::iota(b, op.getLoc(), op.getResult().getType(), op.getDim()));
    return success();
  }
  static Operation *buildLibraryCall(Op op, OpBuilder &b) {
    return dist::ArgsortOp::create(b, op.getLoc(), op.getResult().getType(),
                                   op.getKeys(), op.getDim(),
                                   op.getDescending());
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    HostTensor result(op.getResult().getType());
    const HostTensor &first = call.operands.front();
    int64_t size = first.getShape()[op.getDim()],
            stride = first.getStrides()[op.getDim()],
            count = result.getShape()[op.getDim()];
    SmallVector<int64_t> places(size);
    for (int64_t row = 0; size != 0 && row < first.getNumElements() / size;
         ++row) {
      int64_t outer = row / stride, inner = row % stride;
      for (int64_t i = 0; i < size; ++i)
        places[i] = (outer * size + i) * stride + inner;
      llvm::sort(places, [&](int64_t i, int64_t j) {
        for (auto [key, isDescending] :
             llvm::zip_equal(call.operands, op.getDescending()))
          if (isLess(key, i, j) || isLess(key, j, i))
            return isLess(key, i, j) != isDescending;
        return i < j;
      });
      for (int64_t i = 0; i < count; ++i)
        result.setInt((outer * count + i) * stride + inner,
                      places[i] / stride % size);
    }
    call.results.push_back(std::move(result));
    return success();
  }
};

/// The same along one dim of more.
struct ArgsortBatching
    : BatchingOpInterface::ExternalModel<ArgsortBatching, ArgsortOp> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    DeviceAxes axes = form.getAxes();
    auto clone = cast<ArgsortOp>(form.cloneAlong(axes));
    clone.setDim(clone.getDim() + static_cast<int64_t>(axes.size()));
    return success();
  }
};
} // namespace

void nn::registerArgsortModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    context->loadDialect<dist::DistDialect>();
    attachAnswers<ArgsortOp, ArgsortAnswers>(context);
    ArgsortOp::attachInterface<ArgsortBatching>(*context);
  });
}
