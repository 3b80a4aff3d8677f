//===- SplitStates.cpp - A state that is used in parts is stored in parts -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.state @W : tensor<8x12xf32>            all uses: slices of dim 1
//     ->
//   dist.state @W.0 part of @W box([0, 0] [8, 4]) ...      (also @W.m.0, ...)
//   @microbatch(%W)          ->  @microbatch(%W.0, %W.1, %W.2)
//     slice %W [0:8, 0:4]    ->    %W.0
//     return %gW             ->    return %gW.0, %gW.1, %gW.2
//   @update(%W, %m, %gW)     ->  @update(%W.0, ..., %m.0, ..., %gW.0, ...)
//
// The optimizer was instantiated on the whole state; its element-wise ops are
// built on each part, and a sum over the whole (the global norm) becomes the
// sum of those over the parts. Name, initial values and checkpoint stay those
// of the whole. A state splits only where its row splits the sliced dimension
// and each use in every program is a slice of one part; otherwise it stays
// whole, with a remark.
//
// Test: test/Transforms/Training/split-states.mlir
//===----------------------------------------------------------------------===//

#include "PartBuilder.h"
#include "StateParts.h"
#include "TrainingMarks.h"
#include "llmc/Analysis/Program.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace llmc {
#define GEN_PASS_DEF_SPLITSTATESPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using llmc::dist::DistDialect;

namespace {
/// A parameter with its optimizer states, and where it is cut.
struct Family {
  dist::StateOp parameter;
  SmallVector<dist::StateOp> members;
  int64_t dim = -1;
  /// Begins of the parts, and the size.
  SmallVector<int64_t> bounds;
  /// Parts of each member, by its symbol.
  llvm::DenseMap<StringAttr, SmallVector<dist::StateOp>> parts;

  size_t getNumParts() const { return bounds.size() - 1; }
  Cut getCut(size_t part) const {
    return {dim, bounds[part], bounds[part + 1]};
  }
  bool contains(FlatSymbolRefAttr symbol) const {
    return symbol && llvm::any_of(members, [&](dist::StateOp state) {
             return state.getSymNameAttr() == symbol.getAttr();
           });
  }
};

/// What an argument or result says of the family: the mark and its symbol.
struct FamilyMark {
  StringRef mark;
  FlatSymbolRefAttr symbol;
};

/// The slices of the family's values, and what stands against splitting.
struct Uses {
  SmallVector<std::pair<Cut, Operation *>> slices;
  /// Sums over the dimension that is cut, with the operand that is.
  llvm::MapVector<Operation *, std::pair<unsigned, Cut>> sums;
  std::string obstacle;
  llvm::DenseSet<std::pair<void *, int64_t>> seen;
};
} // namespace

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

static FamilyMark getArgumentMark(func::FuncOp function, unsigned index,
                                  const Family &family) {
  for (StringRef mark :
       {StringRef(DistDialect::kReads), StringRef(DistDialect::kGradientOf)}) {
    auto symbol = function.getArgAttrOfType<FlatSymbolRefAttr>(index, mark);
    if (family.contains(symbol))
      return {mark, symbol};
  }
  return {};
}

static FamilyMark getResultMark(func::FuncOp function, unsigned index,
                                const Family &family) {
  for (StringRef mark :
       {StringRef(DistDialect::kWrites), StringRef(DistDialect::kGradientOf)}) {
    auto symbol = function.getResultAttrOfType<FlatSymbolRefAttr>(index, mark);
    if (family.contains(symbol))
      return {mark, symbol};
  }
  return {};
}

static void followUses(func::FuncOp function, Value value, int64_t dim,
                       const Family &family, Uses &uses);

