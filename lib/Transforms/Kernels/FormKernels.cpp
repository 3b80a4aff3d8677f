//===- FormKernels.cpp - Group the ops of each function into kernels ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = multiply %a, %b        ->  %1 = dist.launch @kernels::@k_8a0e(%a, %b)
//   %1 = add %0, %a
//
// Formation (Analysis/KernelFormation/KernelFormation.h) says which ops share a
// kernel and in which order kernels, contractions and all else can run; the
// block is written again in that order; calls that no library of the target has
// become launches of kernels too (CallKernels.h). A launch's result takes an
// operand's buffer where the kernel reads it in place and nothing reads it
// later (BufferLife.h).
//
// Test: test/Transforms/Kernels/form-kernels.mlir
//
//===----------------------------------------------------------------------===//

#include "BufferLife.h"
#include "Calls/CallKernels.h"
#include "KernelTable.h"
#include "llmc/Analysis/Program/Aliases.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Support/StoredElements.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_FORMKERNELSPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

using namespace kernels;

class FunctionRewriter {
public:
  FunctionRewriter(func::FuncOp function, KernelTable &table)
      : function(function), block(function.front()), table(table),
        builder(block.getTerminator()) {}

  LogicalResult run();

private:
  void numberOps();
  void addRead(Value value, size_t step);
  void findReads();
  bool isReadBefore(Value root, size_t step) const;
  bool mayOverwrite(Value input, Value output, size_t step) const;
  Ties chooseTies(const KernelSpec &spec, size_t step,
                  ArrayRef<std::pair<unsigned, unsigned>> tieable) const;
  ArrayAttr writeTies(const KernelSpec &spec, const Ties &ties, size_t step);
  Value getStart(const KernelSpec &spec, size_t step);
  void launch(const KernelStage &stage, const KernelUse &use, size_t step,
              SmallVector<Value> inputs, SmallVector<Value> &parts);
  LogicalResult launch(const KernelSpec &spec, size_t step);
  Value copyStart(const KernelSpec &spec);
  LogicalResult keep(Operation *op);
  Value place(Value value);
  void eraseRest();

  func::FuncOp function;
  Block &block;
  KernelTable &table;
  OpBuilder builder;
  KernelFormation formation;
  /// Where ops stand. Asking the block would number it anew after each op that
  /// moves.
  llvm::DenseMap<Operation *, size_t> positions;
  /// First and last step that reads a buffer, by the value that it holds.
  llvm::DenseMap<Value, size_t> firstRead, lastRead;
  /// What was written over a value that another step reads.
  llvm::DenseSet<Value> later;
  IRMapping mapping;
  llvm::DenseSet<Operation *> kept;
};

void FunctionRewriter::numberOps() {
  size_t next = 0;
  for (Operation &op : block)
    positions[&op] = next++;
}

void FunctionRewriter::addRead(Value value, size_t step) {
  Value root = getAliasRoot(value);
  firstRead.try_emplace(root, step);
  lastRead[root] = step;
}

void FunctionRewriter::findReads() {
  for (auto [number, step] : llvm::enumerate(formation.order)) {
    if (step.isKernel)
      for (Value input : formation.kernels[step.index].inputs)
        addRead(input, number);
    else
      for (Value operand : formation.others[step.index]->getOperands())
        addRead(operand, number);
  }
}

/// Whether the buffer of `root`, which `step` overwrites, held what another
/// step reads.
bool FunctionRewriter::isReadBefore(Value root, size_t step) const {
  return later.contains(root) || firstRead.lookup(root) != step;
}

/// True when `output`, made in `step`, may be written over `input`.
bool FunctionRewriter::mayOverwrite(Value input, Value output,
                                    size_t step) const {
  Value root = getAliasRoot(input);
  if (lastRead.lookup(root) != step || isReturned(root))
    return false;
  if (isa<BlockArgument>(root))
    return isSameSlot(function, root, output) ||
           (isReadHereAlone(function, root) && !isReturned(output));
  if (isReadBefore(root, step) && isReturnedOnce(function, output))
    return false;
  Operation *maker = root.getDefiningOp();
  bool own = maker->getBlock() == &block &&
             isa<graph::LibraryCallOpInterface, dist::CollectiveInterface,
                 graph::KernelOpInterface>(maker);
  return own;
}

/// Whether no other input is the same buffer, through a fence or another alias:
/// a kernel reads what it writes over under one name.
static bool isReadOnce(const KernelSpec &spec, unsigned input) {
  Value root = getAliasRoot(spec.inputs[input]);
  return llvm::count_if(spec.inputs, [&](Value other) {
           return getAliasRoot(other) == root;
         }) == 1;
}

