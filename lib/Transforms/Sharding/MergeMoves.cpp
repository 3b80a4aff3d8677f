//===- MergeMoves.cpp - What is moved alike is moved once -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text that computes a value for each use, as the bf16 copy of a parameter in
// each block, has as many collectives of equal values:
//
//   %a = convert %w {block = 1}      %b = all_gather %a {block = 1}
//   %c = convert %w {block = 2}      %d = all_gather %c {block = 2}
//   becomes, with %d replaced by %b
//   %a = convert %w {block = 1}      %b = all_gather %a {block = 1}
//
// Values are numbered: equal ops without effects, on operands of equal numbers,
// make values of equal numbers, whatever their block. Collectives are merged
// within one chunk, phase and run of a loop, so what becomes one is in one
// program, and nothing more is kept for the backward. What only they
// have read is erased; other ops stay as they are, since a value of its own
// for each use is what keeps layouts and lifetimes apart.
//
// Test: test/Transforms/Sharding/merge-moves.mlir
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

namespace llmc {
#define GEN_PASS_DEF_MERGEMOVESPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct MergeMovesPass : llmc::impl::MergeMovesPassBase<MergeMovesPass> {
  void runOnOperation() override;
};

/// Numbers of values, equal where they are computed alike.
class ValueNumbers {
public:
  void add(Operation &op);
  int64_t of(Value value) const { return numbers.lookup(value); }

private:
  int64_t numberOf(Value value);
  Operation *findLike(Operation &op);

  /// From 1.
  llvm::DenseMap<Value, int64_t> numbers;
  std::map<SmallVector<uintptr_t, 8>, int64_t> known;
  /// An op of each kind of regions; bodies use no values from outside.
  SmallVector<Operation *> bodies;
  int64_t last = 0;
};
} // namespace

int64_t ValueNumbers::numberOf(Value value) {
  int64_t &number = numbers[value];
  if (number == 0)
    number = ++last;
  return number;
}

/// The first op with regions like those of `op`.
Operation *ValueNumbers::findLike(Operation &op) {
  auto isAlike = [](Region &region, Region &other) {
    return OperationEquivalence::isRegionEquivalentTo(
        &region, &other, OperationEquivalence::IgnoreLocations);
  };
  for (Operation *known : bodies)
    if (std::equal(op.getRegions().begin(), op.getRegions().end(),
                   known->getRegions().begin(), known->getRegions().end(),
                   isAlike))
      return known;
  return bodies.emplace_back(&op);
}

void ValueNumbers::add(Operation &op) {
  int64_t first = 0;
  if (isMemoryEffectFree(&op)) {
    NamedAttrList attributes(op.getAttrDictionary());
    attributes.erase(DistDialect::kBlock);
    attributes.erase(DistDialect::kPhase);
    auto bits = [](const void *pointer) {
      return reinterpret_cast<uintptr_t>(pointer);
    };
    SmallVector<uintptr_t, 8> key = {
        bits(op.getName().getAsOpaquePointer()),
        bits(attributes.getDictionary(op.getContext()).getAsOpaquePointer())};
    if (op.getNumRegions() > 0)
      key.push_back(bits(findLike(op)));
    for (Value operand : op.getOperands())
      key.push_back(numberOf(operand));
    for (Type type : op.getResultTypes())
      key.push_back(bits(type.getAsOpaquePointer()));
    int64_t &number = known[key];
    if (number == 0) {
      number = last + 1;
      last += op.getNumResults();
    }
    first = number;
  }
  for (Value result : op.getResults())
    numbers[result] = first == 0 ? ++last : first++;
}

/// Whether the first one's result may be read in place of the second's.
static bool areInOneProgram(Operation *first, Operation *second,
                            const SegmentMarks &marks,
                            const dist::LoopRuns &runs) {
  return getPhase(first) == getPhase(second) &&
         marks.getChunk(first) == marks.getChunk(second) &&
         runs.getRunOf(first) == runs.getRunOf(second);
}

static void mergeMoves(dist::MeshOp mesh, const ProgramFunction &program) {
  func::FuncOp function = program.function;
  Block &body = function.front();
  SegmentMarks marks(mesh, program);
  dist::LoopRuns runs(body);
  ValueNumbers numbers;
  // By number of the first result.
  llvm::DenseMap<int64_t, SmallVector<Operation *, 1>> moves;
  SmallVector<Operation *> merged;
  for (Operation &op : body.without_terminator()) {
    numbers.add(op);
    auto move = dyn_cast<dist::CollectiveInterface>(op);
    if (!move || move.getSymbolAttr())
      continue;
    auto &equal = moves[numbers.of(op.getResult(0))];
    auto *first = llvm::find_if(equal, [&](Operation *other) {
      return areInOneProgram(other, &op, marks, runs);
    });
    if (first == equal.end()) {
      equal.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith((*first)->getResults());
    merged.push_back(&op);
  }
  llvm::DenseSet<Operation *> dead(merged.begin(), merged.end());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (dead.contains(&op) && isOpTriviallyDead(&op)) {
      for (Value operand : op.getOperands())
        if (Operation *maker = operand.getDefiningOp())
          dead.insert(maker);
      op.erase();
    }
}

void MergeMovesPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  llvm::DenseSet<Operation *> seen;
  for (const ProgramFunction &program : getProgramFunctions(getOperation()))
    if (seen.insert(program.function).second)
      mergeMoves(*mesh, program);
}
