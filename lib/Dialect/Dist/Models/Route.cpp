//===- Route.cpp - Answers of route ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With g the result's cotangent, that of the operand is g by the inverse route;
// rows that no row reads get zero.
//
// Where the dim is split, device d has rows [d L, (d + 1) L). Its row r comes
// from a row of another device, or of several on the way round: for each row r'
// that some device reads as its row r, all devices permute their rows r', and
// take what comes where it is theirs. Rows that go the same ways go together:
//
//   4 rows on 4 devices, from [3, 0, 1, 2]    one permutation
//   8 rows on 4 devices, from [7, 0, ... 6]   row 0: the others' row 1
//                                             row 1: the device's own row 0
//
// Test: test/Dialect/Dist/Models/RouteTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include <map>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::dist;

namespace {
Value takeRows(OpBuilder &b, Location loc, Value x, int64_t dim, int64_t start,
               int64_t count) {
  auto type = cast<RankedTensorType>(x.getType());
  if (start == 0 && count == type.getDimSize(dim))
    return x;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
  starts[dim] = start;
  limits[dim] = start + count;
  return stablehlo::slice(b, loc, x, starts, limits);
}

Value buildZeros(OpBuilder &b, Location loc, Value like, int64_t dim,
                 int64_t count) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = count;
  return stablehlo::constantSplat(
      b, loc, RankedTensorType::get(shape, type.getElementType()), 0);
}

/// Rows in the order of `from`: those that stand one after another are one
/// slice.
Value buildSlices(OpBuilder &b, Location loc, Value x, int64_t dim,
                  ArrayRef<int64_t> from) {
  SmallVector<Value> pieces;
  for (size_t i = 0, end; i < from.size(); i = end) {
    bool isZero = from[i] < 0;
    for (end = i + 1; end < from.size(); ++end)
      if (from[end] != (isZero ? -1 : from[end - 1] + 1))
        break;
    int64_t count = end - i;
    pieces.push_back(isZero ? buildZeros(b, loc, x, dim, count)
                            : takeRows(b, loc, x, dim, from[i], count));
  }
  if (pieces.empty())
    return x;
  return pieces.size() == 1 ? pieces.front()
                            : stablehlo::concatenate(b, loc, pieces, dim);
}

//===----------------------------------------------------------------------===//
// Between devices
//===----------------------------------------------------------------------===//

/// What devices read as one of their rows: row `row` of the devices `sources`,
/// -1 for those that read another one.
struct Incoming {
  int64_t row;
  SmallVector<int64_t> sources;
};

/// Rows [begin, end) of all devices, and what comes in for them: the rows that
/// are named, and as many after these.
struct Run {
  int64_t begin, end;
  SmallVector<Incoming> incoming;
};

class RoutedRows {
public:
  RoutedRows(LocalForm &form, RouteOp op)
      : form(form), b(form.builder), loc(form.loc), dim(op.getDim()),
        input(form.getLocal(op.getInput())) {
    LayoutAttr layout = getLayout(op.getInput().getType());
    SmallVector<Attribute> names;
    for (AxisAttr axis : layout.getDims()[dim].getAxes())
      names.push_back(axis.getName());
    axes = b.getArrayAttr(names);
  }

  /// `positions` says for each position from which it comes.
  Value build(ArrayRef<int64_t> positions) {
    SmallVector<Value> pieces;
    for (const Run &run : findRuns(positions))
      pieces.push_back(buildRun(run));
    return pieces.size() == 1 ? pieces.front()
                              : stablehlo::concatenate(b, loc, pieces, dim);
  }

private:
  SmallVector<Run> findRuns(ArrayRef<int64_t> positions);
  Value buildRun(const Run &run);
  Value receive(Value rows, ArrayRef<int64_t> sources);
  Value choose(const SmallVector<bool> &isHere, Value yes, Value no);

  LocalForm &form;
  OpBuilder &b;
  Location loc;
  int64_t dim;
  Value input;
  ArrayAttr axes;
};
} // namespace

