//===- MeshCase.cpp - A random program in random layouts ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MeshCase.h.
//
//===----------------------------------------------------------------------===//

#include "MeshCase.h"
#include "ClosedPrograms.h"
#include "ModelText.h"
#include "RandomPrograms.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llmc/Transforms/Training/Passes.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;
using dist::DistDialect;

MeshCase::MeshCase(GraphContext &context, CaseKind kind,
                   const std::string &mesh, uint64_t seed)
    : context(context), kind(kind), mesh(mesh), seed(seed),
      engine(seed * 7 + 1) {}

std::string MeshCase::printed(ModuleOp of) {
  std::string text;
  llvm::raw_string_ostream os(text);
  of.print(os);
  return text;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Arguments become inputs and states, ops get ascending blocks.
static void makeEntry(ModuleOp module, int64_t numBlocks,
                      std::mt19937_64 &engine) {
  func::FuncOp function = getFunction(module);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  dist::Signature signature(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = "x" + std::to_string(i);
    auto type = cast<RankedTensorType>(function.getArgument(i).getType());
    bool isState = engine() % 3 == 0;
    if (!isState) {
      signature.arguments[i] = dist::PortAttr::get(
          builder.getContext(), dist::PortKind::Input, StringRef(name));
      continue;
    }
    dist::StateOp::create(
        builder, function.getLoc(), name, type, dist::Role::Parameter,
        dist::DrawAttr::get(builder.getContext(), dist::DrawKind::Uniform,
                            {-1.0, 1.0}));
    signature.arguments[i] =
        dist::PortAttr::get(builder.getContext(), dist::PortKind::Parameter,
                            FlatSymbolRefAttr::get(builder.getContext(), name));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    signature.results[i] =
        dist::PortAttr::get(builder.getContext(), dist::PortKind::Output,
                            StringRef("y" + std::to_string(i)));
  signature.write(function);
  dist::EntryOp::create(builder, function.getLoc(),
                        builder.getStringAttr("forward"), FlatSymbolRefAttr(),
                        FlatSymbolRefAttr::get(function.getSymNameAttr()),
                        DenseI64ArrayAttr(), dist::TableAttr());
  Block &body = function.getBody().front();
  int64_t count = static_cast<int64_t>(body.getOperations().size()), i = 0;
  for (Operation &op : body.without_terminator()) {
    op.setAttr(DistDialect::kBlock,
               builder.getI64IntegerAttr(i++ * numBlocks / count));
    op.setAttr(DistDialect::kPhase, dist::PhaseAttr::get(builder.getContext(),
                                                         dist::Phase::Forward));
  }
}

std::string MeshCase::makeGraph() {
  ProgramOptions options;
  options.seed = seed;
  options.numRecipes = 5;
  options.firstRecipe = static_cast<int>(seed % getNumRecipes(options));
  std::string text =
      "dist.mesh @mesh = " + mesh + "\n" + test::makeProgram(options);
  whole = context.parse(text);
  if (!whole || !closeRegions(*whole))
    return "not parsed\n" + text;
  makeEntry(*whole, getPipelineSize(getMeshOp(*whole)) + 1, engine);
  return "";
}

std::string MeshCase::makeTraining() {
  ModelOptions options;
  options.seed = seed;
  options.exact = kind == CaseKind::Exact;
  options.mesh = mesh;
  std::string text = makeModel(options);
  whole = context.parse(text);
  if (!whole)
    return "not parsed\n" + text;
  // What is split where its uses are slices is stored in parts by phase 1.
  if (!hasRandomTable && engine() % 2)
    decorateStates();
  PassManager manager(context.get());
  buildTrainingPipeline(manager);
  if (failed(manager.run(*whole)))
    return "phase 1 fails\n" + text;
  return "";
}

bool MeshCase::hasEnoughBlocks() {
  int64_t stages = getPipelineSize(getMeshOp(*whole));
  for (ProgramFunction &program : getProgramFunctions(*whole)) {
    int64_t blocks = 0;
    program.function.walk([&](Operation *op) {
      if (getPhase(op).value_or(dist::Phase::Forward) == dist::Phase::Forward)
        blocks = std::max(blocks, getBlock(op).value_or(0) + 1);
    });
    if (program.kind != FunctionKind::Update && blocks < stages)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

std::string MeshCase::runPhase(const char *name,
                               void (*build)(OpPassManager &)) {
  PassManager manager(context.get());
  build(manager);
  std::string before;
  if (std::getenv("LLMC_TEST_SHOW"))
    before = printed(*local);
  if (succeeded(manager.run(*local)))
    return "";
  return std::string("phase ") + name + " fails\n" + printed(*whole) + before;
}

static void buildChunks(OpPassManager &manager) {
  manager.addPass(createAssignChunksPass());
}
static void buildVerify(OpPassManager &manager) {
  manager.addPass(createVerifyLayoutsPass());
}

std::string MeshCase::drawTables() {
  std::string error = runPhase("2a", buildChunks);
  if (!error.empty())
    return error;
  llvm::SmallPtrSet<Operation *, 8> done;
  for (ProgramFunction &program : getProgramFunctions(*local))
    if (done.insert(program.function).second)
      drawTable(program.function);
  whole = local->clone();
  return runPhase("2b", buildVerify);
}

std::string MeshCase::compile() {
  local = whole->clone();
  std::string error =
      hasRandomTable ? drawTables() : runPhase("2", buildLayoutPipeline);
  if (error.empty())
    error = runPhase("3", buildMaterializePipeline);
  if (error.empty())
    error = runPhase("4", buildPartitionPipeline);
  return error;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

HostTensor MeshCase::giveInput(StringRef name, int64_t step, int64_t microbatch,
                               RankedTensorType type, double noise) {
  std::mt19937_64 draw(seed * 1000 + step * 100 + microbatch * 10 +
                       name.size() + name.back());
  HostTensor tensor(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double value = static_cast<double>(draw() >> 11) * 0x1p-53;
    if (!tensor.isFloat())
      tensor.setInt(i, static_cast<int64_t>(value * 7));
    else if (kind == CaseKind::Exact)
      tensor.setFloat(i, std::floor(value * 5) - 2);
    else
      tensor.setFloat(i, (2 * value - 1) * (1 + noise * (value - 0.5)));
  }
  return tensor;
}

/// Parameters of an exact model are small integers.
void MeshCase::setIntegers(StepInterpreter &interpreter) {
  NamedTensors states = interpreter.getStates();
  for (auto &[name, value] : states) {
    auto state = getReference().lookupSymbol<dist::StateOp>(name);
    if (state.getRole() != dist::Role::Parameter || !value.isFloat())
      continue;
    for (int64_t i = 0; i < value.getNumElements(); ++i)
      value.setFloat(i, static_cast<double>(engine() % 3) - 1);
    (void)interpreter.setState(name, value);
  }
}

static void addCounts(OpCounts &counts, const LockstepInterpreter &lockstep) {
  for (auto &entry : lockstep.getOpCounts())
    counts[entry.getKey().str()] += entry.getValue();
}

/// Whether sums of these values are far from the end of exact integers.
bool MeshCase::isRepresentable(const StepInterpreter &interpreter,
                               const StepInterpreter::StepResult &result) {
  auto isSmall = [](auto &entry) {
    const HostTensor &tensor = entry.second;
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      if (!(std::fabs(tensor.getFloat(i)) < 0x1p40))
        return false;
    return true;
  };
  return llvm::all_of(interpreter.getStates(), isSmall) &&
         llvm::all_of(result.metrics, isSmall);
}

/// Metrics and states after a step.
std::string
MeshCase::compareStep(const StepInterpreter &expected,
                      const StepInterpreter::StepResult &want,
                      LockstepStepInterpreter &lockstep,
                      const LockstepStepInterpreter::StepResult &got) {
  bool isExact = kind == CaseKind::Exact;
  double tolerance = isExact ? 0 : stepTolerance;
  for (auto &[name, value] : want.metrics) {
    // A norm is a square root.
    bool isRounded = isExact && name.getValue() == "grad_norm";
    std::string error = compareTensors(value, got.metrics.lookup(name),
                                       isRounded ? kStepTolerance : tolerance);
    if (!error.empty())
      return "metric " + name.str() + ": " + error;
  }
  for (auto &[name, value] : expected.getStates()) {
    // The other program may have the state in parts.
    if (reference && !whole->lookupSymbol(name))
      continue;
    FailureOr<HostTensor> state = lockstep.getState(name);
    std::string error = failed(state)
                            ? "cannot be gathered"
                            : compareTensors(value, *state, tolerance);
    if (!error.empty())
      return "state " + name.str() + ": " + error;
  }
  return "";
}

/// The states as the devices' program has them: in other parts, perhaps.
NamedTensors MeshCase::getStates(const StepInterpreter &expected) {
  if (!reference)
    return expected.getStates();
  StepInterpreter parts(*whole);
  (void)parts.initializeStates(seed);
  for (auto &[name, value] : expected.getStates())
    (void)parts.setState(name, value);
  return parts.getStates();
}

std::string MeshCase::compareSteps(OpCounts &counts) {
  bool isExact = kind == CaseKind::Exact;
  StepInterpreter expected(getReference());
  LockstepStepInterpreter lockstep(*local, getMeshOp(*local));
  if (failed(expected.initializeStates(seed)))
    return "no states";
  if (isExact)
    setIntegers(expected);
  if (failed(lockstep.setStates(getStates(expected))))
    return "no local states";
  for (int64_t step = 0; step < (isExact ? 1 : 2); ++step) {
    StepInterpreter::StepResult want;
    LockstepStepInterpreter::StepResult got;
    auto give = [&](StringRef name, int64_t step, int64_t m,
                    RankedTensorType type) -> FailureOr<HostTensor> {
      return giveInput(name, step, m, type);
    };
    auto giveWhole = [&](StringRef name, int64_t step, int64_t m) {
      return give(name, step, m, getInputType(*whole, name));
    };
    if (failed(expected.runStep("train", step, give, want)))
      return "not evaluated";
    if (failed(lockstep.runStep("train", step, giveWhole, got)))
      return "not run in lockstep\n" + printed(*whole);
    addCounts(counts, lockstep.getInterpreter());
    if (isExact && !isRepresentable(expected, want)) {
      skipped = true;
      return "numbers too large for exact sums";
    }
    if (std::string error = compareStep(expected, want, lockstep, got);
        !error.empty()) {
      skipped = !isExact && areStepsIllConditioned(step + 1);
      return error + " after step " + std::to_string(step) + "\n" +
             printed(*whole);
    }
  }
  return "";
}

/// The types of what the entry's function returns.
static SmallVector<RankedTensorType> getResultTypes(ModuleOp module) {
  auto entry = module.lookupSymbol<dist::EntryOp>("forward");
  auto function = module.lookupSymbol<func::FuncOp>(entry.getFunction());
  SmallVector<RankedTensorType> types;
  for (Type type : function.getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  return types;
}

std::string MeshCase::compareEntry(OpCounts &counts) {
  StepInterpreter expected(getReference());
  LockstepStepInterpreter lockstep(*local, getMeshOp(*local));
  SmallVector<HostTensor> want, got;
  SmallVector<RankedTensorType> types = getResultTypes(*whole);
  if (failed(expected.initializeStates(seed)) ||
      failed(lockstep.setStates(getStates(expected))) ||
      failed(expected.runEntry(
          "forward", 0,
          [&](StringRef name, int64_t step, int64_t m,
              RankedTensorType type) -> FailureOr<HostTensor> {
            return giveInput(name, step, m, type);
          },
          want)))
    return "not evaluated\n" + printed(*whole);
  if (failed(lockstep.runEntry(
          "forward", 0,
          [&](StringRef name, int64_t step,
              int64_t m) -> FailureOr<HostTensor> {
            return giveInput(name, step, m, getInputType(*whole, name));
          },
          types, got)))
    return "not run in lockstep\n" + printed(*whole);
  addCounts(counts, lockstep.getInterpreter());
  for (auto [i, value] : llvm::enumerate(want))
    if (std::string error = compareTensors(value, got[i], 1e-11);
        !error.empty()) {
      skipped = isIllConditioned(want);
      return "result " + std::to_string(i) + ": " + error + "\n" +
             printed(*whole);
    }
  return "";
}

std::string MeshCase::makeProgram() {
  std::string error;
  if (!reference)
    error = kind == CaseKind::Graph ? makeGraph() : makeTraining();
  if (!error.empty())
    return error;
  if (!hasEnoughBlocks()) {
    skipped = true;
    return "fewer blocks than stages";
  }
  if (!hasRandomTable && !reference)
    decorate();
  return "";
}

std::string MeshCase::run(OpCounts &counts) {
  std::string error = makeProgram();
  if (error.empty())
    error = compile();
  if (!error.empty())
    return error;
  error = kind == CaseKind::Graph ? compareEntry(counts) : compareSteps(counts);
  if (!error.empty() && std::getenv("LLMC_TEST_SHOW"))
    error += printed(*local);
  return error;
}
