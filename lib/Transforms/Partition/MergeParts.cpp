//===- MergeParts.cpp - Parts of a state share one buffer -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.buffer @W.0.local of @W.0 : tensor<4x2xf32> holds [@W.0 at [0, 0]]
//   (and W.1) ->
//   dist.buffer @W.local of @W : tensor<4x4xf32>
//       holds [@W.0 at [0, 0], @W.1 at [0, 2]]
//
// Parts were made so that each slice of a fused weight is split on its own. On
// one device they lie side by side again: products with the same left side
// become one, as do the ops of the optimizer (PartPacker.h). Parts stay apart
// where a program would have to copy them for a contraction or collective.
//
// Test: test/Transforms/Partition/merge-parts.mlir
//===----------------------------------------------------------------------===//

#include "MergedFunction.h"
#include "PartPacker.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/StateBuffers.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_MERGEPARTSPASS
#include "llmc/Transforms/Partition/Passes.h.inc"
} // namespace llmc

namespace {
struct MergePartsPass : llmc::impl::MergePartsPassBase<MergePartsPass> {
  void runOnOperation() override;
};

/// The parts of one state, as a device holds them.
struct Family {
  dist::StateOp whole;
  SmallVector<dist::StateOp> parts;
  SmallVector<dist::BufferOp> buffers;
  /// Along which the parts lie.
  int64_t dim = -1;
};

/// A parameter with its optimizer states: merged together or not at all.
using FamilyGroup = SmallVector<Family>;

/// Arguments or results of one function that belong to the parts of a state.
struct Row {
  const Family *family;
  /// Not the state but its gradient.
  bool isGradient;
  SmallVector<unsigned> places;
};

/// One function and one group of families.
class FunctionMerger {
public:
  FunctionMerger(MergedFunction &merged, const FamilyGroup &group)
      : merged(merged), function(merged.function), body(merged.body),
        packer(body), group(group) {}

  /// Whether all parts can be merged with no copies that matter.
  bool canMerge();
  LogicalResult merge();

private:
  bool findRows();
  std::optional<Row> findRow(const Family &family, bool isGradient,
                             bool isArgument, bool &isPartial);
  Pack getPack(const Row &row, ValueRange values);
  bool canMergeUses(const Pack &pack);
  bool canMergeUse(const Pack &pack, OpOperand &use);
  bool layoutsAgree(const Row &row);
  void buildUses(const Pack &pack);
  ArrayAttr getBoxes(const Row &row);
  void replacePort(const Row &row, bool isArgument);
  void mergeArguments();
  void mergeResults();

  MergedFunction &merged;
  func::FuncOp function;
  Block &body;
  PartPacker packer;
  const FamilyGroup &group;
  SmallVector<Row> arguments, results;
};
} // namespace

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// Equal apart from one dim.
static bool agreeOutside(dist::LayoutAttr a, dist::LayoutAttr b, int64_t dim) {
  auto none = dist::DimAttr::get(a.getContext(), {});
  return a.withDim(dim, none) == b.withDim(dim, none);
}

/// Orders the parts and finds the dim along which they lie; false where they do
/// not make one local tensor.
static bool complete(Family &family, const dist::StateBuffers &buffers) {
  auto offsetsOf = [](dist::StateOp state) { return *state.getBoxOffsets(); };
  llvm::sort(family.parts, [&](dist::StateOp a, dist::StateOp b) {
    return std::lexicographical_compare(
        offsetsOf(a).begin(), offsetsOf(a).end(), offsetsOf(b).begin(),
        offsetsOf(b).end());
  });
  dist::LayoutAttr first;
  for (dist::StateOp part : family.parts) {
    dist::BufferOp buffer = buffers.lookup(part.getSymNameAttr());
    if (!buffer || buffer.getBoxes().size() != 1)
      return false;
    family.buffers.push_back(buffer);
    for (auto [d, size] : llvm::enumerate(*part.getBoxSizes())) {
      if (size == family.whole.getTensorType().getDimSize(d))
        continue;
      if (family.dim >= 0 && family.dim != static_cast<int64_t>(d))
        return false;
      family.dim = d;
    }
    auto layout = cast<dist::BoxAttr>(buffer.getBoxes()[0]).getLayout();
    if (first && (family.dim < 0 || !agreeOutside(first, layout, family.dim)))
      return false;
    first = layout;
  }
  return family.parts.size() > 1 && family.dim >= 0;
}

