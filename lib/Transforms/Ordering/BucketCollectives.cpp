//===- BucketCollectives.cpp - Small collectives as one -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program's instructions do to buffers says which of them depend on
// which. Which collectives go together is decided by
// Solvers/Streams/CollectiveBuckets; all members of a group run the same
// program, so all decide alike. Collectives between stages stand in several
// programs, and stay alone; so does what takes counts.
//
// Test: test/Transforms/Ordering/bucket-collectives.mlir
//===----------------------------------------------------------------------===//

#include "InstructionTimes.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Solvers/Streams/CollectiveBuckets.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <limits>

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

using ordering::InstructionTimes;

namespace {

/// What programs before have left.
struct Before {
  /// When a buffer was written last, from the end of that program's
  /// computation back: at most 0.
  llvm::DenseMap<Attribute, int64_t> written;
  /// The memory of calls, which the compute stream opens, that of states, and
  /// that of a whole step.
  llvm::DenseSet<Attribute> ofCalls, ofStates, ofSteps;
};

/// A program's instructions and what is solved for them.
class ProgramBuckets {
public:
  ProgramBuckets(plan::ProgramOp program, const InstructionTimes &times,
                 Before &before);

  /// False where nothing may be moved: the program calls others.
  bool read();
  /// Whether any collective may be in a bucket.
  bool isOn() const {
    return llvm::any_of(problem.full, [](int64_t full) { return full > 0; });
  }
  void keep();
  void write(ArrayRef<std::vector<int32_t>> groups);

  BucketProblem problem;

private:
  void setTimes(BucketProblem::Op &self, plan::InstructionInterface op);
  void addUses(BucketProblem::Op &self, plan::InstructionInterface op);
  void setKey(BucketProblem::Op &self, plan::CollectiveOp op);
  void setReady(BucketProblem::Op &self, plan::CollectiveOp op);
  bool fillsCall(plan::CollectiveOp op) const;
  bool isThere(Attribute buffer);
  bool readsStates(plan::CollectiveOp op);
  void noteWrites(ArrayRef<std::vector<int32_t>> groups);
  void merge(ArrayRef<int32_t> members);

  /// The instructions that have touched a buffer last.
  struct Touched {
    int32_t writer = -1;
    std::vector<int32_t> readers;
  };
  plan::ProgramOp program;
  const InstructionTimes &times;
  Before &before;
  std::vector<Operation *> ops;
  llvm::DenseMap<Attribute, Touched> touched;
  llvm::DenseMap<Attribute, int32_t> streams;
  /// By what the members of a bucket have in common.
  llvm::DenseMap<Attribute, int32_t> keys;
};

} // namespace

/// Number 0 computes.
ProgramBuckets::ProgramBuckets(plan::ProgramOp program,
                               const InstructionTimes &times, Before &before)
    : program(program), times(times), before(before) {
  auto module = program->getParentOfType<ModuleOp>();
  for (auto stream : module.getOps<plan::StreamOp>())
    streams[FlatSymbolRefAttr::get(stream.getSymNameAttr())] =
        stream.getKind() == plan::StreamKind::Compute ? 0
                                                      : problem.numStreams++;
}

/// Tenths of nanoseconds; sums of a million of the longest do not overflow.
static int64_t toTime(double seconds) {
  return static_cast<int64_t>(std::min(1e10 * seconds, 1e12));
}

void ProgramBuckets::setTimes(BucketProblem::Op &self,
                              plan::InstructionInterface op) {
  self.stream = streams.lookup(op.getStreamAttr());
  self.time = toTime(times.getCommunication(op).value_or(times.getCompute(op)));
  if (auto collective = dyn_cast<plan::CollectiveOp>(op.getOperation()))
    self.startup = toTime(times.getStartup(collective));
}

/// Instructions on one buffer of which one writes keep their order.
void ProgramBuckets::addUses(BucketProblem::Op &self,
                             plan::InstructionInterface op) {
  auto number = static_cast<int32_t>(ops.size());
  for (const plan::OperandUse &use : op.getUses()) {
    Touched &last = touched[use.operand.getBuffer()];
    if (last.writer >= 0 && last.writer != number)
      self.after.push_back(last.writer);
    if (use.access == plan::Access::Read) {
      last.readers.push_back(number);
      continue;
    }
    for (int32_t reader : last.readers)
      if (reader != number)
        self.after.push_back(reader);
    last = {number, {}};
  }
}

