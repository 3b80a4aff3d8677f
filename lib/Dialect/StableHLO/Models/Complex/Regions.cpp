//===- Regions.cpp - Ops with regions on complex numbers ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction or a scatter that adds, or that writes, is one of each part. Any
// other body, and those of loops and branches, take and return both parts.
//
//   reduce (%a, %b) by add        ->   (reduce %a by add, reduce %b by add)
//   reduce %x of n by multiply    ->   halves of %x multiplied, log2(n) times
//   while (%a, %b)                ->   while of two values
//   sort (%a, %b)                 ->   sort of two inputs
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "Partwise.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/ComplexMath.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {

/// Loops and branches.
template <typename Op>
struct TogetherModel
    : ComplexPartsOpInterface::ExternalModel<TogetherModel<Op>, Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    splitTogether(op, builder, operands, results);
    return success();
  }
};

/// Windows and scatters: both parts alone where the body does so.
template <typename Op>
struct CombiningModel
    : ComplexPartsOpInterface::ExternalModel<CombiningModel<Op>, Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    if (stablehlo::isPartwise(op->getRegion(0)))
      splitPartwise(op, builder, operands, results);
    else
      splitTogether(op, builder, operands, results);
    return success();
  }
};

/// A comparator takes the two elements of one input after the other, and so of
/// each part. It makes complex numbers of them, which the caller splits.
struct SortParts : ComplexPartsOpInterface::ExternalModel<SortParts, SortOp> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    Operation *sort = splitTogether(op, builder, operands, results);
    Block &body = sort->getRegion(0).front();
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    unsigned next = 0;
    for (ComplexPair pair : operands) {
      if (pair.imag)
        splitElements(body, b, next);
      next += pair.imag ? 4 : 2;
    }
    return success();
  }

private:
  /// Of arguments `first` and the next one.
  void splitElements(Block &body, OpBuilder &b, unsigned first) const {
    BlockArgument x = body.getArgument(first), y = body.getArgument(first + 1);
    Location loc = x.getLoc();
    RankedTensorType part = getPartType(x.getType());
    SmallVector<Value> parts;
    for (unsigned i = 0; i < 4; ++i)
      parts.push_back(body.insertArgument(first + 2 + i, part, loc));
    auto join = [&](BlockArgument of, Value real, Value imag) {
      of.replaceAllUsesWith(
          ComplexOp::create(b, loc, of.getType(), real, imag));
    };
    join(x, parts[0], parts[2]);
    join(y, parts[1], parts[3]);
    body.eraseArguments(first, 2);
  }
};

/// Devices add parts alone, and hand on both.
template <typename Op>
struct DeviceReductionModel
    : ComplexPartsOpInterface::ExternalModel<DeviceReductionModel<Op>, Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    if (!stablehlo::isPartwise(op->getRegion(0)))
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected a sum of complex numbers over devices, got another "
                "reduction (gather the numbers, and reduce them by hand)";
    splitPartwise(op, builder, operands, results);
    return success();
  }
};

/// The product along one dimension, which stays with size 1.
ComplexPair multiplyAlong(ComplexMath math, ComplexPair x, int64_t dim) {
  auto cut = [&](ComplexPair of, int64_t start, int64_t limit) {
    auto one = [&](Value part) {
      auto type = cast<RankedTensorType>(part.getType());
      SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
      starts[dim] = start;
      limits[dim] = limit;
      return slice(math.b, math.loc, part, starts, limits);
    };
    return ComplexPair{one(of.real), one(of.imag)};
  };
  auto join = [&](Value a, Value b) {
    return concatenate(math.b, math.loc, {a, b}, dim);
  };
  while (true) {
    int64_t size = cast<RankedTensorType>(x.real.getType()).getDimSize(dim);
    if (size == 1)
      return x;
    int64_t half = size / 2;
    ComplexPair rest = cut(x, 2 * half, size);
    x = math.multiply(cut(x, 0, half), cut(x, half, 2 * half));
    if (size % 2 == 1)
      x = {join(x.real, rest.real), join(x.imag, rest.imag)};
  }
}

struct ReduceParts
    : ComplexPartsOpInterface::ExternalModel<ReduceParts, ReduceOp> {
  LogicalResult splitParts(Operation *of, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    auto op = cast<ReduceOp>(of);
    bool isOne = op.getInputs().size() == 1 && operands[0].imag;
    bool hasElements = llvm::all_of(op.getDimensions(), [&](int64_t dim) {
      return cast<RankedTensorType>(op.getInputs()[0].getType())
                 .getDimSize(dim) > 0;
    });
    if (isOne && hasElements &&
        reduceKindOf(op.getBody()) == ReductionKind::product)
      results.push_back(buildProduct(op, builder, operands));
    else if (stablehlo::isPartwise(op.getBody()))
      splitPartwise(op, builder, operands, results);
    else
      splitTogether(op, builder, operands, results);
    return success();
  }

  ComplexPair buildProduct(ReduceOp op, OpBuilder &b,
                           ArrayRef<ComplexPair> operands) const {
    ComplexMath math{b, op.getLoc()};
    ComplexPair x = operands[0];
    for (int64_t dim : op.getDimensions())
      x = multiplyAlong(math, x, dim);
    RankedTensorType type = getPartType(op.getResult().front().getType());
    auto shape = [&](Value part) {
      return reshape(b, op.getLoc(), part, type.getShape());
    };
    auto spread = [&](Value part) {
      return broadcastInDim(b, op.getLoc(), part, type, {});
    };
    return math.multiply({spread(operands[1].real), spread(operands[1].imag)},
                         {shape(x.real), shape(x.imag)});
  }
};
} // namespace

void stablehlo::registerComplexRegions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    WhileOp::attachInterface<TogetherModel<WhileOp>>(*context);
    CaseOp::attachInterface<TogetherModel<CaseOp>>(*context);
    IfOp::attachInterface<TogetherModel<IfOp>>(*context);
    ReduceOp::attachInterface<ReduceParts>(*context);
    ReduceWindowOp::attachInterface<CombiningModel<ReduceWindowOp>>(*context);
    ScatterOp::attachInterface<CombiningModel<ScatterOp>>(*context);
    SortOp::attachInterface<SortParts>(*context);
    AllReduceOp::attachInterface<DeviceReductionModel<AllReduceOp>>(*context);
    ReduceScatterOp::attachInterface<DeviceReductionModel<ReduceScatterOp>>(
        *context);
  });
}