/// By the name of the parameter, in module order.
static SmallVector<FamilyGroup> findGroups(ModuleOp module) {
  SymbolTable symbols(module);
  dist::StateBuffers buffers(module);
  llvm::MapVector<StringAttr, Family> families;
  for (auto state : module.getOps<dist::StateOp>())
    if (state.isPart()) {
      Family &family = families[state.getPartOfAttr().getAttr()];
      family.whole = symbols.lookup<dist::StateOp>(*state.getPartOf());
      family.parts.push_back(state);
    }
  llvm::MapVector<StringAttr, FamilyGroup> groups;
  llvm::SmallPtrSet<Attribute, 8> apart;
  for (auto &[name, family] : families) {
    StringAttr parameter = name;
    if (FlatSymbolRefAttr of = family.whole.getOfAttr())
      parameter = of.getAttr();
    if (!complete(family, buffers))
      apart.insert(parameter);
    groups[parameter].push_back(family);
  }
  SmallVector<FamilyGroup> result;
  for (auto &[name, group] : groups)
    if (!apart.contains(name))
      result.push_back(group);
  return result;
}

//===----------------------------------------------------------------------===//
// Rows of a function
//===----------------------------------------------------------------------===//

/// `isPartial` is set when the function has some of the parts alone.
std::optional<Row> FunctionMerger::findRow(const Family &family,
                                           bool isGradient, bool isArgument,
                                           bool &isPartial) {
  Row row{&family, isGradient, {}};
  for (dist::StateOp part : family.parts)
    llvm::append_range(row.places,
                       merged.getPlaces(isGradient, part, isArgument));
  if (row.places.empty())
    return std::nullopt;
  isPartial |= row.places.size() != family.parts.size();
  return row;
}

bool FunctionMerger::findRows() {
  bool isPartial = false;
  for (const Family &family : group)
    for (bool isGradient : {false, true}) {
      if (auto row =
              findRow(family, isGradient, /*isArgument=*/true, isPartial))
        arguments.push_back(*row);
      if (auto row =
              findRow(family, isGradient, /*isArgument=*/false, isPartial))
        results.push_back(*row);
    }
  return !isPartial;
}

Pack FunctionMerger::getPack(const Row &row, ValueRange values) {
  Pack pack;
  pack.dim = row.family->dim;
  for (unsigned place : row.places)
    pack.parts.push_back(values[place]);
  return pack;
}

/// Sizes agree outside of the packed dim.
static bool isEven(const Pack &pack) {
  auto shapeOf = [&](Value value) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    shape[pack.dim] = 0;
    return shape;
  };
  return llvm::all_of(pack.parts, [&](Value part) {
    return shapeOf(part) == shapeOf(pack.parts.front());
  });
}

/// A slice costs such an op nothing.
static bool readsSlices(Operation *op) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  if (!kernel)
    return op->hasTrait<OpTrait::IsTerminator>();
  graph::KernelForm form = kernel.getKernelForm();
  return form == graph::KernelForm::Element ||
         form == graph::KernelForm::Reduction;
}

//===----------------------------------------------------------------------===//
// Whether
//===----------------------------------------------------------------------===//

/// The results of `ops` that have the dim of their operand, if they have it.
static std::optional<Pack> getResultPack(ArrayRef<Operation *> ops,
                                         unsigned operand, int64_t dim) {
  Operation *first = ops.front();
  if (isa<dist::CollectiveInterface>(first)) {
    Pack pack{{}, dim};
    for (Operation *op : ops)
      pack.parts.push_back(op->getResult(operand));
    return pack;
  }
  auto answers = dyn_cast<graph::ShardingRuleOpInterface>(first);
  if (!answers)
    return std::nullopt;
  graph::ShardingRule rule = answers.getShardingRule();
  ArrayRef<int> factors = rule.operands[operand][dim];
  for (auto [r, result] : llvm::enumerate(rule.results))
    for (auto [d, list] : llvm::enumerate(result))
      if (factors.size() == 1 && ArrayRef<int>(list) == factors) {
        Pack pack{{}, static_cast<int64_t>(d)};
        for (Operation *op : ops)
          pack.parts.push_back(op->getResult(r));
        return pack;
      }
  return std::nullopt;
}

bool FunctionMerger::canMergeUse(const Pack &pack, OpOperand &use) {
  if (readsSlices(use.getOwner()))
    return true;
  auto ops = packer.findEqualUsers(pack, use);
  if (!ops)
    return false;
  std::optional<Pack> made =
      getResultPack(*ops, use.getOperandNumber(), pack.dim);
  if (made)
    return packer.canPack(*made) || packer.canContract(*made);
  return packer.findSum(*ops, use.getOperandNumber(), pack.dim);
}

