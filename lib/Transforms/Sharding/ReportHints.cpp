//===- ReportHints.cpp - What a user may want to ask for ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReportHints.h. Nothing is decided here.
//
// Test: test/Transforms/Sharding/report-hints.mlir
//===----------------------------------------------------------------------===//

#include "ReportHints.h"
#include "CostRemarks.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Support/HostTensor.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;
using dist::Phase;

namespace {
class FunctionHints {
public:
  FunctionHints(dist::MeshOp mesh, const ProgramFunction &program,
                CostRemarks &remarks)
      : mesh(mesh.getAxes()), function(program.function), remarks(remarks),
        symbols(SymbolTable::getNearestSymbolTable(program.function)) {
    if (auto step = dyn_cast<dist::StepOp>(program.owner))
      recomputes = step.getRecompute() && (step.getRecompute()->getGathers() ||
                                           step.getRecompute()->getKind() !=
                                               dist::RecomputeKind::None);
  }

  void report();

private:
  dist::StateOp findState(Value value) const;
  int64_t getBytes(Value value) const;
  void reportBatch(BlockArgument argument);
  void reportKept(dist::CollectiveInterface op);
  void reportExchange(dist::CollectiveInterface op);

  dist::MeshAxesAttr mesh;
  func::FuncOp function;
  CostRemarks &remarks;
  SymbolTable symbols;
  /// Blocks are computed again in the backward.
  bool recomputes = false;
};
} // namespace

/// Whether the op's result has the elements of its only operand: moved, or of
/// another type.
static bool isCopy(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto answer = dyn_cast<graph::PrecisionOpInterface>(op);
  bool converts = from && to && from.getShape() == to.getShape() &&
                  from.getElementType() != to.getElementType();
  return isa<DistDialect>(op->getDialect()) || converts ||
         (answer && answer.isMove());
}

/// The state of which the value is a copy, moved or converted; null for others.
dist::StateOp FunctionHints::findState(Value value) const {
  Operation *op = value.getDefiningOp();
  for (; op && isCopy(op); op = value.getDefiningOp())
    value = op->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || op)
    return {};
  FlatSymbolRefAttr state =
      dist::getState(dist::getArgumentPort(function, argument.getArgNumber()));
  return state ? symbols.lookup<dist::StateOp>(state.getAttr())
               : dist::StateOp();
}

static std::string quote(dist::StateOp state) {
  return "'" + rt::unescapeName(state.getSymName().str()) + "'";
}

/// On a device.
int64_t FunctionHints::getBytes(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  LayoutAttr layout = dist::getLayout(type);
  for (int64_t size : layout.getLocalShape(type.getShape(), mesh))
    bytes *= size;
  return bytes;
}

/// Of an input whose samples the devices of its axes do not share alike.
void FunctionHints::reportBatch(BlockArgument argument) {
  dist::PortAttr port =
      dist::getArgumentPort(function, argument.getArgNumber());
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  LayoutAttr layout = type ? dist::getLayout(type) : LayoutAttr();
  if (!dist::getInput(port) || !layout || layout.getRank() == 0 ||
      !layout.getDims()[0].isPadded())
    return;
  dist::DimAttr dim = layout.getDims()[0];
  int64_t size = type.getDimSize(0), stored = dim.getExtent(size),
          devices = dim.getNumParts(mesh), each = stored / devices;
  int64_t busy = (size + each - 1) / each;
  remarks.add("batch", argument.getLoc(),
              "the " + std::to_string(size) + " samples of '" +
                  dist::getInput(port).str() + "' do not divide by the " +
                  std::to_string(devices) + " devices of " +
                  showAxes(dim.getAxes()) + ": each computes " +
                  std::to_string(each) +
                  (busy < devices ? ", and " + std::to_string(devices - busy) +
                                        " of them have no sample"
                                  : ", and the last has fewer samples"));
}

/// Whether the value, moved or converted, is read in the forward and in the
/// backward.
static std::pair<bool, bool> findReaders(Value value) {
  bool isForward = false, isBackward = false;
  for (Operation *user : value.getUsers()) {
    std::optional<Phase> phase = getPhase(user);
    isForward |= phase == Phase::Forward;
    isBackward |=
        phase == Phase::BackwardInput || phase == Phase::BackwardWeight;
    if (isCopy(user)) {
      auto [forward, backward] = findReaders(user->getResult(0));
      isForward |= forward;
      isBackward |= backward;
    }
  }
  return {isForward, isBackward};
}

void FunctionHints::reportKept(dist::CollectiveInterface op) {
  for (auto [input, result] : llvm::zip(op.getInputs(), op->getResults())) {
    dist::StateOp state = findState(input);
    auto [isForward, isBackward] = findReaders(result);
    if (recomputes || !state || !isForward || !isBackward)
      continue;
    remarks.add("kept", op.getLoc(),
                quote(state) +
                    " is gathered for the forward and kept for the backward, " +
                    std::to_string(getBytes(result)) +
                    " B on each device: training.regather = true gathers it "
                    "again instead");
  }
}

void FunctionHints::reportExchange(dist::CollectiveInterface op) {
  std::string axes;
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    axes += (axes.empty() ? "\"" : ", \"") + axis.str() + "\"";
  for (Value input : op.getInputs()) {
    std::string bytes = std::to_string(getBytes(input));
    if (dist::StateOp state = findState(input)) {
      remarks.add("exchange", op.getLoc(),
                  quote(state) + " is exchanged all to all over {" + axes +
                      "}, " + bytes +
                      " B on each device, since it rests split along another "
                      "dimension than ops read it: a 'use' in its row says how "
                      "they shall, [] gathers it");
      continue;
    }
    Operation *maker = input.getDefiningOp();
    remarks.add("exchange", op.getLoc(),
                "what " +
                    (maker ? "'" + maker->getName().getStringRef().str() + "'"
                           : std::string("the caller")) +
                    " makes is exchanged all to all over {" + axes + "}, " +
                    bytes +
                    " B on each device: llmc explain --value says which rows "
                    "and annotations split it so before and after");
  }
}

void FunctionHints::report() {
  for (BlockArgument argument : function.getArguments())
    reportBatch(argument);
  for (Operation &op : function.front().without_terminator()) {
    auto move = dyn_cast<dist::CollectiveInterface>(op);
    if (!move)
      continue;
    const CollectiveTraits &traits = traitsOf(move.getCollectiveKind());
    if (traits.joinsOutput)
      traits.splitsInput ? reportExchange(move) : reportKept(move);
  }
}

void llmc::reportHints(dist::MeshOp mesh, ArrayRef<ProgramFunction> functions) {
  CostRemarks remarks("hints");
  llvm::DenseSet<Operation *> seen;
  bool hasStep = llvm::any_of(functions, [](const ProgramFunction &program) {
    return program.kind != FunctionKind::Entry;
  });
  for (const ProgramFunction &program : functions)
    if ((program.kind == FunctionKind::Entry) != hasStep &&
        seen.insert(program.function).second)
      FunctionHints(mesh, program, remarks).report();
  remarks.emit();
}
