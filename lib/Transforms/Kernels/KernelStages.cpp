//===- KernelStages.cpp - Kernels that are several launches ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KernelStages.h. How a stage is written: ColumnStages.cpp for reductions,
// UpdateStages.cpp for updates.
//
// Test: test/Transforms/Kernels/gpu-stages.mlir
//
//===----------------------------------------------------------------------===//

#include "KernelStages.h"
#include "LoopEmission.h"
#include "ReduceDims.h"
#include "llmc/Solvers/Reduction/ReductionCut.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc::kernels {

/// `spec` with those of its inputs that the code of `values` may read, and
/// without outputs.
static KernelSpec restrictTo(const KernelSpec &spec, ArrayRef<Value> values) {
  llvm::SetVector<Value> seen(values.begin(), values.end());
  llvm::DenseSet<Value> inputs(spec.inputs.begin(), spec.inputs.end());
  for (size_t at = 0; at < seen.size(); ++at) {
    Operation *maker = seen[at].getDefiningOp();
    if (maker && !inputs.contains(seen[at]))
      seen.insert(maker->operand_begin(), maker->operand_end());
  }
  KernelSpec part = spec;
  part.inputs.clear();
  part.outputs.clear();
  part.changed.reset();
  for (auto [number, input] : llvm::enumerate(spec.inputs))
    if (seen.contains(input) && spec.changed != number)
      part.inputs.push_back(input);
  return part;
}

//===----------------------------------------------------------------------===//
// Reductions along columns
//===----------------------------------------------------------------------===//

/// Operands of the reductions, or their initial values.
static SmallVector<Value> getOperands(const KernelSpec &spec, bool initial) {
  SmallVector<Value> values;
  for (Operation *op : spec.aligned) {
    unsigned inputs =
        cast<graph::KernelOpInterface>(op).getReduction().numInputs;
    llvm::append_range(values, initial ? op->getOperands().drop_front(inputs)
                                       : op->getOperands().take_front(inputs));
  }
  return values;
}

/// Bytes of all values of one element of the result.
static int64_t getColumnBytes(const KernelSpec &spec) {
  int64_t bytes = 0;
  for (Value value : getOperands(spec, /*initial=*/false))
    bytes += llvm::divideCeil(
        getMemoryType(value.getType()).getIntOrFloatBitWidth(), 8);
  return bytes;
}

static std::vector<KernelStage> planColumns(const KernelSpec &spec,
                                            const KernelTarget &target) {
  ReduceDims dims(spec.aligned.front());
  int64_t columns = dims.kept.size() * dims.inner.size();
  int64_t length = dims.outer.size();
  bool isOrdered = llvm::any_of(spec.aligned, [&](Operation *op) {
    return getNumAccumulators(op, length) == 1;
  });
  if (dims.alongRows || isOrdered || length <= columnCut || columns == 0)
    return {{KernelStage::Part::Whole, spec}};
  std::vector<KernelStage> stages;
  while (true) {
    KernelStage stage{KernelStage::Part::Blocks, spec};
    stage.length = length;
    if (!stages.empty()) {
      stage.spec = restrictTo(spec, getOperands(spec, /*initial=*/true));
      stage.spec.outputs = spec.outputs;
      stage.taken = stages.back().made;
    }
    int64_t blocks = llvm::divideCeil(length, columnCut);
    bool hasRoom =
        blocks * tileColumns * getColumnBytes(spec) <= target.getSharedBytes();
    if (blocks > 1 && blocks <= tileBlocks && hasRoom)
      stage.part = KernelStage::Part::Tile;
    else if (blocks > 1)
      stage.spec.outputs.clear();
    for (Value value : getOperands(spec, /*initial=*/false))
      if (stage.spec.outputs.empty())
        stage.made.push_back(RankedTensorType::get(
            {blocks * columns},
            cast<RankedTensorType>(value.getType()).getElementType()));
    stages.push_back(stage);
    if (stage.made.empty())
      return stages;
    length = blocks;
  }
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Whether `value`, of code in one block, depends on one of `on`.
static bool dependsOn(Value value, const llvm::DenseSet<Value> &on) {
  SmallVector<Value> pending = {value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (on.contains(next))
      return true;
    Operation *maker =
        seen.insert(next).second ? next.getDefiningOp() : nullptr;
    if (maker && maker->getNumRegions())
      return true;
    if (maker)
      llvm::append_range(pending, maker->getOperands());
  }
  return false;
}

namespace {

/// The target of made-up indices, and what it depends on.
class TargetProbe {
public:
  explicit TargetProbe(graph::KernelOpInterface op, unsigned rank);

  /// Whether the target's dim `dim` is that of the update, and nothing else
  /// depends on it.
  bool isKept(unsigned dim, unsigned of) const;
  /// Whether the target's dim is that of the update, and as far on for all.
  bool isShifted(unsigned dim, unsigned of) const;

  graph::UpdateTarget target;
  llvm::SmallDenseSet<unsigned> operands;

private:
  Block block;
  SmallVector<Value> indices;
  /// Elements of operands, and the indices that they depend on.
  SmallVector<std::pair<Value, SmallVector<Value>>> elements;

  bool depends(Value value, ArrayRef<Value> on) const;
};

} // namespace

TargetProbe::TargetProbe(graph::KernelOpInterface op, unsigned rank) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&block);
  Location loc = op->getLoc();
  for (unsigned dim = 0; dim < rank; ++dim)
    indices.push_back(block.addArgument(builder.getIndexType(), loc));
  auto source = [&](unsigned operand, ValueRange at) -> Value {
    operands.insert(operand);
    Value element = block.addArgument(
        getScalarType(op->getOperand(operand).getType()), loc);
    elements.push_back({element, SmallVector<Value>(at)});
    return element;
  };
  target = op.emitUpdateTarget(builder, loc, indices, source);
}

