//===- MeshCasePlan.cpp - A random program as a plan ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's text goes through the driver's compilation, kernels included,
// and the executor runs the plan on virtual devices of this process. Metrics,
// gradients and states are compared with the interpreter's for the whole.
//
//===----------------------------------------------------------------------===//

#include "MeshCase.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Driver/Compile.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Names.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static rt::HostTensor toRuntime(const HostTensor &tensor) {
  rt::HostTensor result = rt::HostTensor::zeros(
      *dist::getRuntimeDType(tensor.getElementType()),
      std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()));
  std::memcpy(result.bytes.data(), tensor.bytes(), tensor.getNumBytes());
  return result;
}

static HostTensor fromRuntime(const rt::HostTensor &tensor, Type element) {
  HostTensor result(element, tensor.shape);
  std::memcpy(result.mutableBytes(), tensor.bytes.data(),
              std::min<size_t>(result.getNumBytes(), tensor.bytes.size()));
  return result;
}

const rt::plan::Entry &MeshCase::getPlanEntry(StringRef name) {
  return *llvm::find_if(session->plan().entries, [&](const auto &entry) {
    return StringRef(entry.name) == name;
  });
}

rt::Result<HostTensor> MeshCase::fetchFromPlan(const std::string &name,
                                               Type element) {
  LLMC_TRY_ASSIGN(rt::HostTensor value, session->fetch(name));
  return fromRuntime(value, element);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

rt::Status MeshCase::openPlan(const std::string &folder) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return rt::makeError(rt::ErrorKind::usage, folder + ": " + code.message());
  driver::Options options;
  options.input = folder + "/program.mlir";
  options.compileFrom = hasRandomTable ? "layouts" : "training";
  options.fetch = {"grad.*"};
  LLMC_TRY(driver::readEnvironment(options));
  LLMC_TRY(rt::writeFileAtomically(options.input,
                                   printed(hasRandomTable ? *local : *whole)));
  std::unique_ptr<MLIRContext> all = driver::makeContext();
  rt::Result<std::string> path =
      driver::compileToPlan(*all, options, rt::Config(), folder);
  // Some gradients are nowhere as a whole: their updates add up in parts.
  if (!path && rt::describe(path.error()).find("which is to be fetched") !=
                   std::string::npos) {
    options.fetch.clear();
    hasGradients = false;
    path = driver::compileToPlan(*all, options, rt::Config(), folder);
  }
  if (!path)
    return path.status();
  rt::SessionOptions sessionOptions;
  sessionOptions.trustKernels = true;
  sessionOptions.seed = seed;
  LLMC_TRY_ASSIGN(session, rt::openPlanFile(*path, sessionOptions));
  return rt::Status::success();
}

rt::Status MeshCase::givePlanInputs(const std::string &entry, int64_t step,
                                    func::FuncOp function,
                                    int64_t microbatches) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    StringAttr name = dist::getInput(dist::getArgumentPort(function, i));
    // An input that nothing reads is not in the plan.
    if (!name || llvm::none_of(getPlanEntry(entry).inputs, [&](auto &each) {
          return name.getValue() == StringRef(each.name);
        }))
      continue;
    auto type = cast<RankedTensorType>(function.getArgument(i).getType());
    for (int64_t m = 0; m < microbatches; ++m)
      LLMC_TRY(session->setInput(
          entry, name.str(), m,
          toRuntime(giveInput(name.getValue(), step, m, type))));
  }
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static std::string compareFetched(const Twine &what, const HostTensor &want,
                                  const rt::Result<HostTensor> &got,
                                  double tolerance) {
  std::string error =
      got ? compareTensors(want, *got, tolerance) : rt::describe(got.error());
  return error.empty() ? "" : (what + ": " + error).str();
}