/// An op that reads the whole value: it must work on parts alike, or sum.
static void followOp(func::FuncOp function, OpOperand &use, int64_t dim,
                     const Family &family, Uses &uses) {
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
    if (factor.reduction != graph::Reduction::Sum || op->getNumResults() != 1)
      uses.obstacle = op->getName().getStringRef().str();
    uses.sums[op] = {use.getOperandNumber(), whole};
    return;
  }
  for (auto [result, of] : llvm::zip_equal(op->getResults(), cut->results))
    if (of && uses.seen.insert({result.getAsOpaquePointer(), of->dim}).second)
      followUses(function, result, of->dim, family, uses);
}

static void followUses(func::FuncOp function, Value value, int64_t dim,
                       const Family &family, Uses &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      if (!getResultMark(function, use.getOperandNumber(), family).symbol)
        uses.obstacle = "a result that is not its own";
      continue;
    }
    std::optional<Cut> cut = getCutOfSlice(op);
    if (cut && cut->dim == dim)
      uses.slices.push_back({*cut, op});
    else
      followOp(function, use, dim, family, uses);
  }
}

/// The slices of all reads in the forward functions decide dim and bounds.
static void findBounds(ArrayRef<ProgramFunction> programs, Family &family) {
  llvm::SetVector<int64_t> bounds;
  for (const ProgramFunction &program : programs) {
    func::FuncOp function = program.function;
    for (BlockArgument argument : function.getArguments()) {
      if (getRead(function, argument.getArgNumber()) !=
          FlatSymbolRefAttr::get(family.parameter.getSymNameAttr()))
        continue;
      for (Operation *user : argument.getUsers())
        if (std::optional<Cut> cut = getCutOfSlice(user)) {
          if (family.dim < 0)
            family.dim = cut->dim;
          if (family.dim == cut->dim) {
            bounds.insert(cut->begin);
            bounds.insert(cut->end);
          }
        }
    }
  }
  if (family.dim < 0)
    return;
  bounds.insert(0);
  bounds.insert(family.parameter.getTensorType().getDimSize(family.dim));
  family.bounds = bounds.takeVector();
  llvm::sort(family.bounds);
}

