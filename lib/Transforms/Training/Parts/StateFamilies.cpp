//===- StateFamilies.cpp - Parameters that may be stored in parts ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/split-states.mlir
//===----------------------------------------------------------------------===//

#include "StateFamilies.h"
#include "StateParts.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using llmc::dist::DistDialect;
using llmc::dist::PortAttr;

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

static FamilyPort findFamily(PortAttr port, const Families &families) {
  FlatSymbolRefAttr symbol = dist::getStateOrGradientOf(port);
  if (!symbol)
    return {};
  return {families.ofState.lookup(symbol.getAttr()), port};
}

FamilyPort training::getFamilyOfArgument(func::FuncOp function, unsigned index,
                                         const Families &families) {
  return findFamily(dist::getArgumentPort(function, index), families);
}

FamilyPort training::getFamilyOfResult(func::FuncOp function, unsigned index,
                                       const Families &families) {
  return findFamily(dist::getResultPort(function, index), families);
}

/// An op that reads the whole value: it must work on parts alike, or sum.
static void followOp(OpOperand &use, int64_t dim, Uses &uses) {
  Operation *op = use.getOwner();
  auto type = cast<RankedTensorType>(use.get().getType());
  Cut whole{dim, 0, type.getDimSize(dim)};
  std::optional<OpCut> cut =
      cutThroughOperand(op, use.getOperandNumber(), whole);
  if (!cut) {
    uses.obstacle = op->getName().getStringRef().str();
    return;
  }
  auto rule = cast<graph::ShardingRuleOpInterface>(op).getShardingRule();
  const graph::Factor &factor = rule.factors[cut->factor];
  if (factor.kind == graph::FactorKind::Reduced) {
    if (factor.reduction != ReductionKind::sum || op->getNumResults() != 1)
      uses.obstacle = op->getName().getStringRef().str();
    uses.sums[op] = {use.getOperandNumber(), whole};
    return;
  }
  for (auto [result, of] : llvm::zip_equal(op->getResults(), cut->results))
    if (of && uses.seen.insert({result.getAsOpaquePointer(), of->dim}).second)
      followUses(result, of->dim, uses);
}

void training::followUses(Value value, int64_t dim, Uses &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      if (getFamilyOfResult(uses.function, use.getOperandNumber(),
                            uses.families)
              .family != uses.family)
        uses.obstacle = "a result that is not its own";
      continue;
    }
    std::optional<Cut> cut = getCutOfSlice(op);
    if (cut && cut->dim == dim)
      uses.slices.push_back({*cut, op});
    else
      followOp(use, dim, uses);
  }
}

/// The parameter that the slice reads, or null.
static Family *findSliced(func::FuncOp function, stablehlo::SliceOp slice,
                          const Families &families) {
  auto argument = dyn_cast<BlockArgument>(slice.getOperand());
  if (!argument || argument.getOwner() != &function.front())
    return nullptr;
  FamilyPort of =
      getFamilyOfArgument(function, argument.getArgNumber(), families);
  bool isParameter = of.family && of.port.isState() &&
                     of.getSymbol() == of.family->parameter.getSymNameAttr();
  return isParameter ? of.family : nullptr;
}

/// Whether blocks read different slices along the dim.
static bool isReadByBlocks(const Family &family, int64_t dim) {
  llvm::SmallDenseMap<int64_t, Attribute> blockOf;
  llvm::SmallDenseSet<Attribute> blocks;
  for (auto [cut, block] : family.reads)
    if (cut.dim == dim && block && blockOf.insert({cut.begin, block}).second)
      blocks.insert(block);
  return blocks.size() > 1;
}

/// The dim of the first slice that the row splits; else that of the first one
/// whose dim blocks share; else -1.
static int64_t chooseDim(const Family &family) {
  for (auto &[cut, block] : family.reads)
    if (isSplitByRow(family.parameter, cut.dim))
      return cut.dim;
  for (auto &[cut, block] : family.reads)
    if (isReadByBlocks(family, cut.dim))
      return cut.dim;
  return -1;
}