/// Metrics, gradients and states after a step.
std::string MeshCase::comparePlan(const StepInterpreter &expected,
                                  const StepInterpreter::StepResult &want) {
  bool isExact = kind == CaseKind::Exact;
  double tolerance = isExact ? 0 : kStepTolerance;
  for (auto &[name, value] : want.metrics) {
    // A norm is a square root.
    bool isRounded = isExact && name.getValue() == "grad_norm";
    if (std::string error = compareFetched(
            "metric " + name.getValue(), value,
            fetchFromPlan("metric." + name.str(), value.getElementType()),
            isRounded ? kStepTolerance : tolerance);
        !error.empty())
      return error;
  }
  for (auto &[name, value] : want.gradients) {
    if (!hasGradients)
      break;
    if (std::string error = compareFetched(
            "gradient of " + name.getValue(), value,
            fetchFromPlan(getGradientName(name), value.getElementType()),
            tolerance);
        !error.empty())
      return error;
  }
  for (auto &[name, value] : expected.getStates()) {
    if (whole->lookupSymbol<dist::StateOp>(name).isPart())
      continue;
    if (std::string error =
            compareFetched("state " + name.getValue(), value,
                           fetchFromPlan(rt::unescapeName(name.getValue()),
                                         value.getElementType()),
                           tolerance);
        !error.empty())
      return error;
  }
  return "";
}

/// All copies of a state have the same bits.
std::string MeshCase::compareCopies(const StepInterpreter &expected) {
  for (auto &[name, value] : expected.getStates()) {
    if (whole->lookupSymbol<dist::StateOp>(name).isPart())
      continue;
    rt::Result<bool> agree =
        session->copiesAgree(rt::unescapeName(name.getValue()));
    if (!agree || !*agree)
      return "copies of state " + name.str() + " differ";
  }
  return "";
}

std::string MeshCase::comparePlanSteps() {
  bool isExact = kind == CaseKind::Exact;
  StepInterpreter expected(*whole);
  if (failed(expected.initializeStates(seed)))
    return "no states";
  if (isExact)
    setIntegers(expected);
  for (auto &[name, value] : expected.getStates())
    if (isExact && !whole->lookupSymbol<dist::StateOp>(name).isPart())
      if (rt::Status status = session->writeState(
              rt::unescapeName(name.getValue()), toRuntime(value));
          !status.ok())
        return rt::describe(status.error());
  auto step = whole->lookupSymbol<dist::StepOp>("train");
  auto function = whole->lookupSymbol<func::FuncOp>(step.getMicrobatch());
  for (int64_t i = 0; i < (isExact ? 1 : 2); ++i) {
    StepInterpreter::StepResult want;
    if (failed(expected.runStep(
            "train", i,
            [&](StringRef name, int64_t step, int64_t m,
                RankedTensorType type) -> FailureOr<HostTensor> {
              return giveInput(name, step, m, type);
            },
            want)))
      return "not evaluated";
    rt::Status status =
        givePlanInputs("train", i, function, step.getMicrobatches());
    if (status.ok())
      status = session->run("train", i);
    if (!status.ok())
      return "step " + std::to_string(i) + ": " + rt::describe(status.error());
    if (isExact && !isRepresentable(expected, want)) {
      skipped = true;
      return "numbers too large for exact sums";
    }
    if (std::string error = compareCopies(expected); !error.empty())
      return "step " + std::to_string(i) + ": " + error;
    if (std::string error = comparePlan(expected, want); !error.empty()) {
      skipped = !isExact && areStepsIllConditioned(i + 1);
      return "step " + std::to_string(i) + ": " + error;
    }
  }
  return "";
}

std::string MeshCase::comparePlanEntry() {
  StepInterpreter expected(*whole);
  SmallVector<HostTensor> want;
  if (failed(expected.initializeStates(seed)) ||
      failed(expected.runEntry(
          "forward", 0,
          [&](StringRef name, int64_t step, int64_t m,
              RankedTensorType type) -> FailureOr<HostTensor> {
            return giveInput(name, step, m, type);
          },
          want)))
    return "not evaluated";
  rt::Status status = givePlanInputs("forward", 0, getFunction(*whole), 1);
  if (status.ok())
    status = session->run("forward", 0);
  if (!status.ok())
    return rt::describe(status.error());
  for (auto [i, value] : llvm::enumerate(want)) {
    std::string name = "y" + std::to_string(i);
    std::string error =
        compareFetched("result " + name, value,
                       fetchFromPlan(name, value.getElementType()), 1e-11);
    if (!error.empty()) {
      skipped = isIllConditioned(want);
      return error;
    }
  }
  return "";
}

std::string MeshCase::runPlan(const std::string &folder) {
  std::string error = makeProgram();
  if (error.empty() && hasRandomTable) {
    local = whole->clone();
    error = drawTables();
  }
  if (!error.empty())
    return error;
  if (rt::Status status = openPlan(folder); !status.ok())
    return rt::describe(status.error());
  return kind == CaseKind::Graph ? comparePlanEntry() : comparePlanSteps();
}
