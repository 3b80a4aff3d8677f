//===- InterpretMesh.cpp - A program on all devices of a mesh -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InterpretMesh.h.
//
//===----------------------------------------------------------------------===//

#include "InterpretMesh.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;

static LockstepOptions makeOptions(uint64_t seed) {
  LockstepOptions options;
  options.seed = seed;
  return options;
}

MeshRun::MeshRun(OwningOpRef<ModuleOp> module, ModuleOp whole, uint64_t seed)
    : local(std::move(module)), whole(whole),
      interpreter(*local, *local->getOps<dist::MeshOp>().begin(),
                  makeOptions(seed)) {}

LockstepStepInterpreter::InputSource
MeshRun::wholeInputs(const StepInterpreter::InputSource &source) {
  return [this, &source](StringRef name, int64_t step,
                         int64_t microbatch) -> FailureOr<HostTensor> {
    RankedTensorType type = getInputType(whole, name);
    if (!type)
      return mlir::emitError(whole.getLoc())
             << "expected an input of the whole program, got '" << name << "'";
    return source(name, step, microbatch, type);
  };
}

LogicalResult MeshRun::runStep(StringRef name, int64_t step,
                               const StepInterpreter::InputSource &source,
                               StepInterpreter::StepResult &result) {
  LockstepStepInterpreter::StepResult locals;
  if (failed(interpreter.runStep(name, step, wholeInputs(source), locals)))
    return failure();
  result.metrics = locals.metrics;
  for (auto &[state, value] : locals.gradients) {
    auto op = whole.lookupSymbol<dist::StateOp>(state);
    StringAttr of = op && op.isPart() ? op.getPartOfAttr().getAttr() : state;
    if (result.gradients.contains(of))
      continue;
    FailureOr<HostTensor> gradient =
        interpreter.gatherGradient(name, of.getValue(), locals);
    if (failed(gradient))
      return failure();
    result.gradients[of] = *gradient;
  }
  return success();
}

LogicalResult MeshRun::runEntry(StringRef name,
                                const StepInterpreter::InputSource &source,
                                func::FuncOp function,
                                SmallVectorImpl<HostTensor> &results) {
  SmallVector<RankedTensorType> types;
  for (Type type : function.getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  return interpreter.runEntry(name, 0, wholeInputs(source), types, results);
}

SmallVector<StringAttr> MeshRun::getWholeStates() {
  llvm::SetVector<StringAttr> names;
  for (StringAttr name : interpreter.getStateNames()) {
    auto state = whole.lookupSymbol<dist::StateOp>(name);
    names.insert(state && state.isPart() ? state.getPartOfAttr().getAttr()
                                         : name);
  }
  return names.takeVector();
}

HostTensor MeshRun::getState(StringRef name) {
  if (!whole.lookupSymbol<dist::StateOp>(name))
    return {};
  FailureOr<HostTensor> state = interpreter.getState(name);
  return succeeded(state) ? *state : HostTensor();
}

/// What the order of additions may change, relative to the largest element.
static double getBar(Type element) {
  if (element.isF64())
    return 1e-9;
  return element.isF32() ? 1e-3 : 0.1;
}

rt::Status MeshRun::compare(const std::string &what, const HostTensor &want,
                            const HostTensor &got) {
  if (!got || want.getType() != got.getType())
    return rt::makeError(rt::ErrorKind::mismatch,
                         what + ": expected a value of the whole's type");
  // A gradient that is zero but for rounding (a bias in front of a softmax)
  // must not be compared with itself.
  double largest = 0.01, distance = 0;
  for (int64_t i = 0; i < want.getNumElements(); ++i) {
    double x = want.getFloat(i), y = got.getFloat(i);
    largest = std::max(largest, std::fabs(x));
    bool isSame = x == y || (std::isnan(x) && std::isnan(y));
    double apart = isSame ? 0 : std::fabs(x - y);
    distance = std::max(distance, std::isnan(apart) ? INFINITY : apart);
  }
  ++numCompared;
  distance /= largest;
  if (distance > farthest) {
    farthest = distance;
    farthestName = what;
  }
  if (distance <= getBar(want.getElementType()))
    return rt::Status::success();
  std::string text;
  llvm::raw_string_ostream(text)
      << what << ": expected the whole program's value, got one "
      << llvm::format("%.3g", distance) << " of its largest element away";
  return rt::makeError(rt::ErrorKind::mismatch, text);
}

LogicalResult MeshRun::compareStep(int64_t step, const StepInterpreter &global,
                                   const StepInterpreter::StepResult &want,
                                   const StepInterpreter::StepResult &got) {
  std::string where = " of step " + std::to_string(step);
  auto check = [&](const std::string &what, const HostTensor &x,
                   const HostTensor &y) -> LogicalResult {
    if (rt::Status status = compare(what + where, x, y); !status)
      return emitRefusal(whole.getLoc(), status.kind()) << status.message();
    return success();
  };
  for (auto &[name, value] : want.metrics)
    if (failed(check(name.str(), value, got.metrics.lookup(name))))
      return failure();
  for (auto &[name, value] : want.gradients)
    if (failed(check(getGradientName(name), value, got.gradients.lookup(name))))
      return failure();
  // Wholes, not parts: of a bias that cancels out (that of the keys), all is
  // rounding, which counts only beside the other parts.
  for (StringAttr name : getWholeStates())
    if (failed(check(name.str(), global.getState(name), getState(name))))
      return failure();
  return success();
}

void MeshRun::report() const {
  llvm::outs() << "check: " << numCompared
               << " values agree with the whole program; farthest: "
               << farthestName << ", " << llvm::format("%.3g", farthest)
               << "\n";
}