SmallVector<Run> RoutedRows::findRuns(ArrayRef<int64_t> positions) {
  int64_t local = cast<RankedTensorType>(input.getType()).getDimSize(dim);
  int64_t parts = positions.size() / local;
  SmallVector<Run> runs;
  for (int64_t row = 0; row < local; ++row) {
    std::map<int64_t, SmallVector<int64_t>> byRow;
    for (int64_t part = 0; part < parts; ++part) {
      int64_t from = positions[part * local + row];
      if (from < 0)
        continue;
      auto &sources = byRow[from % local];
      sources.resize(parts, -1);
      sources[part] = from / local;
    }
    // It goes with the row before if all of it comes from one row further.
    Run *last = runs.empty() ? nullptr : &runs.back();
    bool isSame = last && last->incoming.size() == byRow.size();
    if (isSame)
      for (const Incoming &incoming : last->incoming) {
        auto found = byRow.find(incoming.row + row - last->begin);
        isSame &= found != byRow.end() && found->second == incoming.sources;
      }
    if (isSame) {
      ++last->end;
      continue;
    }
    Run &run = runs.emplace_back();
    run.begin = row;
    run.end = row + 1;
    for (auto &[from, sources] : byRow)
      run.incoming.push_back({from, sources});
  }
  return runs;
}

/// `yes` on the devices that are `isHere`, by their number along the axes.
Value RoutedRows::choose(const SmallVector<bool> &isHere, Value yes, Value no) {
  auto table = RankedTensorType::get(isHere.size(), b.getI1Type());
  Value flags = stablehlo::ConstantOp::create(
      b, loc, DenseElementsAttr::get(table, ArrayRef<bool>(isHere)));
  Value number =
      CoordinateOp::create(b, loc, RankedTensorType::get({}, b.getI32Type()),
                           axes, FlatSymbolRefAttr());
  Value flag =
      stablehlo::DynamicSliceOp::create(b, loc, flags, ValueRange{number}, 1);
  flag = stablehlo::reshape(b, loc, flag, {});
  return stablehlo::select(b, loc, flag, yes, no);
}

/// The rows of other devices. Where nothing is wanted anything may come: a
/// device's own rows, if nobody else gets them.
Value RoutedRows::receive(Value rows, ArrayRef<int64_t> sources) {
  SmallVector<int64_t> from(sources);
  SmallVector<bool> isSent(from.size(), false);
  bool moves = false;
  for (auto [part, source] : llvm::enumerate(from))
    if (source >= 0) {
      isSent[source] = true;
      moves |= source != static_cast<int64_t>(part);
    }
  if (!moves)
    return rows;
  for (auto [part, source] : llvm::enumerate(from))
    if (source < 0 && !isSent[part]) {
      source = part;
      isSent[part] = true;
    }
  for (int64_t &source : from)
    if (source < 0) {
      source = llvm::find(isSent, false) - isSent.begin();
      isSent[source] = true;
    }
  return PermuteOp::create(b, loc, TypeRange{rows.getType()},
                           FlatSymbolRefAttr(), ValueRange{rows}, ArrayAttr(),
                           b.getDenseI64ArrayAttr(from), axes,
                           FlatSymbolRefAttr())
      .getResults()
      .front();
}

