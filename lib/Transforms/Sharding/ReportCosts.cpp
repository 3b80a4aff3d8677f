//===- ReportCosts.cpp - What the layouts of a program cost ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the layouts back from the types, and says as remarks of category
// `costs` what a user may want otherwise:
//
//   gather       an all-gather: bytes received, and which op reads it so
//   replication  an input, a state or what an op makes is alike on devices that
//                could each have a part of it
//   pad          a dim that its axes do not divide
//   keep         what is made once in a step, and lies there through all of it
//
// Of a program with a step its microbatch and update are read, of another one
// its entries. Nothing is decided here, so nothing can be left out but what is
// smaller than the pass is told to look at. What could be otherwise follows, as
// remarks of category `hints` (ReportHints.h).
//
// Tests: test/Transforms/Sharding/report-costs.mlir,
// test/EndToEnd/Families/remarks.test
//===----------------------------------------------------------------------===//

#include "CostRemarks.h"
#include "ReportHints.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/StepInvariants.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_REPORTCOSTSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct ReportCostsPass : llmc::impl::ReportCostsPassBase<ReportCostsPass> {
  using ReportCostsPassBase::ReportCostsPassBase;
  void runOnOperation() override;
};

class FunctionCosts {
public:
  FunctionCosts(dist::MeshOp mesh, const ProgramFunction &program,
                int64_t least, CostRemarks &remarks)
      : mesh(mesh.getAxes()), pipeline(mesh.getPipeline().value_or("")),
        function(program.function), kind(program.kind), least(least),
        runs(function.front()), remarks(remarks),
        symbols(SymbolTable::getNearestSymbolTable(program.function)),
        invariants(program.function) {
    if (auto step = dyn_cast<dist::StepOp>(program.owner))
      microbatches = step.getMicrobatches();
  }

  void report();

private:
  std::string nameOfArgument(BlockArgument argument) const;
  std::string nameOf(Value value) const;
  std::string describeWhen(Operation *op) const;
  SmallVector<dist::AxisAttr> findReplicas(Value value) const;
  int64_t getBytesOfDevice(Value value) const;
  void reportArgument(BlockArgument argument);
  void reportPadding(Value value, Location loc);
  void reportGather(dist::AllGatherOp op);
  void reportReplication(Operation *op, Value value);
  void reportKept(Operation *op);
  std::string whyReplicated(Operation *op, ArrayRef<dist::AxisAttr> axes) const;

  dist::MeshAxesAttr mesh;
  StringRef pipeline;
  func::FuncOp function;
  FunctionKind kind;
  int64_t least;
  int64_t microbatches = 1;
  dist::LoopRuns runs;
  CostRemarks &remarks;
  SymbolTable symbols;
  StepInvariants invariants;
};
} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// "'w'" of a state or input; otherwise empty.
std::string FunctionCosts::nameOfArgument(BlockArgument argument) const {
  dist::PortAttr port =
      dist::getArgumentPort(function, argument.getArgNumber());
  if (FlatSymbolRefAttr state = dist::getState(port))
    return "'" + rt::unescapeName(state.getValue().str()) + "'";
  if (FlatSymbolRefAttr state = dist::getGradientOf(port))
    return "the gradient of '" + rt::unescapeName(state.getValue().str()) + "'";
  StringAttr input = dist::getInput(port);
  return input ? "'" + input.str() + "'" : "";
}

static std::string nameOf(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "'";
}

/// "'w'", "'stablehlo.convert' of 'w'" or "what 'stablehlo.add' makes".
std::string FunctionCosts::nameOf(Value value) const {
  Operation *op = value.getDefiningOp(), *maker = nullptr;
  for (; op && op->getNumOperands() == 1;
       value = op->getOperand(0), op = value.getDefiningOp())
    if (!maker && !isa<DistDialect>(op->getDialect()))
      maker = op;
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (std::string name = nameOfArgument(argument); !name.empty())
      return maker ? ::nameOf(maker) + " of " + name : name;
  return "what " + (maker || op ? ::nameOf(maker ? maker : op) : "the caller") +
         " makes";
}