/// All but names and buffers is equal in a bucket. Scalars stay among
/// themselves, so that the rest can be counted without them.
void ProgramBuckets::setKey(BucketProblem::Op &self, plan::CollectiveOp op) {
  Builder builder(op.getContext());
  auto operand = cast<plan::OperandAttr>(op.getInputs()[0]);
  Attribute parts[] = {op.getStreamAttr(),
                       op.getKindAttr(),
                       op.getReductionAttr() ? Attribute(op.getReductionAttr())
                                             : builder.getUnitAttr(),
                       op.getAxes(),
                       builder.getI64IntegerAttr(op.getDim()),
                       builder.getI64IntegerAttr(op.getConcatDim()),
                       op.getPeer() ? Attribute(*op.getPeer())
                                    : builder.getUnitAttr(),
                       TypeAttr::get(operand.getDtype()),
                       builder.getBoolAttr(ordering::hasScalars(op))};
  auto [key, isNew] =
      keys.insert({builder.getArrayAttr(parts), int32_t(problem.full.size())});
  if (isNew)
    problem.full.push_back(times.getFullBucket(op));
  self.key = key->second;
  self.bytes = ordering::getWholeBytes(op);
}

/// What a program before has made may be reduced while that still computes, as
/// the gradients of the last microbatch; but not into memory of this call.
void ProgramBuckets::setReady(BucketProblem::Op &self, plan::CollectiveOp op) {
  self.ready = std::numeric_limits<int64_t>::min();
  for (auto operand : op.getInputs().getAsRange<plan::OperandAttr>())
    self.ready =
        std::max(self.ready, before.written.lookup(operand.getBuffer()));
  if (fillsCall(op))
    self.ready = 0;
}

/// Whether it writes memory of this call.
bool ProgramBuckets::fillsCall(plan::CollectiveOp op) const {
  return llvm::any_of(op.getOutputs().getAsRange<plan::OperandAttr>(),
                      [&](plan::OperandAttr operand) {
                        return before.ofCalls.contains(operand.getBuffer());
                      });
}

/// Whether the buffer has its value before the call: a state, and what a step
/// has made before its microbatches.
bool ProgramBuckets::isThere(Attribute buffer) {
  bool isOfMicrobatch = program.getChunk().has_value();
  return before.ofStates.contains(buffer) ||
         (isOfMicrobatch && before.ofSteps.contains(buffer) &&
          touched.lookup(buffer).writer < 0);
}

bool ProgramBuckets::readsStates(plan::CollectiveOp op) {
  return llvm::all_of(
      op.getInputs().getAsRange<plan::OperandAttr>(),
      [&](plan::OperandAttr operand) { return isThere(operand.getBuffer()); });
}

bool ProgramBuckets::read() {
  // What other devices wait for, beside buckets, keeps its order.
  int32_t lastMeeting = -1, lastCompute = -1;
  for (Operation &op : program.getBody().front()) {
    auto instruction = dyn_cast<plan::InstructionInterface>(op);
    if (!instruction || plan::getCallee(&op))
      return false;
    BucketProblem::Op self;
    addUses(self, instruction);
    setTimes(self, instruction);
    auto collective = dyn_cast<plan::CollectiveOp>(op);
    if (collective && !collective.getCounts() &&
        times.staysInStage(collective)) {
      setKey(self, collective);
      setReady(self, collective);
      // What reads states alone stands where the call has memory for it.
      if (lastCompute >= 0 && fillsCall(collective) && readsStates(collective))
        self.after.push_back(lastCompute);
    } else if (collective ||
               isa<plan::SendOp, plan::ReceiveOp, plan::ExchangeOp>(op)) {
      if (lastMeeting >= 0)
        self.after.push_back(lastMeeting);
      lastMeeting = static_cast<int32_t>(ops.size());
    }
    if (self.stream == 0)
      lastCompute = static_cast<int32_t>(ops.size());
    problem.ops.push_back(std::move(self));
    ops.push_back(&op);
  }
  return true;
}

