//===- CloneCones.cpp - Cheap values are made in each chunk ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cone is what depends on inputs and constants alone: masks, positions. It
// stands in the block that uses it first; a use in another chunk would become a
// transfer, for each microbatch. Inputs and constants are on every stage that
// wants them, so a cone is computed again there when that is cheaper.
//
//   %m = compare %tokens, %c [block 0], used by blocks 1 (chunk 0), 5 (chunk 1)
//   -> %m [block 0], %m' [block 5]
//
// Test: test/Transforms/Sharding/clone-cones.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::Phase;
using dist::PortKind;

namespace llmc {
#define GEN_PASS_DEF_CLONECONESPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct CloneConesPass : llmc::impl::CloneConesPassBase<CloneConesPass> {
  void runOnOperation() override;
};

/// Sending a byte to another stage costs as much as this many operations or
/// bytes of the device's memory: links are slower than memory by 10 to 100.
constexpr int64_t kWorkOfSentByte = 64;

/// The cones of one function.
class ConeCloner {
public:
  ConeCloner(func::FuncOp function, ArrayRef<int64_t> chunks)
      : function(function), body(function.getBody().front()), chunks(chunks) {}

  void run();

private:
  /// A value that ops of `chunk` use, which is not the chunk of its op.
  struct Root {
    Value value;
    int64_t chunk;
    SmallVector<OpOperand *> uses;
    Operation *firstUser = nullptr;
  };
  using Copies = llvm::MapVector<Operation *, Operation *>;

  bool isSource(Value value) const;
  void findCones();
  SmallVector<Root> findRoots();
  SmallVector<Operation *> collect(Value value, int64_t chunk);
  void clone(const Root &root);
  void eraseDead();

  func::FuncOp function;
  Block &body;
  ArrayRef<int64_t> chunks;
  llvm::DenseSet<Operation *> cones;
  /// The clones of each chunk.
  std::map<int64_t, Copies> copies;
};
} // namespace

/// Inputs, hyper values, indices of step and microbatch, constants of the
/// model: what every stage can have.
bool ConeCloner::isSource(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &body)
    return false;
  return dist::isAnyPort(
      dist::getArgumentPort(func::FuncOp(function), argument.getArgNumber()),
      {PortKind::Input, PortKind::Hyper, PortKind::Step, PortKind::Microbatch,
       PortKind::Constant});
}

static SmallVector<Value> getRead(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  if (op->getNumRegions())
    getUsedValuesDefinedAbove(op->getRegions(), read);
  return read.takeVector();
}

void ConeCloner::findCones() {
  for (Operation &op : body.without_terminator())
    if (isMemoryEffectFree(&op) && !isa<dist::EnterOp, dist::LeaveOp>(op) &&
        getChunk(&op, chunks) && llvm::all_of(getRead(&op), [&](Value value) {
          return isSource(value) || cones.contains(value.getDefiningOp());
        }))
      cones.insert(&op);
}

/// The user whose block and phase the clone gets: of those of the first phase
/// the first.
static Operation *findFirstUser(Block &body, ArrayRef<OpOperand *> uses) {
  Operation *first = nullptr;
  for (OpOperand *use : uses) {
    Operation *user = body.findAncestorOpInBlock(*use->getOwner());
    if (!first || getPhase(user) < getPhase(first) ||
        (getPhase(user) == getPhase(first) && user->isBeforeInBlock(first)))
      first = user;
  }
  return first;
}

/// By chunk and the phase in which it uses them first, as what is made for one
/// is read for those after it, then as the values stand in the function.
SmallVector<ConeCloner::Root> ConeCloner::findRoots() {
  std::map<std::pair<int64_t, std::optional<Phase>>, SmallVector<Root>> roots;
  for (Operation &op : body.without_terminator()) {
    if (!cones.contains(&op))
      continue;
    for (Value result : op.getResults()) {
      std::map<int64_t, Root> uses;
      for (OpOperand &use : result.getUses()) {
        std::optional<int64_t> chunk =
            getChunk(body.findAncestorOpInBlock(*use.getOwner()), chunks);
        if (chunk && *chunk != *getChunk(&op, chunks)) {
          Root &root = uses[*chunk];
          root.value = result;
          root.chunk = *chunk;
          root.uses.push_back(&use);
        }
      }
      for (auto &[chunk, root] : uses) {
        root.firstUser = findFirstUser(body, root.uses);
        roots[{chunk, getPhase(root.firstUser)}].push_back(root);
      }
    }
  }
  SmallVector<Root> all;
  for (auto &[first, some] : roots)
    llvm::append_range(all, some);
  return all;
}

/// The ops of the value's cone that `chunk` lacks, in program order.
SmallVector<Operation *> ConeCloner::collect(Value value, int64_t chunk) {
  llvm::SetVector<Operation *> missing;
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Operation *def = work.pop_back_val().getDefiningOp();
    if (!def || getChunk(def, chunks) == chunk || copies[chunk].count(def) ||
        !missing.insert(def))
      continue;
    llvm::append_range(work, getRead(def));
  }
  SmallVector<Operation *> ops = missing.takeVector();
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

static int64_t getWork(ArrayRef<Operation *> ops) {
  int64_t work = 0;
  for (Operation *op : ops)
    if (auto model = dyn_cast<graph::CostOpInterface>(op)) {
      graph::OpCost cost = model.getCost();
      work += cost.flops + cost.transcendentals + cost.bytesRead +
              cost.bytesWritten;
    }
  return work;
}

void ConeCloner::clone(const Root &root) {
  SmallVector<Operation *> ops = collect(root.value, root.chunk);
  int64_t bytes = getBytes(root.value);
  if (getWork(ops) > bytes * kWorkOfSentByte)
    return;
  Copies &made = copies[root.chunk];
  IRMapping mapping;
  for (auto &[from, to] : made)
    mapping.map(from->getResults(), to->getResults());
  for (Operation *op : ops) {
    // After the original everything is there that the clone reads.
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Operation *copy = builder.clone(*op, mapping);
    copy->setAttr(DistDialect::kBlock,
                  root.firstUser->getAttr(DistDialect::kBlock));
    copy->setAttr(DistDialect::kPhase,
                  root.firstUser->getAttr(DistDialect::kPhase));
    made.insert({op, copy});
  }
  for (OpOperand *use : root.uses)
    use->set(mapping.lookup(root.value));
  bool isConstant = ops.size() == 1 && ops[0]->getNumOperands() == 0;
  if (!ops.empty() && !isConstant)
    remark::passed(root.value.getLoc(),
                   remark::RemarkOpts::name("CloneCone").category("layouts"))
        << std::to_string(ops.size()) + " ops are computed again in chunk " +
               std::to_string(root.chunk) + ", which saves a transfer of " +
               std::to_string(bytes) + " B";
}

void ConeCloner::eraseDead() {
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    if (cones.contains(&op))
      ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

void ConeCloner::run() {
  findCones();
  SmallVector<Root> roots = findRoots();
  for (const Root &root : roots)
    clone(root);
  if (!roots.empty())
    eraseDead();
}

void CloneConesPass::runOnOperation() {
  llvm::SmallPtrSet<Operation *, 8> done;
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    std::optional<ArrayRef<int64_t>> chunks = program.getChunks();
    if (program.kind == FunctionKind::Update || !chunks || chunks->empty() ||
        chunks->back() == 0 || !done.insert(program.function).second)
      continue;
    ConeCloner(program.function, *chunks).run();
  }
  if (done.empty())
    markAllAnalysesPreserved();
}
