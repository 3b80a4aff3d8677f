//===- CheckRules.cpp - Functions whose own derivative is lost ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %c = constant 2.0     loc("f/custom_vjp_call"  at model.py:40)
//   %b = broadcast %c     loc("f/mul"  clip at clip.py:7, at model.py:40)
//   %y = multiply %x, %b  loc("f/mul"  clip at clip.py:7, at model.py:40)
//
// JAX prints the ops of a function with a rule of its own, and not the rule.
// Its name stands where the constants of the body are made, with the frames of
// the call. An op that such a constant reaches belongs to the body when its
// frames are those of the call (JAX does not print its own) or start inside of
// it. A body without constants, or one that was jitted, leaves no trace.
//
// Test: test/Transforms/Training/check-rules.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "Activity.h"
#include "KnownFunctions.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/CallPlace.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Training/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace llmc {
#define GEN_PASS_DEF_CHECKRULESPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

namespace {
/// One frame of the user's program, innermost first in a list of them.
struct Frame {
  StringRef function;
  FileLineColLoc place;
  bool operator==(const Frame &other) const {
    return function == other.function && place == other.place;
  }
};
using Frames = SmallVector<Frame>;
} // namespace

/// The place of a call is none of the op's own frames.
static void collectFrames(Location loc, StringRef name, Frames &frames) {
  if (isCallPlace(loc))
    return;
  if (auto place = dyn_cast<FileLineColLoc>(loc)) {
    frames.push_back({name, place});
  } else if (auto named = dyn_cast<NameLoc>(loc)) {
    collectFrames(named.getChildLoc(), named.getName(), frames);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectFrames(call.getCallee(), name, frames);
    collectFrames(call.getCaller(), name, frames);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectFrames(part, name, frames);
  }
}

static Frames getFrames(Operation *op) {
  Frames frames;
  collectFrames(op->getLoc(), "", frames);
  return frames;
}

/// How many frames `inner` is inside of `outer`: 0 for the same, nothing where
/// it is not inside. JAX cuts long lists off at their outer end.
static std::optional<size_t> countInside(ArrayRef<Frame> inner,
                                         ArrayRef<Frame> outer) {
  for (size_t skipped = 0; skipped <= inner.size(); ++skipped) {
    ArrayRef<Frame> rest = inner.drop_front(skipped);
    bool isCut = rest.size() < outer.size() && skipped > 0 && !rest.empty();
    if (rest == outer.take_front(rest.size()) &&
        (rest.size() == outer.size() || isCut))
      return skipped;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

namespace {
/// An op of a body, and the op whose location says that there is a rule.
struct Finding {
  Operation *op, *mark;
  /// Frames of the op inside of the call.
  size_t depth;
};
} // namespace

/// Where JAX says that an op stands: "jit(f)/jit(slogdet)/mul".
static StringRef getPath(Operation *op) {
  StringRef path;
  op->getLoc()->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named || !named.getName().getValue().contains('/'))
      return WalkResult::advance();
    path = named.getName();
    return WalkResult::interrupt();
  });
  return path;
}

/// The first active ops that the results of `mark` reach and that belong to the
/// same body. A function that is jitted itself may have lost the frames of its
/// call: then the path alone says what is inside.
static void findUses(Operation *mark, const llvm::DenseSet<Value> &active,
                     SmallVectorImpl<Finding> &findings) {
  auto isActive = [&](Operation *op) {
    return llvm::any_of(op->getResults(),
                        [&](Value v) { return active.contains(v); });
  };
  Frames call = getFrames(mark);
  StringRef path = call.empty() ? getPath(mark) : "";
  path = path.take_front(path.rfind('/') + 1);
  llvm::SetVector<Operation *> reached;
  reached.insert(mark);
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i];
    std::optional<size_t> depth = countInside(getFrames(op), call);
    if (!depth || !getPath(op).starts_with(path))
      continue;
    if (isActive(op))
      findings.push_back({op, mark, *depth});
    else
      reached.insert(op->user_begin(), op->user_end());
  }
}

/// `custom_vjp` or `custom_jvp`.
static StringRef getRuleKind(Operation *mark) {
  StringRef kind = "custom_jvp";
  mark->getLoc()->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (named && named.getName().getValue().contains("custom_vjp_call"))
      kind = "custom_vjp";
    return WalkResult::advance();
  });
  return kind;
}

/// The user's function, or the innermost jitted one of JAX's.
static std::string getFunctionName(const Finding &finding) {
  if (finding.depth > 0)
    return getFrames(finding.op)[finding.depth - 1].function.str();
  std::string name;
  finding.mark->getLoc()->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named || !name.empty())
      return WalkResult::advance();
    StringRef path = named.getName();
    if (size_t at = path.rfind("jit("); at != StringRef::npos && at > 0)
      name = path.substr(at + 4).take_until([](char c) { return c == ')'; });
    return WalkResult::advance();
  });
  return name;
}

static LogicalResult refuse(const Finding &finding, size_t others) {
  std::string name = getFunctionName(finding);
  InFlightDiagnostic diag = emitRefusal(finding.op->getLoc());
  diag << "expected functions without a derivative rule of their own, got "
       << (name.empty() ? "one of JAX's" : "'" + name + "'") << " with a "
       << getRuleKind(finding.mark) << ", which the text has lost";
  if (others)
    diag << " (and " << others << " more ops of such functions)";
  return diag << "; write it without the rule, or set training.derivative = "
                 "\"of the text\" if the derivative of its ops is meant";
}

static LogicalResult check(func::FuncOp function) {
  std::optional<unsigned> loss;
  SmallVector<bool> wanted;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (dist::isPort(dist::getResultPort(function, i), dist::PortKind::Loss))
      loss = i;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    wanted.push_back(training::isParameter(function, i));
  if (!loss)
    return success();
  llvm::DenseSet<Value> active = training::findActiveValues(
      function, wanted, function.front().getTerminator()->getOperand(*loss));
  SmallVector<Finding> findings;
  for (Operation &op : function.front().without_terminator())
    if (training::hasRuleMark(&op))
      findUses(&op, active, findings);
  if (findings.empty())
    return success();
  training::KnownFunctions known(function.getContext());
  llvm::DenseSet<Operation *> explained;
  for (Operation &op : function.front().without_terminator())
    if (std::optional<training::KnownCall> call = known.match(&op))
      explained.insert(call->body.begin(), call->body.end());
  llvm::erase_if(findings, [&](const Finding &finding) {
    return finding.depth == 0 &&
           (explained.contains(finding.op) ||
            known.hasDerivativeOfOps(getFunctionName(finding)));
  });
  return findings.empty() ? success()
                          : refuse(findings.front(), findings.size() - 1);
}

namespace {

struct CheckRulesPass : llmc::impl::CheckRulesPassBase<CheckRulesPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto recipe : getOperation().getOps<dist::TrainingOp>()) {
      if (recipe.getDerivativeOfText())
        continue;
      auto function = getOperation().lookupSymbol<func::FuncOp>(
          recipe.getForwardAttr().getAttr());
      if (!function.isExternal() && !training::hasDerivative(function) &&
          failed(check(function)))
        return signalPassFailure();
    }
  }
};

} // namespace