/// Uses of the first part tell of all: equal users are as many.
bool FunctionMerger::canMergeUses(const Pack &pack) {
  auto countHard = [](Value part) {
    return llvm::count_if(part.getUsers(),
                          [](Operation *op) { return !readsSlices(op); });
  };
  for (Value part : pack.parts)
    if (countHard(part) != countHard(pack.parts.front()))
      return false;
  return llvm::all_of(pack.parts.front().getUses(),
                      [&](OpOperand &use) { return canMergeUse(pack, use); });
}

/// What arguments have as a layout, if any, agrees outside of the packed dim.
bool FunctionMerger::layoutsAgree(const Row &row) {
  auto layoutOf = [&](unsigned place) {
    return dist::getLayout(dist::getArgumentPort(function, place));
  };
  dist::LayoutAttr first = layoutOf(row.places.front());
  return llvm::all_of(row.places, [&](unsigned place) {
    dist::LayoutAttr layout = layoutOf(place);
    return first && layout ? agreeOutside(first, layout, row.family->dim)
                           : first == layout;
  });
}

bool FunctionMerger::canMerge() {
  if (!findRows())
    return false;
  SmallVector<Pack> packs;
  for (const Row &row : arguments) {
    packs.push_back(getPack(row, body.getArguments()));
    if (!isEven(packs.back()) || !layoutsAgree(row))
      return false;
    packer.addKnown(packs.back());
  }
  for (const Pack &pack : packs)
    if (!canMergeUses(pack))
      return false;
  for (const Row &row : results) {
    Pack pack = getPack(row, body.getTerminator()->getOperands());
    bool isLine = row.isGradient && packer.canCopyLine(pack);
    if (!isEven(pack) ||
        !(packer.canPack(pack) || packer.canContract(pack) || isLine))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

void FunctionMerger::buildUses(const Pack &pack) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : pack.parts.front().getUses())
    uses.push_back(&use);
  // In the order of the ops, whatever the order of uses.
  llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
    if (a->getOwner() != b->getOwner())
      return a->getOwner()->isBeforeInBlock(b->getOwner());
    return a->getOperandNumber() < b->getOperandNumber();
  });
  for (OpOperand *use : uses) {
    if (readsSlices(use->getOwner()))
      continue;
    auto ops = packer.findEqualUsers(pack, *use);
    if (!ops)
      continue;
    unsigned operand = use->getOperandNumber();
    if (auto made = getResultPack(*ops, operand, pack.dim))
      packer.build(*made);
    else if (Operation *sum = packer.findSum(*ops, operand, pack.dim))
      packer.buildSum(sum, *ops);
  }
}

/// Where the parts lie side by side, in the layouts of their arguments; null
/// when those have none.
ArrayAttr FunctionMerger::getBoxes(const Row &row) {
  const Family &family = *row.family;
  Builder builder(function.getContext());
  SmallVector<Attribute> boxes;
  int64_t offset = 0;
  for (auto [part, place] : llvm::zip_equal(family.parts, row.places)) {
    dist::LayoutAttr layout =
        dist::getLayout(dist::getArgumentPort(function, place));
    if (!layout)
      return {};
    auto type = cast<RankedTensorType>(body.getArgument(place).getType());
    SmallVector<int64_t> offsets(type.getRank(), 0);
    offsets[family.dim] = offset;
    offset += type.getDimSize(family.dim);
    boxes.push_back(dist::BoxAttr::get(
        builder.getContext(),
        FlatSymbolRefAttr::get(dist::StateOp(part).getSymNameAttr()), layout,
        builder.getDenseI64ArrayAttr(offsets)));
  }
  return builder.getArrayAttr(boxes);
}

/// The first place gets the port of the whole; a gradient then has no layout
/// but boxes.
void FunctionMerger::replacePort(const Row &row, bool isArgument) {
  dist::StateOp whole = row.family->whole;
  dist::Signature &signature = merged.signature;
  unsigned place = row.places.front();
  dist::PortAttr &port =
      isArgument ? signature.arguments[place] : signature.results[place];
  port = dist::PortAttr::get(port.getContext(), port.getKind(),
                             FlatSymbolRefAttr::get(whole.getSymNameAttr()));
  if (isArgument && row.isGradient)
    port = port.withBoxes(getBoxes(row));
}