/// When an op runs: "in each microbatch", "in each trip of loop "l"", ...
std::string FunctionCosts::describeWhen(Operation *op) const {
  bool isPrepared = getPhase(op) == dist::Phase::Prepare;
  std::string when = isPrepared                         ? "once in a step"
                     : kind == FunctionKind::Microbatch ? "in each microbatch"
                     : kind == FunctionKind::Update     ? "in the update"
                                                        : "in each run";
  if (int run = runs.getRunOf(op); run >= 0)
    when += ", in each trip of \"" +
            runs.getRuns()[run].loop.getName().getValue().str() + "\"";
  return when;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

int64_t FunctionCosts::getBytesOfDevice(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  LayoutAttr layout = dist::getLayout(type);
  for (int64_t size : layout.getLocalShape(type.getShape(), mesh))
    bytes *= size;
  return bytes;
}

/// The axes along which devices hold the same of a value of which each could
/// hold a part.
SmallVector<dist::AxisAttr> FunctionCosts::findReplicas(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  LayoutAttr layout = dist::getLayout(type);
  SmallVector<dist::AxisAttr> axes;
  SmallVector<int64_t> shape = layout.getLocalShape(type.getShape(), mesh);
  for (auto [axis, size] : llvm::zip(mesh.getNames(), mesh.getSizes())) {
    int64_t parts = size;
    bool fits = llvm::any_of(shape, [&](int64_t dim) { return dim >= parts; });
    if (size > 1 && fits && axis.getValue() != pipeline &&
        !layout.getDimSplitBy(axis) && !layout.getPartialKind(axis))
      axes.push_back(dist::AxisAttr::get(axis.getContext(), axis));
  }
  return axes;
}

static int64_t countDevices(ArrayRef<dist::AxisAttr> axes,
                            dist::MeshAxesAttr mesh) {
  int64_t number = 1;
  for (dist::AxisAttr axis : axes)
    number *= axis.getSize(mesh);
  return number;
}

void FunctionCosts::reportPadding(Value value, Location loc) {
  auto type = cast<RankedTensorType>(value.getType());
  LayoutAttr layout = dist::getLayout(type);
  std::string dims;
  for (auto [d, size, dim] : llvm::enumerate(type.getShape(), layout.getDims()))
    if (dim.isPadded())
      dims += (dims.empty() ? "dim " : ", dim ") + std::to_string(d) +
              " stored as " + std::to_string(dim.getExtent(size)) +
              " instead of " + std::to_string(size) + ", split by " +
              showAxes(dim.getAxes());
  if (dims.empty())
    return;
  int64_t bytes = getElementBytes(type.getElementType()), padded = bytes;
  for (int64_t size : type.getShape())
    bytes *= size;
  for (int64_t size : layout.getPaddedShape(type.getShape()))
    padded *= size;
  remarks.add("pad", loc,
              nameOf(value) + " has " + dims + ": " +
                  std::to_string(padded - bytes) + " of " +
                  std::to_string(padded) + " B are padding");
}

void FunctionCosts::reportArgument(BlockArgument argument) {
  dist::PortAttr port =
      dist::getArgumentPort(function, argument.getArgNumber());
  FlatSymbolRefAttr state = dist::getState(port);
  if (kind == FunctionKind::Update || (!state && !dist::getInput(port)))
    return;
  Location loc = argument.getLoc();
  if (auto op =
          state ? symbols.lookup<dist::StateOp>(state.getAttr()) : nullptr)
    loc = op.getLoc();
  reportPadding(argument, loc);
  SmallVector<dist::AxisAttr> axes = findReplicas(argument);
  int64_t bytes = getBytesOfDevice(argument);
  if (!axes.empty() && bytes >= least)
    remarks.add("replication", loc,
                nameOf(argument) + " is replicated over " + showAxes(axes) +
                    ": " + std::to_string(countDevices(axes, mesh)) +
                    " copies of " + std::to_string(bytes) + " B");
}

/// The first op that computes with the value, behind moves; null where it is
/// returned only.
static Operation *findReader(Value value) {
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (!isa<DistDialect>(user->getDialect()))
      return user;
    if (user->getNumResults() == 1)
      if (Operation *reader = findReader(user->getResult(0)))
        return reader;
  }
  return nullptr;
}

/// "whole", or "split by {"tensor"}".
static std::string describeSplits(LayoutAttr layout) {
  SmallVector<dist::AxisAttr> axes;
  for (dist::DimAttr dim : layout.getDims())
    axes.append(dim.getAxes().begin(), dim.getAxes().end());
  return axes.empty() ? "whole" : "split by " + showAxes(axes);
}