Value RoutedRows::buildRun(const Run &run) {
  int64_t count = run.end - run.begin;
  Value zeros = buildZeros(b, loc, input, dim, count), result;
  SmallVector<bool> isFilled;
  for (const Incoming &incoming : run.incoming) {
    Value rows = receive(takeRows(b, loc, input, dim, incoming.row, count),
                         incoming.sources);
    auto isHere = llvm::map_to_vector(
        incoming.sources, [](int64_t source) { return source >= 0; });
    result = result ? choose(isHere, rows, result) : rows;
    isFilled.resize(isHere.size(), false);
    for (auto [filled, here] : llvm::zip(isFilled, isHere))
      filled |= here;
  }
  if (!result)
    return zeros;
  return llvm::is_contained(isFilled, false) ? choose(isFilled, result, zeros)
                                             : result;
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

/// The position of an element: its digits by the sizes, read by the extents.
static int64_t getPosition(const LocalDim &dim, int64_t index) {
  int64_t position = 0, scale = 1;
  for (auto [size, extent] : llvm::reverse(dim.factors)) {
    position += index % size * scale;
    index /= size;
    scale *= extent;
  }
  return position;
}

namespace {
struct RouteAnswers : AnswerDefaults<RouteOp> {
  static ShardingRule rule(RouteOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    auto type = cast<RankedTensorType>(op.getInput().getType());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      bool isRouted = d == static_cast<int64_t>(op.getDim()) && !op.getSplit();
      int factor = rule.addFactor(
          type.getDimSize(d), isRouted ? FactorKind::Whole : FactorKind::Pass);
      rule.operands[0][d] = rule.results[0][d] = {factor};
      if (isRouted)
        rule.distributed.push_back(factor);
    }
    bool hasZeros = llvm::is_contained(op.getFrom(), -1);
    for (const ReductionTraits &traits : reductionTraits)
      if (!hasZeros || traits.kind == ReductionKind::sum)
        rule.addLinear(traits.kind, {{0}});
    return rule;
  }

  static LogicalResult distribute(RouteOp op, OpBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
    auto clone = cast<RouteOp>(builder.clone(*op));
    clone.setSplit(true);
    results.push_back(clone.getResult());
    return success();
  }

  static LogicalResult localize(RouteOp op, LocalForm &form) {
    LocalDim dim = form.getDim(op.getInput(), op.getDim());
    SmallVector<int64_t> positions(dim.extent, -1);
    for (auto [to, from] : llvm::enumerate(op.getFrom()))
      if (from >= 0)
        positions[getPosition(dim, to)] = getPosition(dim, from);
    if (dim.isSplit()) {
      form.results.push_back(RoutedRows(form, op).build(positions));
      return success();
    }
    auto clone = cast<RouteOp>(form.cloneOp());
    clone.setFrom(positions);
    clone.setSplit(false);
    return success();
  }

  static LogicalResult derive(RouteOp op, DerivativeCall &call) {
    SmallVector<int64_t> inverse(op.getFrom().size(), -1);
    for (auto [to, from] : llvm::enumerate(op.getFrom()))
      if (from >= 0)
        inverse[from] = to;
    Value g = call.cotangents[0];
    call.gradients[0] = RouteOp::create(call.builder, call.loc, g.getType(), g,
                                        op.getDim(), inverse, op.getSplit());
    return success();
  }

  static KernelForm form(RouteOp) { return KernelForm::Decompose; }
  static LogicalResult decompose(RouteOp op, OpBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
    results.push_back(buildSlices(builder, op.getLoc(), op.getInput(),
                                  op.getDim(), op.getFrom()));
    return success();
  }

  static LogicalResult evaluate(RouteOp op, EvaluationCall &call) {
    const HostTensor &x = call.operands[0];
    HostTensor result(x.getType());
    int64_t dim = op.getDim(), rows = x.getShape()[dim];
    int64_t inner = x.getStrides()[dim] * x.getElementBytes();
    char *out = result.mutableBytes();
    int64_t outer = inner && rows ? x.getNumBytes() / (inner * rows) : 0;
    for (int64_t o = 0; o < outer; ++o)
      for (auto [to, from] : llvm::enumerate(op.getFrom()))
        if (from >= 0)
          std::memcpy(out + (o * rows + to) * inner,
                      x.bytes() + (o * rows + from) * inner, inner);
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void dist::registerRouteModels(DialectRegistry &registry) {
  registry.insert<stablehlo::StableHLODialect>();
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    context->loadDialect<stablehlo::StableHLODialect>();
    attachAnswers<RouteOp, RouteAnswers>(context);
  });
}