/// Why the family cannot be split; empty when it can.
static std::string findObstacle(ArrayRef<ProgramFunction> programs,
                                Family &family) {
  ArrayRef<int64_t> shape = family.parameter.getTensorType().getShape();
  for (dist::StateOp member : family.members)
    if (member.getTensorType().getShape() != shape)
      return "an optimizer state of another shape";
  for (const ProgramFunction &program : programs) {
    func::FuncOp function = program.function;
    Uses uses;
    for (BlockArgument argument : function.getArguments())
      if (getArgumentMark(function, argument.getArgNumber(), family).symbol)
        followUses(function, argument, family.dim, family, uses);
    for (auto &[cut, slice] : uses.slices) {
      const int64_t *begin = llvm::find(family.bounds, cut.begin);
      if (begin == family.bounds.end() || begin[1] != cut.end)
        return "slices that overlap";
    }
    if (!uses.obstacle.empty())
      return uses.obstacle + " in @" + function.getName().str();
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// dist.state @W.0 part of @W box([0, 0] [8, 4]), behind the whole.
static void makeParts(Family &family, SymbolTable &symbols) {
  for (dist::StateOp whole : family.members) {
    OpBuilder builder(whole.getContext());
    Operation *last = whole;
    RankedTensorType type = whole.getTensorType();
    SmallVector<dist::StateOp> &parts = family.parts[whole.getSymNameAttr()];
    for (size_t i = 0; i < family.getNumParts(); ++i) {
      Cut cut = family.getCut(i);
      SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape());
      offsets[family.dim] = cut.begin;
      sizes[family.dim] = cut.getSize();
      builder.setInsertionPointAfter(last);
      auto part = dist::StateOp::create(
          builder, whole.getLoc(),
          (whole.getSymName() + "." + std::to_string(i)).str(),
          RankedTensorType::get(sizes, type.getElementType()), whole.getRole());
      part.setPartOfAttr(FlatSymbolRefAttr::get(whole.getSymNameAttr()));
      part.setBoxOffsets(offsets);
      part.setBoxSizes(sizes);
      if (whole.getRowAttr())
        part.setRowAttr(whole.getRowAttr());
      if (whole.getOfAttr())
        part.setOfAttr(FlatSymbolRefAttr::get(
            family.parts[whole.getOfAttr().getAttr()][i].getSymNameAttr()));
      symbols.insert(part, std::next(last->getIterator()));
      parts.push_back(part);
      last = part;
    }
  }
}

namespace {
/// Rewrites one function to parts of a family.
class FunctionRewriter {
public:
  FunctionRewriter(func::FuncOp function, Family &family)
      : function(function), family(family),
        builder(function.getContext(), [this](BlockArgument argument, Cut cut) {
          return findPart(argument, cut);
        }) {}

  void run();

private:
  void addArguments();
  void replaceUses();
  void replaceSum(Operation *op, unsigned operand, Cut whole);
  void splitResults();
  void removeWholes();
  Value findPart(BlockArgument argument, Cut cut);
  DictionaryAttr markPart(DictionaryAttr marks, FamilyMark mark, size_t part);

  func::FuncOp function;
  Family &family;
  PartBuilder builder;
  llvm::MapVector<BlockArgument, SmallVector<Value>> argumentParts;
  /// Of the arguments without the wholes, and of the results.
  SmallVector<DictionaryAttr> argumentMarks, resultMarks;
};
} // namespace

Value FunctionRewriter::findPart(BlockArgument argument, Cut cut) {
  auto parts = argumentParts.find(argument);
  if (parts == argumentParts.end() || cut.dim != family.dim)
    return {};
  for (size_t i = 0; i < family.getNumParts(); ++i)
    if (family.bounds[i] == cut.begin && family.bounds[i + 1] == cut.end)
      return parts->second[i];
  return {};
}

DictionaryAttr FunctionRewriter::markPart(DictionaryAttr marks, FamilyMark mark,
                                          size_t part) {
  NamedAttrList list(marks);
  list.set(mark.mark,
           FlatSymbolRefAttr::get(
               family.parts[mark.symbol.getAttr()][part].getSymNameAttr()));
  return list.getDictionary(function.getContext());
}

/// One argument for each part behind that of the whole, which goes last.
void FunctionRewriter::addArguments() {
  Block &block = function.front();
  unsigned position = 0;
  for (unsigned i = 0, n = function.getNumArguments(); i < n; ++i) {
    BlockArgument whole = block.getArgument(position++);
    DictionaryAttr marks = function.getArgAttrDict(i);
    FamilyMark mark = getArgumentMark(function, i, family);
    if (!mark.symbol) {
      argumentMarks.push_back(marks);
      continue;
    }
    for (size_t k = 0; k < family.getNumParts(); ++k) {
      dist::StateOp part = family.parts[mark.symbol.getAttr()][k];
      argumentParts[whole].push_back(block.insertArgument(
          position++, part.getTensorType(), whole.getLoc()));
      argumentMarks.push_back(markPart(marks, mark, k));
    }
  }
}

/// sum(%g)  ->  sum(%g.0) + sum(%g.1)
void FunctionRewriter::replaceSum(Operation *op, unsigned operand, Cut whole) {
  int64_t scale = whole.end / family.bounds.back();
  Value total;
  for (size_t i = 0; i < family.getNumParts(); ++i) {
    Cut cut{whole.dim, family.bounds[i] * scale, family.bounds[i + 1] * scale};
    std::optional<OpCut> through = cutThroughOperand(op, operand, cut);
    FailureOr<SmallVector<Value>> part = failure();
    if (through)
      part = builder.buildOp(op, *through);
    if (failed(part))
      return;
    OpBuilder adder(op);
    total = total ? stablehlo::add(adder, op->getLoc(), total, part->front())
                  : part->front();
    copyMarks(op, total.getDefiningOp());
  }
  op->getResult(0).replaceAllUsesWith(total);
}

void FunctionRewriter::replaceUses() {
  Uses uses;
  for (auto &[whole, parts] : argumentParts)
    followUses(function, whole, family.dim, family, uses);
  for (auto &[cut, slice] : uses.slices)
    slice->getResult(0).replaceAllUsesWith(
        builder.build(slice->getOperand(0), cut, slice));
  for (auto &[op, cut] : uses.sums)
    replaceSum(op, cut.first, cut.second);
}

void FunctionRewriter::splitResults() {
  Operation *end = function.front().getTerminator();
  SmallVector<Value> values;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    DictionaryAttr marks = function.getResultAttrDict(i);
    FamilyMark mark = getResultMark(function, i, family);
    if (!mark.symbol) {
      values.push_back(end->getOperand(i));
      resultMarks.push_back(marks);
      continue;
    }
    for (size_t k = 0; k < family.getNumParts(); ++k) {
      values.push_back(
          builder.build(end->getOperand(i), family.getCut(k), end));
      resultMarks.push_back(markPart(marks, mark, k));
    }
  }
  end->setOperands(values);
}