/// One collective in the place of the first member, with the buffers of all.
void ProgramBuckets::merge(ArrayRef<int32_t> members) {
  auto first = cast<plan::CollectiveOp>(ops[members.front()]);
  SmallVector<Attribute> inputs, outputs;
  for (int32_t member : members) {
    auto op = cast<plan::CollectiveOp>(ops[member]);
    llvm::append_range(inputs, op.getInputs());
    llvm::append_range(outputs, op.getOutputs());
    if (op != first)
      op.erase();
  }
  Builder builder(first.getContext());
  first.setInputsAttr(builder.getArrayAttr(inputs));
  first.setOutputsAttr(builder.getArrayAttr(outputs));
}

void ProgramBuckets::noteWrites(ArrayRef<std::vector<int32_t>> groups) {
  int64_t now = 0;
  SmallVector<std::pair<Attribute, int64_t>> written;
  for (const std::vector<int32_t> &members : groups)
    for (int32_t member : members) {
      const BucketProblem::Op &self = problem.ops[member];
      now += self.stream == 0 ? self.time : 0;
      auto op = cast<plan::InstructionInterface>(ops[member]);
      for (const plan::OperandUse &use : op.getUses())
        if (use.access != plan::Access::Read)
          written.push_back({use.operand.getBuffer(), now});
    }
  for (auto [buffer, time] : written)
    before.written[buffer] = time - now;
}

/// All stays as it is.
void ProgramBuckets::keep() {
  std::vector<std::vector<int32_t>> groups;
  for (size_t op = 0; op < ops.size(); ++op)
    groups.push_back({static_cast<int32_t>(op)});
  noteWrites(groups);
}

void ProgramBuckets::write(ArrayRef<std::vector<int32_t>> groups) {
  noteWrites(groups);
  Block &body = program.getBody().front();
  int64_t merged = 0, buckets = 0;
  for (const std::vector<int32_t> &members : groups) {
    ops[members.front()]->moveBefore(&body, body.end());
    if (members.size() == 1)
      continue;
    merge(members);
    ++buckets;
    merged += static_cast<int64_t>(members.size());
  }
  if (buckets > 0)
    remark::analysis(program.getLoc(),
                     remark::RemarkOpts::name("buckets").category("costs"))
        << (program.getSymName() + ": " + Twine(merged) + " collectives in " +
            Twine(buckets) + " buckets")
               .str();
}

namespace {

class BucketCollectivesPass
    : public impl::BucketCollectivesPassBase<BucketCollectivesPass> {
public:
  void runOnOperation() override;
};

} // namespace

void BucketCollectivesPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto meshes = module.getOps<dist::MeshOp>();
  if (meshes.empty())
    return;
  FailureOr<InstructionTimes> times = InstructionTimes::read(*meshes.begin());
  if (failed(times))
    return signalPassFailure();
  Before before;
  SymbolTable symbols(module);
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    auto name = FlatSymbolRefAttr::get(buffer.getSymNameAttr());
    auto frame = symbols.lookup<plan::FrameOp>(buffer.getFrame());
    if (frame.getKind() == plan::FrameKind::Tmp)
      before.ofCalls.insert(name);
    if (frame.getKind() == plan::FrameKind::State)
      before.ofStates.insert(name);
    if (frame.getKind() == plan::FrameKind::Step)
      before.ofSteps.insert(name);
  }
  for (auto program : module.getOps<plan::ProgramOp>()) {
    // 1 read
    ProgramBuckets buckets(program, *times, before);
    if (!buckets.read())
      continue;
    if (!buckets.isOn()) {
      buckets.keep();
      continue;
    }
    // 2 check and solve
    if (std::string error = buckets.problem.check(); !error.empty()) {
      program.emitOpError() << "cannot have buckets: " << error;
      return signalPassFailure();
    }
    // 3 write
    buckets.write(findBuckets(buckets.problem));
  }
}

} // namespace llmc