bool TargetProbe::depends(Value value, ArrayRef<Value> on) const {
  llvm::DenseSet<Value> all(on.begin(), on.end());
  // An element is made after its indices.
  for (auto &[element, at] : elements)
    if (llvm::any_of(at, [&](Value index) { return dependsOn(index, all); }))
      all.insert(element);
  return dependsOn(value, all);
}

bool TargetProbe::isKept(unsigned dim, unsigned of) const {
  if (target.indices[dim] != indices[of])
    return false;
  for (auto [other, index] : llvm::enumerate(target.indices))
    if (other != dim && depends(index, indices[of]))
      return false;
  return !target.inBounds || !depends(target.inBounds, indices[of]);
}

bool TargetProbe::isShifted(unsigned dim, unsigned of) const {
  Value index = target.indices[dim];
  if (index == indices[of])
    return true;
  auto add = index.getDefiningOp<arith::AddIOp>();
  if (!add)
    return false;
  return (add.getLhs() == indices[of] && !depends(add.getRhs(), indices)) ||
         (add.getRhs() == indices[of] && !depends(add.getLhs(), indices));
}

UpdateDims UpdateDims::of(Operation *operation) {
  auto op = cast<graph::KernelOpInterface>(operation);
  UpdateDims dims;
  dims.sorted = op.getUpdateShape();
  TargetProbe probe(op, dims.sorted.size());
  dims.operands = probe.operands;
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  size_t rank = shape.size(), most = std::min(rank, dims.sorted.size());
  dims.areDistinct = rank == dims.sorted.size();
  for (size_t dim = 0; dim < rank && dims.areDistinct; ++dim)
    dims.areDistinct = probe.isShifted(dim, dim);
  for (size_t i = 0; i < most; ++i) {
    if (!probe.isKept(shape.size() - 1, dims.sorted.size() - 1))
      break;
    dims.targetSize *= shape.pop_back_val();
    dims.kept.insert(dims.kept.begin(), dims.sorted.pop_back_val());
  }
  dims.targets = getNumElements(shape);
  dims.areDistinct |= getNumElements(dims.sorted) <= 1;
  return dims;
}

unsigned UpdateDims::getNumberBits() const {
  return llvm::Log2_64_Ceil(std::max<int64_t>(getNumElements(sorted), 1));
}

static FailureOr<std::vector<KernelStage>> planUpdate(const KernelSpec &spec) {
  Operation *op = spec.aligned.front();
  if (cast<graph::KernelOpInterface>(op).getUpdateOrder())
    return std::vector<KernelStage>{{KernelStage::Part::Whole, spec}};
  UpdateDims dims = UpdateDims::of(op);
  int64_t places = getNumElements(dims.sorted);
  if (dims.areDistinct || getNumElements(dims.kept) == 0)
    return std::vector<KernelStage>{{KernelStage::Part::Whole, spec}};
  // One more target than there are is that of updates which go nowhere.
  if (dims.getNumberBits() + llvm::Log2_64_Ceil(dims.targets + 1) > 62)
    return emitRefusal(op, rt::ErrorKind::mismatch)
           << "expected updates and the elements that they go to to be "
              "numbered "
              "by 62 bits, got "
           << places << " updates of " << dims.targets
           << " targets; compile for 'cpu'";
  SmallVector<Value> operands;
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (dims.operands.contains(number))
      operands.push_back(operand);
  auto type =
      RankedTensorType::get({places}, IntegerType::get(op->getContext(), 64));
  std::vector<KernelStage> stages;
  stages.push_back({KernelStage::Part::Sort, restrictTo(spec, operands)});
  stages.back().made = {type};
  for (int64_t length = sortedRun; length < places; length *= mergedRuns) {
    stages.push_back({KernelStage::Part::Merge, restrictTo(spec, {})});
    stages.back().taken = stages.back().made = {type};
    stages.back().length = length;
  }
  stages.push_back({KernelStage::Part::Segments, spec, {type}});
  return stages;
}

FailureOr<std::vector<KernelStage>> planStages(const KernelSpec &spec,
                                               const KernelTarget &target) {
  if (target.getSharedBytes() > 0 && spec.kind == KernelSpec::Kind::Reduce)
    return planColumns(spec, target);
  if (target.getSharedBytes() > 0 && spec.kind == KernelSpec::Kind::Update)
    return planUpdate(spec);
  return std::vector<KernelStage>{{KernelStage::Part::Whole, spec}};
}

} // namespace llmc::kernels