Ties FunctionRewriter::chooseTies(
    const KernelSpec &spec, size_t step,
    ArrayRef<std::pair<unsigned, unsigned>> tieable) const {
  Ties ties;
  llvm::SmallDenseSet<unsigned> inputs, outputs;
  // The youngest buffer first: an older one is the more likely to have a place
  // of its own, from which the result would have to be copied.
  SmallVector<std::pair<unsigned, unsigned>> byAge(tieable);
  auto getAge = [&](std::pair<unsigned, unsigned> pair) -> size_t {
    Operation *op = getAliasRoot(spec.inputs[pair.second]).getDefiningOp();
    return op ? positions.lookup(op) + 1 : 0;
  };
  llvm::sort(byAge, [&](auto a, auto b) {
    size_t left = getAge(a), right = getAge(b);
    return left == right ? a < b : left > right;
  });
  // Pairs of one slot first: they spare a copy, others spare memory.
  for (bool sameSlot : {true, false}) {
    for (auto [output, input] : byAge) {
      Value from = spec.inputs[input], to = spec.outputs[output];
      if (isSameSlot(function, getAliasRoot(from), to) != sameSlot ||
          inputs.contains(input) || outputs.contains(output) ||
          !isReadOnce(spec, input) || !mayOverwrite(from, to, step))
        continue;
      inputs.insert(input);
      outputs.insert(output);
      ties.push_back({output, input});
    }
  }
  return ties;
}

/// The value as it is now: made by a launch, or of an alias put in its place.
Value FunctionRewriter::place(Value value) {
  if (Value made = mapping.lookupOrNull(value))
    return made;
  auto alias = value.getDefiningOp<graph::KernelOpInterface>();
  if (!alias || alias->getBlock() != &block || kept.contains(alias) ||
      alias.getKernelForm() != graph::KernelForm::Alias)
    return value;
  // The alias itself stays as it is for kernels that read through it.
  Operation *copy = alias->clone();
  kept.insert(copy);
  for (OpOperand &operand : copy->getOpOperands())
    operand.set(place(operand.get()));
  builder.insert(copy);
  mapping.map(alias->getResults(), copy->getResults());
  return mapping.lookup(value);
}

/// A call that no library of the target has becomes launches.
LogicalResult FunctionRewriter::keep(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    operand.set(place(operand.get()));
  auto call = dyn_cast<graph::LibraryCallOpInterface>(op);
  FailureOr<std::optional<CallPlan>> plan = std::optional<CallPlan>();
  if (call)
    plan = planKernels(table.getTarget(), call, op);
  if (failed(plan))
    return failure();
  if (*plan) {
    mapping.map(op->getResults(), launchCall(builder, table, call, **plan));
    return success();
  }
  kept.insert(op);
  if (!op->hasTrait<OpTrait::IsTerminator>()) {
    op->moveBefore(block.getTerminator());
    // Behind all that has not moved, and those that have.
    positions[op] = positions.size() + kept.size();
  }
  return success();
}

/// An Update changes the buffer of an operand; where that lives on, it changes
/// a copy. Null when no copy can be made.
Value FunctionRewriter::copyStart(const KernelSpec &spec) {
  Value start = place(spec.inputs[*spec.changed]);
  auto type = cast<RankedTensorType>(start.getType());
  Location loc = spec.outputs[0].getLoc();
  FailureOr<KernelUse> use = table.getCopy(type, loc);
  if (failed(use))
    return {};
  remark::missed(loc, remark::RemarkOpts::name("copy").category("kernels"))
      << llvm::formatv("copies {0} elements: the operand that is updated in "
                       "place is read later",
                       type.getNumElements())
             .str();
  return dist::LaunchOp::create(builder, loc, TypeRange{type}, use->symbol,
                                ValueRange{start}, ArrayAttr(), 0)
      .getResult(0);
}

/// Null without ties.
ArrayAttr FunctionRewriter::writeTies(const KernelSpec &spec, const Ties &ties,
                                      size_t step) {
  SmallVector<Attribute> pairs;
  for (auto [output, input] : ties) {
    if (isReadBefore(getAliasRoot(spec.inputs[input]), step))
      later.insert(spec.outputs[output]);
    pairs.push_back(builder.getI64ArrayAttr({output, input}));
  }
  return pairs.empty() ? ArrayAttr() : builder.getArrayAttr(pairs);
}

