//===- SplitContractions.cpp - A slice of a product is a product ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %y = add(dot %x, %W), broadcast %b          %W : 8x12, axes split dim 1
//   %q = slice %y [0:4, 0:4]
//     ->
//   %q = add(dot %x, slice %W [0:8, 0:4]), broadcast (slice %b [0:4])
//
// Fused projections (Q, K and V in one weight) are stored as one tensor whose
// columns belong together by thirds. Split as a whole over an axis, each slice
// of the product lies on some of the devices, and would be gathered; split by
// thirds (`llmc-split-states`) nothing moves (Megatron-LM, 1909.08053, section
// 3). On one device the fused product is the faster one, so this is done only
// where a state's row splits the dimension that is sliced.
//
// All uses of the sliced value must be slices that together are the whole, and
// what lies between it and the states must have no other use.
//
// Test: test/Transforms/Training/split-contractions.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "PartBuilder.h"
#include "StateParts.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/Matchers.h"
#include <set>
#include <tuple>

namespace llmc {
#define GEN_PASS_DEF_SPLITCONTRACTIONSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::training;

namespace {
/// What a cut meets on its way up.
struct CutPath {
  /// An op that lets it not pass, or a value that is also used otherwise.
  std::string obstacle;
  bool meetsContraction = false;
  bool meetsSplitState = false;
  /// Values that it has met, each with the cut: arithmetic on bits reads one
  /// value on very many ways.
  std::set<std::tuple<void *, int64_t, int64_t, int64_t>> met;

  void addObstacle(std::string what) {
    if (obstacle.empty())
      obstacle = std::move(what);
  }
};

class FunctionSplitter {
public:
  FunctionSplitter(func::FuncOp function, const SymbolTable &symbols)
      : function(function), symbols(symbols), builder(function.getContext()) {}

  void run();

private:
  void follow(Value value, Cut cut, CutPath &path);
  void splitUses(Value value);

  func::FuncOp function;
  const SymbolTable &symbols;
  PartBuilder builder;
};
} // namespace

/// Follows `cut` from `value` to states and constants.
void FunctionSplitter::follow(Value value, Cut cut, CutPath &path) {
  if (!path.met
           .insert({value.getAsOpaquePointer(), cut.dim, cut.begin, cut.end})
           .second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    FlatSymbolRefAttr read = getRead(function, argument.getArgNumber());
    auto state =
        read ? symbols.lookup<dist::StateOp>(read.getAttr()) : dist::StateOp();
    if (state)
      path.meetsSplitState |= isSplitByRow(state, cut.dim);
    else
      path.addObstacle("an argument that is no state");
    return;
  }
  if (matchPattern(value, m_Constant()))
    return;
  Operation *op = value.getDefiningOp();
  std::optional<OpCut> through =
      cutThroughResult(op, cast<OpResult>(value).getResultNumber(), cut);
  if (!through)
    return path.addObstacle(op->getName().getStringRef().str());
  path.meetsContraction |= cast<graph::KernelOpInterface>(op).getKernelForm() ==
                           graph::KernelForm::Library;
  for (auto [operand, of] :
       llvm::zip_equal(op->getOperands(), through->operands)) {
    if (!of)
      continue;
    Operation *producer = operand.getDefiningOp();
    if (producer && !operand.hasOneUse() &&
        !matchPattern(producer, m_Constant()))
      path.addObstacle("another use of " +
                       producer->getName().getStringRef().str());
    follow(operand, *of, path);
  }
}

/// The cuts of the slices that are all uses of `value`, by their begin, when
/// they lie side by side and make up the whole.
static SmallVector<std::pair<Cut, Operation *>> getSlices(Value value) {
  SmallVector<std::pair<Cut, Operation *>> slices;
  for (Operation *user : value.getUsers()) {
    std::optional<Cut> cut = getCutOfSlice(user);
    if (!cut || (!slices.empty() && slices.front().first.dim != cut->dim))
      return {};
    slices.push_back({*cut, user});
  }
  llvm::sort(slices, [](const auto &a, const auto &b) {
    return a.first.begin < b.first.begin;
  });
  int64_t end = 0;
  for (auto &[cut, user] : slices) {
    if (cut.begin != end)
      return {};
    end = cut.end;
  }
  if (slices.size() < 2 || end != cast<RankedTensorType>(value.getType())
                                      .getDimSize(slices.front().first.dim))
    return {};
  return slices;
}

void FunctionSplitter::splitUses(Value value) {
  SmallVector<std::pair<Cut, Operation *>> slices = getSlices(value);
  if (slices.empty())
    return;
  CutPath path;
  for (auto &[cut, slice] : slices)
    follow(value, cut, path);
  if (!path.meetsContraction || !path.meetsSplitState)
    return;
  Operation *op = value.getDefiningOp();
  if (!path.obstacle.empty()) {
    remark::missed(op->getLoc(), remarkOf("parts"))
        << "a split state's product is sliced but stays whole: " +
               path.obstacle + " stands between";
    return;
  }
  for (auto &[cut, slice] : slices)
    slice->getResult(0).replaceAllUsesWith(builder.build(value, cut, op));
  remark::passed(op->getLoc(), remarkOf("parts"))
      << "split a product into " + std::to_string(slices.size()) +
             ", one for each slice";
}

void FunctionSplitter::run() {
  // From the last to the first: a slice of a slice is met before its operand.
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->getNumResults() == 1)
      splitUses(op->getResult(0));
  eraseDeadOps(function.front());
}

namespace {
struct SplitContractionsPass
    : llmc::impl::SplitContractionsPassBase<SplitContractionsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : getGraphFunctions(getOperation()))
      if (!function.isExternal())
        FunctionSplitter(function, symbols).run();
  }
};
} // namespace
