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
// of the whole. A state splits where its row splits the sliced dimension, or
// where several blocks read slices of their own, as layers of a stack do: each
// part then lives where its block does, and has a gradient of its own. Each use
// in every program must be a slice of one part; otherwise the state stays
// whole, with a remark.
//
// Test: test/Transforms/Training/split-states.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "StateFamilies.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_SPLITSTATESPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using llmc::dist::PortAttr;

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// dist.state @W.0 part of @W box([0, 0] [8, 4]), after the whole.
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
/// Rewrites one function to parts.
class FunctionRewriter {
public:
  FunctionRewriter(func::FuncOp function, const Families &families)
      : function(function), families(families),
        builder(function.getContext(), [this](BlockArgument argument, Cut cut) {
          return findPart(argument, cut);
        }) {}

  void run();

private:
  /// An argument that goes, and its parts.
  struct Whole {
    Family *family;
    SmallVector<Value> parts;
  };

  void addArguments();
  void replaceUses();
  void replaceSum(Operation *op, unsigned operand, Cut whole,
                  const Family &family);
  void splitResults();
  void joinUses();
  Value findPart(BlockArgument argument, Cut cut);
  static PortAttr getPortOfPart(FamilyPort of, size_t part);

  func::FuncOp function;
  const Families &families;
  PartBuilder builder;
  llvm::MapVector<BlockArgument, Whole> wholes;
  /// Without the wholes.
  dist::Signature signature;
};
} // namespace

Value FunctionRewriter::findPart(BlockArgument argument, Cut cut) {
  auto whole = wholes.find(argument);
  if (whole == wholes.end())
    return {};
  const Family &family = *whole->second.family;
  for (size_t i = 0; i < family.getNumParts(); ++i)
    if (cut.dim == family.dim && family.bounds[i] == cut.begin &&
        family.bounds[i + 1] == cut.end)
      return whole->second.parts[i];
  return {};
}

PortAttr FunctionRewriter::getPortOfPart(FamilyPort of, size_t part) {
  return of.port.withSymbol(FlatSymbolRefAttr::get(
      of.family->parts[of.getSymbol()][part].getSymNameAttr()));
}

/// All arguments again, one for each part, after the old ones, which go last.
void FunctionRewriter::addArguments() {
  Block &block = function.front();
  for (unsigned i = 0, n = function.getNumArguments(); i < n; ++i) {
    BlockArgument old = block.getArgument(i);
    FamilyPort of = getFamilyOfArgument(function, i, families);
    if (!of.family || of.family->parts.empty()) {
      signature.arguments.push_back(dist::getArgumentPort(function, i));
      old.replaceAllUsesWith(block.addArgument(old.getType(), old.getLoc()));
      continue;
    }
    Whole &whole = wholes[old];
    whole.family = of.family;
    for (auto [k, part] : llvm::enumerate(of.family->parts[of.getSymbol()])) {
      whole.parts.push_back(
          block.addArgument(part.getTensorType(), old.getLoc()));
      signature.arguments.push_back(getPortOfPart(of, k));
    }
  }
}

/// The parts of a family along a dimension that is made of the family's, alone
/// or with others: a reshape makes it longer or shorter. None where a part ends
/// within an element.
static SmallVector<Cut> getCutsOf(const Family &family, Cut whole) {
  SmallVector<Cut> cuts;
  int64_t size = family.bounds.back();
  for (size_t i = 0; i < family.getNumParts(); ++i) {
    int64_t end = family.bounds[i + 1] * whole.end;
    if (end % size != 0)
      return {};
    cuts.push_back({whole.dim, cuts.empty() ? 0 : cuts.back().end, end / size});
  }
  return cuts;
}

/// sum(%g)  ->  sum(%g.0) + sum(%g.1)
void FunctionRewriter::replaceSum(Operation *op, unsigned operand, Cut whole,
                                  const Family &family) {
  Value total;
  for (Cut cut : getCutsOf(family, whole)) {
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
  if (!total)
    return;
  op->getResult(0).replaceAllUsesWith(total);
}

void FunctionRewriter::replaceUses() {
  for (auto &[argument, whole] : wholes) {
    Uses uses{function, families, whole.family};
    followUses(argument, whole.family->dim, uses);
    for (auto &[cut, slice] : uses.slices)
      slice->getResult(0).replaceAllUsesWith(
          builder.build(slice->getOperand(0), cut, slice));
    for (auto &[op, cut] : uses.sums)
      replaceSum(op, cut.first, cut.second, *whole.family);
  }
}

void FunctionRewriter::splitResults() {
  Operation *end = function.front().getTerminator();
  SmallVector<Value> values;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    FamilyPort of = getFamilyOfResult(function, i, families);
    if (!of.family || of.family->parts.empty()) {
      values.push_back(end->getOperand(i));
      signature.results.push_back(dist::getResultPort(function, i));
      continue;
    }
    for (size_t k = 0; k < of.family->getNumParts(); ++k) {
      values.push_back(
          builder.build(end->getOperand(i), of.family->getCut(k), end));
      signature.results.push_back(getPortOfPart(of, k));
    }
  }
  end->setOperands(values);
}

/// What still reads a whole reads the parts side by side.
void FunctionRewriter::joinUses() {
  for (auto &[argument, whole] : wholes) {
    if (argument.use_empty())
      continue;
    Operation *user = *argument.getUsers().begin();
    for (Operation *other : argument.getUsers())
      if (other->isBeforeInBlock(user))
        user = other;
    OpBuilder joiner(user);
    Value joined = stablehlo::concatenate(joiner, argument.getLoc(),
                                          whole.parts, whole.family->dim);
    copyMarks(user, joined.getDefiningOp());
    BlockArgument(argument).replaceAllUsesWith(joined);
  }
}

void FunctionRewriter::run() {
  unsigned numOld = function.getNumArguments();
  addArguments();
  replaceUses();
  splitResults();
  eraseDeadOps(function.front());
  joinUses();
  Block &block = function.front();
  block.eraseArguments(0, numOld);
  (void)function.removeArgAttrsAttr();
  (void)function.removeResAttrsAttr();
  function.setType(FunctionType::get(function.getContext(),
                                     block.getArgumentTypes(),
                                     block.getTerminator()->getOperandTypes()));
  signature.write(function);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Leaves in `families` those that can be split, and gives them parts.
static bool chooseFamilies(Families &families, SymbolTable &symbols) {
  bool any = false;
  for (Family &family : families.list) {
    if (family.dim < 0)
      continue;
    std::string name = "'" + family.parameter.getSymName().str() + "'";
    Location loc = family.parameter.getLoc();
    if (!family.obstacle.empty()) {
      remark::missed(loc, remarkOf("parts"))
          << name + " is used in slices but stays whole: " + family.obstacle;
      continue;
    }
    makeParts(family, symbols);
    any = true;
    remark::passed(loc, remarkOf("parts"))
        << name + " is stored in " + std::to_string(family.getNumParts()) +
               " parts";
  }
  return any;
}

namespace {
struct SplitStatesPass : llmc::impl::SplitStatesPassBase<SplitStatesPass> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> seen;
    SmallVector<func::FuncOp> functions;
    for (const ProgramFunction &program : getProgramFunctions(getOperation()))
      if (seen.insert(program.function))
        functions.push_back(program.function);
    Families families = findFamilies(getOperation(), functions);
    SymbolTable symbols(getOperation());
    if (!chooseFamilies(families, symbols))
      return markAllAnalysesPreserved();
    for (func::FuncOp function : functions)
      FunctionRewriter(function, families).run();
  }
};
} // namespace