/// What still reads a whole reads the parts side by side.
void FunctionRewriter::removeWholes() {
  Block &block = function.front();
  for (auto &[whole, parts] : argumentParts) {
    if (!whole.use_empty()) {
      Operation *user = *whole.getUsers().begin();
      for (Operation *other : whole.getUsers())
        if (other->isBeforeInBlock(user))
          user = other;
      OpBuilder joiner(user);
      Value joined =
          stablehlo::concatenate(joiner, whole.getLoc(), parts, family.dim);
      copyMarks(user, joined.getDefiningOp());
      whole.replaceAllUsesWith(joined);
    }
    block.eraseArgument(whole.getArgNumber());
  }
}

void FunctionRewriter::run() {
  addArguments();
  if (argumentParts.empty())
    return;
  replaceUses();
  splitResults();
  eraseDeadOps(function.front());
  removeWholes();
  Operation *end = function.front().getTerminator();
  function.setType(FunctionType::get(function.getContext(),
                                     function.front().getArgumentTypes(),
                                     end->getOperandTypes()));
  function.setAllArgAttrs(argumentMarks);
  function.setAllResultAttrs(resultMarks);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Parameters whose row splits some dimension, with their optimizer states.
static SmallVector<Family> findFamilies(ModuleOp module) {
  SmallVector<Family> families;
  for (auto state : module.getOps<dist::StateOp>()) {
    if (state.getRole() == dist::Role::Parameter && !state.isPart()) {
      Family &family = families.emplace_back();
      family.parameter = state;
      family.members.push_back(state);
      continue;
    }
    for (Family &family : families)
      if (state.getOf() == family.parameter.getSymName() && !state.isPart())
        family.members.push_back(state);
  }
  return families;
}

namespace {
struct SplitStatesPass : llmc::impl::SplitStatesPassBase<SplitStatesPass> {
  void runOnOperation() override {
    SmallVector<ProgramFunction> programs = getProgramFunctions(getOperation());
    llvm::SetVector<Operation *> functions;
    for (const ProgramFunction &program : programs)
      functions.insert(program.function);
    SymbolTable symbols(getOperation());
    for (Family &family : findFamilies(getOperation())) {
      findBounds(programs, family);
      if (family.dim < 0 || !isSplitByRow(family.parameter, family.dim))
        continue;
      Location loc = family.parameter.getLoc();
      std::string obstacle = findObstacle(programs, family);
      if (!obstacle.empty()) {
        remark::missed(loc, remarkOf("parts"))
            << "'" + family.parameter.getSymName().str() +
                   "' is sliced along a split dimension but stays whole: " +
                   obstacle;
        continue;
      }
      makeParts(family, symbols);
      for (Operation *function : functions)
        FunctionRewriter(cast<func::FuncOp>(function), family).run();
      remark::passed(loc, remarkOf("parts"))
          << "'" + family.parameter.getSymName().str() + "' is stored in " +
                 std::to_string(family.getNumParts()) + " parts";
    }
  }
};
} // namespace