void FunctionCosts::reportGather(dist::AllGatherOp op) {
  SmallVector<dist::AxisAttr> axes;
  for (Attribute axis : op.getAxes())
    axes.push_back(
        dist::AxisAttr::get(op.getContext(), cast<StringAttr>(axis)));
  for (auto [input, result] : llvm::zip(op.getInputs(), op.getResults())) {
    int64_t bytes =
        bytesReceived(CollectiveKind::allGather, getBytesOfDevice(input),
                      countDevices(axes, mesh));
    Operation *reader = findReader(result);
    bool isSame = kind == FunctionKind::Microbatch && microbatches > 1 &&
                  getPhase(op) != dist::Phase::Prepare &&
                  !invariants.changes(input);
    remarks.add("gather", op.getLoc(),
                nameOf(input) + " is gathered over " + showAxes(axes) + " " +
                    describeWhen(op) + ", " + std::to_string(bytes) +
                    " B received: " +
                    (reader ? ::nameOf(reader) + " reads it "
                            : "the function returns it ") +
                    describeSplits(dist::getLayout(result.getType())) +
                    (isSame ? ", and it is the same in all " +
                                  std::to_string(microbatches) +
                                  " microbatches of a step"
                            : ""));
  }
}

/// What of the op's operands was moved over the axes, or that none is split.
std::string FunctionCosts::whyReplicated(Operation *op,
                                         ArrayRef<dist::AxisAttr> axes) const {
  for (Value operand : op->getOperands())
    if (auto moved = operand.getDefiningOp<dist::CollectiveInterface>())
      for (Attribute axis : moved.getAxes())
        if (llvm::any_of(axes, [&](dist::AxisAttr replica) {
              return replica.getName() == axis;
            }))
          return ::nameOf(moved.getOperation()) + " made what it reads whole";
  return "nothing that it reads is split over them";
}

void FunctionCosts::reportReplication(Operation *op, Value value) {
  int64_t bytes = getBytesOfDevice(value);
  // Constants and numbers of positions cost no communication to split.
  if (op->getNumOperands() == 0 || bytes < least)
    return;
  SmallVector<dist::AxisAttr> axes = findReplicas(value);
  if (!axes.empty())
    remarks.add("replication", op->getLoc(),
                "what " + ::nameOf(op) + " makes is computed alike on all " +
                    std::to_string(countDevices(axes, mesh)) + " devices of " +
                    showAxes(axes) + " " + describeWhen(op) + ", " +
                    std::to_string(bytes) +
                    " B on each: " + whyReplicated(op, axes));
}

/// What microbatches read of what is made before them.
void FunctionCosts::reportKept(Operation *op) {
  for (Value result : op->getResults()) {
    auto reader = llvm::find_if(result.getUsers(), [](Operation *user) {
      return getPhase(user) != dist::Phase::Prepare;
    });
    if (reader != result.user_end())
      remarks.add(
          "keep", op->getLoc(),
          "what " + ::nameOf(op) +
              " makes is computed or moved once in a step and kept for all " +
              std::to_string(microbatches) + " microbatches, " +
              std::to_string(getBytesOfDevice(result)) +
              " B on each device: no input is on the way to it");
  }
}

void FunctionCosts::report() {
  for (BlockArgument argument : function.getArguments())
    if (dist::getLayout(argument.getType()))
      reportArgument(argument);
  for (Operation &op : function.front().without_terminator()) {
    if (auto gather = dyn_cast<dist::AllGatherOp>(op))
      reportGather(gather);
    if (getPhase(&op) == dist::Phase::Prepare)
      reportKept(&op);
    if (isa<DistDialect>(op.getDialect()))
      continue;
    for (Value result : op.getResults())
      if (dist::getLayout(result.getType())) {
        reportPadding(result, op.getLoc());
        reportReplication(&op, result);
      }
  }
}

void ReportCostsPass::runOnOperation() {
  if (!wantsRemarks(getContext()))
    return;
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  SmallVector<ProgramFunction> functions = getProgramFunctions(getOperation());
  bool hasStep = llvm::any_of(functions, [](const ProgramFunction &program) {
    return program.kind != FunctionKind::Entry;
  });
  CostRemarks remarks;
  llvm::DenseSet<Operation *> seen;
  for (const ProgramFunction &program : functions)
    if ((program.kind == FunctionKind::Entry) != hasStep &&
        seen.insert(program.function).second)
      FunctionCosts(*mesh, program, leastBytes, remarks).report();
  remarks.emit();
  reportHints(*mesh, functions);
}