/// What an Update changes: the operand's buffer, or a copy. Null when no copy
/// can be made.
Value FunctionRewriter::getStart(const KernelSpec &spec, size_t step) {
  Value start = spec.inputs[*spec.changed], root = getAliasRoot(start);
  int64_t readers = llvm::count_if(
      spec.inputs, [&](Value input) { return getAliasRoot(input) == root; });
  if (readers > 1 || !mayOverwrite(start, spec.outputs[0], step))
    return copyStart(spec);
  return place(start);
}

/// Writes the launch of a stage, which takes `parts` of the one before, after
/// `inputs`, and leaves there what the next one takes.
void FunctionRewriter::launch(const KernelStage &stage, const KernelUse &use,
                              size_t step, SmallVector<Value> inputs,
                              SmallVector<Value> &parts) {
  const KernelSpec &spec = stage.spec;
  llvm::append_range(inputs, parts);
  SmallVector<Type> types(ValueRange(spec.outputs).getTypes());
  types.append(stage.made.begin(), stage.made.end());
  Operation *last = spec.ops.back();
  if (!spec.outputs.empty())
    last = spec.outputs.back().getDefiningOp();
  auto launch =
      dist::LaunchOp::create(builder, last->getLoc(), types, use.symbol, inputs,
                             writeTies(spec, use.ties, step), use.scratchBytes);
  launch->setDiscardableAttrs(last->getDiscardableAttrDictionary());
  for (auto [output, result] : llvm::zip(spec.outputs, launch.getResults()))
    mapping.map(output, result);
  mlir::ResultRange left = launch.getResults().take_back(stage.made.size());
  parts.assign(left.begin(), left.end());
}

LogicalResult FunctionRewriter::launch(const KernelSpec &spec, size_t step) {
  FailureOr<std::vector<KernelStage>> stages =
      planStages(spec, table.getTarget());
  if (failed(stages))
    return failure();
  SmallVector<KernelUse> uses;
  for (const KernelStage &stage : *stages) {
    FailureOr<KernelUse> use =
        table.get(stage, [&](ArrayRef<std::pair<unsigned, unsigned>> tieable) {
          return stage.spec.changed ? Ties(tieable)
                                    : chooseTies(stage.spec, step, tieable);
        });
    if (failed(use))
      return failure();
    uses.push_back(*use);
  }
  Value start;
  if (spec.changed && !(start = getStart(spec, step)))
    return failure();
  SmallVector<Value> parts;
  for (auto [stage, use] : llvm::zip(*stages, uses)) {
    SmallVector<Value> inputs;
    for (auto [number, input] : llvm::enumerate(stage.spec.inputs))
      inputs.push_back(stage.spec.changed == number ? start : place(input));
    launch(stage, use, step, inputs, parts);
  }
  KernelPrice price = getKernelPrice(spec);
  remark::passed(spec.outputs.back().getLoc(),
                 remark::RemarkOpts::name("kernel").category("kernels"))
      << llvm::formatv("{0}, {1} bytes read, {2} bytes written",
                       describeKernel(spec), price.bytesRead,
                       price.bytesWritten)
             .str();
  return success();
}

void FunctionRewriter::eraseRest() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (kept.contains(&op) || isa<dist::LaunchOp>(op))
      continue;
    op.dropAllUses();
    op.erase();
  }
}

LogicalResult FunctionRewriter::run() {
  FailureOr<KernelFormation> formed = formKernels(block);
  if (failed(formed))
    return failure();
  formation = std::move(*formed);
  numberOps();
  findReads();
  for (auto [number, step] : llvm::enumerate(formation.order)) {
    LogicalResult done = step.isKernel
                             ? launch(formation.kernels[step.index], number)
                             : keep(formation.others[step.index]);
    if (failed(done))
      return failure();
  }
  if (failed(keep(block.getTerminator())))
    return failure();
  eraseRest();
  return success();
}

class FormKernelsPass : public impl::FormKernelsPassBase<FormKernelsPass> {
public:
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyStoredElements(module)))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        functions.push_back(function);
    if (target.empty())
      target = dist::getTargetName(module).str();
    const KernelTarget *writer = findKernelTarget(target);
    if (!writer) {
      module.emitError("expected a target of kernels (")
          << llvm::join(getKernelTargetNames(), ", ") << "), got '" << target
          << "'";
      return signalPassFailure();
    }
    KernelTable table(module, *writer);
    for (func::FuncOp function : functions) {
      if (!function.getBody().hasOneBlock()) {
        function.emitError("expected a function of one block, got ")
            << llvm::range_size(function.getBody());
        return signalPassFailure();
      }
      if (failed(FunctionRewriter(function, table).run()))
        return signalPassFailure();
    }
  }
};

} // namespace

} // namespace llmc