/// The first part's argument becomes the whole; its uses and those of the
/// others go through values that take the place of the parts.
void FunctionMerger::mergeArguments() {
  SmallVector<Pack> packs;
  for (const Row &row : arguments) {
    Pack pack = getPack(row, body.getArguments());
    int64_t size = 0;
    for (Value part : pack.parts)
      size += cast<RankedTensorType>(part.getType()).getDimSize(pack.dim);
    auto type = cast<RankedTensorType>(pack.parts.front().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[pack.dim] = size;
    Value whole =
        body.addArgument(RankedTensorType::get(shape, type.getElementType()),
                         pack.parts.front().getLoc());
    packer.addKnown(pack, whole);
    packs.push_back(pack);
    for (unsigned place : ArrayRef(row.places).drop_front())
      merged.goneArguments.set(place);
    replacePort(row, /*isArgument=*/true);
  }
  for (const Pack &pack : packs)
    buildUses(pack);
}

/// A result that is gone returns the whole too until it is erased.
void FunctionMerger::mergeResults() {
  Operation *terminator = body.getTerminator();
  SmallVector<Value> wholes;
  for (const Row &row : results) {
    wholes.push_back(packer.build(getPack(row, terminator->getOperands())));
    for (unsigned place : ArrayRef(row.places).drop_front())
      merged.goneResults.set(place);
    replacePort(row, /*isArgument=*/false);
  }
  for (auto [row, whole] : llvm::zip_equal(results, wholes))
    for (unsigned place : row.places)
      terminator->setOperand(place, whole);
}

LogicalResult FunctionMerger::merge() {
  merged.clean();
  (void)findRows();
  unsigned numArguments = function.getNumArguments();
  mergeArguments();
  mergeResults();
  if (!packer.finish())
    return function.emitOpError() << "expected parts that can be merged in "
                                     "one order, got a cycle of ops";
  // The wholes take the places of the first parts.
  for (auto [i, row] : llvm::enumerate(arguments)) {
    BlockArgument first = body.getArgument(row.places.front());
    BlockArgument whole = body.getArgument(numArguments + i);
    first.setType(whole.getType());
    whole.replaceAllUsesWith(first);
  }
  body.eraseArguments(numArguments, arguments.size());
  return success();
}

/// One buffer in the place of the parts' buffers.
static void mergeBuffers(const Family &family) {
  dist::BufferOp first = family.buffers.front();
  OpBuilder builder(first);
  SmallVector<Attribute> boxes;
  SmallVector<int64_t> shape(first.getTensorType().getShape());
  int64_t offset = 0;
  for (dist::BufferOp buffer : family.buffers) {
    auto box = cast<dist::BoxAttr>(buffer.getBoxes()[0]);
    SmallVector<int64_t> offsets(shape.size(), 0);
    offsets[family.dim] = offset;
    offset += buffer.getTensorType().getDimSize(family.dim);
    boxes.push_back(dist::BoxAttr::get(builder.getContext(), box.getState(),
                                       box.getLayout(),
                                       builder.getDenseI64ArrayAttr(offsets)));
  }
  shape[family.dim] = offset;
  dist::StateOp whole = family.whole;
  auto type =
      RankedTensorType::get(shape, first.getTensorType().getElementType());
  dist::createBuffer(builder, first.getLoc(), whole, type, boxes);
  for (dist::BufferOp buffer : family.buffers)
    buffer.erase();
}

/// What the optimizer computes of its settings alone is there for each part:
/// once it is one value, the ops of parts have it in common.
static void unifyScalars(func::FuncOp update) {
  IRRewriter rewriter(update.getContext());
  DominanceInfo dominance(update);
  eliminateCommonSubExpressions(rewriter, dominance, update);
}

void MergePartsPass::runOnOperation() {
  SmallVector<FamilyGroup> groups = findGroups(getOperation());
  if (groups.empty())
    return markAllAnalysesPreserved();
  llvm::SmallPtrSet<Operation *, 8> seen;
  std::vector<MergedFunction> functions;
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    if (seen.insert(program.function).second) {
      if (program.kind == FunctionKind::Update)
        unifyScalars(program.function);
      functions.emplace_back(program.function);
    }
  for (const FamilyGroup &group : groups) {
    bool can = llvm::all_of(functions, [&](MergedFunction &function) {
      return FunctionMerger(function, group).canMerge();
    });
    if (!can)
      continue;
    for (MergedFunction &function : functions)
      if (failed(FunctionMerger(function, group).merge()))
        return signalPassFailure();
    llvm::for_each(group, mergeBuffers);
  }
  for (MergedFunction &function : functions)
    if (failed(function.finish()))
      return signalPassFailure();
}