/// The slices that read a parameter decide where it is cut. They are asked in
/// the order of the ops, whatever the order of uses.
static void findBounds(ArrayRef<func::FuncOp> functions, Families &families) {
  for (func::FuncOp function : functions)
    function.walk([&](stablehlo::SliceOp slice) {
      std::optional<Cut> cut = getCutOfSlice(slice);
      if (Family *family =
              cut ? findSliced(function, slice, families) : nullptr)
        family->reads.push_back({*cut, slice->getAttr(DistDialect::kBlock)});
    });
  for (Family &family : families.list) {
    family.dim = chooseDim(family);
    if (family.dim < 0)
      continue;
    for (auto &[cut, block] : family.reads)
      if (cut.dim == family.dim)
        family.bounds.append({cut.begin, cut.end});
    family.bounds.append(
        {0, family.parameter.getTensorType().getDimSize(family.dim)});
    llvm::sort(family.bounds);
    family.bounds.erase(llvm::unique(family.bounds), family.bounds.end());
  }
}

/// Other optimizer states are an obstacle by themselves.
static bool hasShapeOf(BlockArgument argument, Family &family) {
  return cast<RankedTensorType>(argument.getType()).getShape() ==
         family.parameter.getTensorType().getShape();
}

/// Notes why families cannot be split, as far as `function` knows.
static void findObstacles(func::FuncOp function, Families &families) {
  for (BlockArgument argument : function.getArguments()) {
    FamilyPort of =
        getFamilyOfArgument(function, argument.getArgNumber(), families);
    if (!of.family || of.family->dim < 0 || !hasShapeOf(argument, *of.family))
      continue;
    Uses uses{function, families, of.family};
    followUses(argument, of.family->dim, uses);
    ArrayRef<int64_t> bounds = of.family->bounds;
    for (auto &[cut, slice] : uses.slices) {
      const int64_t *begin = llvm::find(bounds, cut.begin);
      if (begin == bounds.end() || begin[1] != cut.end)
        of.family->obstacle = "slices that overlap";
    }
    if (!uses.obstacle.empty())
      of.family->obstacle = uses.obstacle + " in @" + function.getName().str();
  }
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// Parameters with their optimizer states.
static Families collectFamilies(ModuleOp module) {
  Families families;
  for (auto state : module.getOps<dist::StateOp>())
    if (state.getRole() == dist::Role::Parameter && !state.isPart())
      families.list.emplace_back().parameter = state;
  for (Family &family : families.list) {
    family.members.push_back(family.parameter);
    families.ofState[family.parameter.getSymNameAttr()] = &family;
  }
  for (auto state : module.getOps<dist::StateOp>()) {
    if (!state.getOfAttr() || state.isPart())
      continue;
    Family *family = families.ofState.lookup(state.getOfAttr().getAttr());
    if (!family)
      continue;
    family->members.push_back(state);
    families.ofState[state.getSymNameAttr()] = family;
    if (state.getTensorType().getShape() !=
        family->parameter.getTensorType().getShape())
      family->obstacle = "an optimizer state of another shape";
  }
  return families;
}

/// Rows of a stack may be too small for the devices: it stays whole then.
static void checkParts(Family &family) {
  int64_t count = countDevicesOfRow(family.parameter, family.dim);
  for (size_t i = 0; i < family.getNumParts(); ++i)
    if (int64_t size = family.getCut(i).getSize();
        size < count && family.obstacle.empty())
      family.obstacle = "a part of size " + std::to_string(size) + " for " +
                        std::to_string(count) + " devices";
}

Families training::findFamilies(ModuleOp module,
                                ArrayRef<func::FuncOp> functions) {
  Families families = collectFamilies(module);
  findBounds(functions, families);
  for (func::FuncOp function : functions)
    findObstacles(function, families);
  for (Family &family : families.list)
    if (family.dim >= 0)
      checkParts(family);
  return families;
}
