//===- LayoutCheck.cpp - Layouts of an op against its rule ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LayoutCheck.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/LayoutCheck.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llmc;
using namespace llmc::graph;
using dist::LayoutAttr;

namespace {
/// Which axes split a factor, and what tensor says so.
struct Split {
  FactorSplit split;
  std::string where;
};

class Checker {
public:
  explicit Checker(const LayoutProblem &problem) : problem(problem) {}

  std::string run() {
    splits.resize(problem.rule.factors.size());
    readAll();
    if (reason.empty())
      checkHomes();
    for (mlir::StringAttr axis : problem.mesh.getNames()) {
      if (reason.empty())
        checkAxis(axis.getValue());
      if (reason.empty())
        checkPins(axis.getValue());
    }
    return reason;
  }

private:
  void fail(std::string text) {
    if (reason.empty())
      reason = std::move(text);
  }
  std::string factorName(int factor) const {
    return "factor " + std::to_string(factor);
  }
  void readAll();
  void readTensor(LayoutAttr layout, const TensorFactors &factors,
                  const std::string &where);
  void unify(int factor, Split split);
  void checkHomes();
  void checkAxis(StringRef axis);
  void checkPins(StringRef axis);
  std::optional<ReductionKind>
  expectedPartial(StringRef axis, ArrayRef<int> partialOperands,
                  std::optional<ReductionKind> kind);
  std::optional<ReductionKind>
  throughReduced(StringRef axis, int factor, ArrayRef<int> partialOperands,
                 std::optional<ReductionKind> kind);
  std::optional<ReductionKind> throughLinear(StringRef axis,
                                             ArrayRef<int> partialOperands,
                                             ReductionKind kind);

  const LayoutProblem &problem;
  SmallVector<std::optional<Split>> splits;
  /// The factor that an axis splits.
  llvm::MapVector<StringRef, int> home;
  std::string reason;
};
} // namespace

void Checker::readAll() {
  for (auto [i, layout] : llvm::enumerate(problem.operands))
    readTensor(layout, problem.rule.operands[i], "#" + std::to_string(i));
  for (auto [i, layout] : llvm::enumerate(problem.results))
    readTensor(layout, problem.rule.results[i], "result " + std::to_string(i));
}

void Checker::readTensor(LayoutAttr layout, const TensorFactors &factors,
                         const std::string &where) {
  if (!layout)
    return;
  std::string unreadable =
      projectToFactors(layout, factors, problem.rule.factors, problem.mesh,
                       where, [&](int factor, const FactorSplit &split) {
                         unify(factor, {split, where});
                       });
  if (!unreadable.empty())
    fail(std::move(unreadable));
}

void Checker::unify(int factor, Split split) {
  std::optional<Split> &known = splits[factor];
  if (!known) {
    known = std::move(split);
    return;
  }
  if (known->split.axes != split.split.axes)
    return fail(factorName(factor) + " is split by " +
                showAxes(known->split.axes) + " in " + known->where +
                " and by " + showAxes(split.split.axes) + " in " + split.where);
  int64_t size = problem.rule.factors[factor].size;
  if (known->split.atoms != split.split.atoms)
    fail(factorName(factor) + " has extent " +
         std::to_string(known->split.getExtent(size)) + " in " + known->where +
         " and " + std::to_string(split.split.getExtent(size)) + " in " +
         split.where);
}

void Checker::checkHomes() {
  for (auto [factor, known] : llvm::enumerate(splits)) {
    if (!known)
      continue;
    const FactorSplit &split = known->split;
    for (dist::AxisAttr axis : split.axes) {
      auto [place, isNew] =
          home.insert({axis.getName().getValue(), static_cast<int>(factor)});
      if (!isNew && place->second != static_cast<int>(factor))
        return fail("axis \"" + axis.getName().str() + "\" splits " +
                    factorName(place->second) + " and " + factorName(factor));
    }
    FactorKind kind = problem.rule.factors[factor].kind;
    if ((kind == FactorKind::Whole || kind == FactorKind::Permuted) &&
        !split.isWhole())
      return fail(factorName(factor) + " must be whole, but is " +
                  (split.axes.empty()
                       ? "padded to " + std::to_string(split.getExtent(
                                            problem.rule.factors[factor].size))
                       : "split by " + showAxes(split.axes)));
  }
}

static std::optional<ReductionKind> partialKind(LayoutAttr layout,
                                                StringRef axis) {
  if (!layout)
    return std::nullopt;
  if (auto kind = layout.getPartialKind(axis))
    return *kind;
  return std::nullopt;
}

void Checker::checkAxis(StringRef axis) {
  SmallVector<int> partialOperands;
  std::optional<ReductionKind> kind;
  for (auto [i, layout] : llvm::enumerate(problem.operands))
    if (auto found = partialKind(layout, axis)) {
      if (kind && *kind != *found)
        return fail("operands are partial over \"" + axis.str() +
                    "\" with kinds " + std::string(nameOf(*kind)) + " and " +
                    std::string(nameOf(*found)));
      kind = found;
      partialOperands.push_back(i);
    }
  std::optional<ReductionKind> want =
      expectedPartial(axis, partialOperands, kind);
  if (!reason.empty())
    return;
  for (LayoutAttr result : problem.results) {
    std::optional<ReductionKind> is = partialKind(result, axis);
    if (is == want || !result)
      continue;
    return fail(want
                    ? "result must be partial (" + std::string(nameOf(*want)) +
                          ") over \"" + axis.str() + "\""
                    : "result must be full over \"" + axis.str() +
                          "\", got partial (" + std::string(nameOf(*is)) + ")");
  }
}

static std::string showPin(ArrayRef<int64_t> pin) {
  std::string text;
  for (int64_t coordinate : pin)
    text += (text.empty() ? "" : ", ") + std::to_string(coordinate);
  return pin.empty() ? "everywhere" : "at [" + text + "]";
}

/// An op lives where its first result does: all results there, operands at
/// least there, and exactly there when they are partial over the axis.
void Checker::checkPins(StringRef axis) {
  std::optional<ArrayRef<int64_t>> lives;
  for (LayoutAttr result : problem.results) {
    if (!result)
      continue;
    ArrayRef<int64_t> pin = result.getPin(axis);
    if (lives && *lives != pin)
      return fail("results live " + showPin(*lives) + " and " + showPin(pin));
    lives = pin;
  }
  if (!lives)
    return;
  for (auto [i, layout] : llvm::enumerate(problem.operands)) {
    if (!layout)
      continue;
    ArrayRef<int64_t> pin = layout.getPin(axis);
    if (layout.getPartialKind(axis) && pin != *lives)
      return fail("#" + std::to_string(i) + " is partial over \"" + axis.str() +
                  "\" " + showPin(pin) + ", the op lives " + showPin(*lives));
    bool isThere = !lives->empty() && llvm::all_of(*lives, [&](int64_t c) {
      return llvm::is_contained(pin, c);
    });
    if (!pin.empty() && !isThere)
      return fail("#" + std::to_string(i) + " lives " + showPin(pin) +
                  ", the op " + showPin(*lives));
  }
}

std::optional<ReductionKind>
Checker::expectedPartial(StringRef axis, ArrayRef<int> partialOperands,
                         std::optional<ReductionKind> kind) {
  auto place = home.find(axis);
  if (place != home.end() &&
      problem.rule.factors[place->second].kind == FactorKind::Reduced)
    return throughReduced(axis, place->second, partialOperands, kind);
  if (!partialOperands.empty() && place != home.end()) {
    fail("#" + std::to_string(partialOperands.front()) + " is partial over \"" +
         axis.str() + "\", which also splits " + factorName(place->second) +
         ": reduce it first");
    return std::nullopt;
  }
  if (!partialOperands.empty())
    return throughLinear(axis, partialOperands, *kind);
  return std::nullopt;
}

/// The axis splits a reduced factor: terms of one sum must all be partial.
std::optional<ReductionKind>
Checker::throughReduced(StringRef axis, int factor,
                        ArrayRef<int> partialOperands,
                        std::optional<ReductionKind> kind) {
  ReductionKind reduction = problem.rule.factors[factor].reduction;
  ArrayRef<int> addends = problem.rule.addends;
  for (int i : partialOperands)
    if (!llvm::is_contained(addends, i) || *kind != reduction) {
      fail("#" + std::to_string(i) + " is partial over \"" + axis.str() +
           "\", which also splits " + factorName(factor) + ": reduce it first");
      return std::nullopt;
    }
  for (int i : addends) {
    bool hasFactor =
        llvm::any_of(problem.rule.operands[i], [&](ArrayRef<int> dim) {
          return llvm::is_contained(dim, factor);
        });
    if (!hasFactor && !llvm::is_contained(partialOperands, i) &&
        !isIdempotent(reduction))
      fail("#" + std::to_string(i) + " is full over \"" + axis.str() +
           "\" where the others are partial (" +
           std::string(nameOf(reduction)) +
           "): keep it on one coordinate first");
  }
  return reduction;
}

/// The partial operands must form a group in which the op is linear.
std::optional<ReductionKind>
Checker::throughLinear(StringRef axis, ArrayRef<int> partialOperands,
                       ReductionKind kind) {
  for (const Linearity &linearity : problem.rule.carries) {
    if (linearity.kind != kind)
      continue;
    for (ArrayRef<int> group : linearity.groups) {
      if (!llvm::all_of(partialOperands,
                        [&](int i) { return llvm::is_contained(group, i); }))
        continue;
      for (int i : group)
        if (!llvm::is_contained(partialOperands, i) && !isIdempotent(kind))
          fail("#" + std::to_string(i) + " is full over \"" + axis.str() +
               "\" where #" + std::to_string(partialOperands.front()) +
               " is partial (" + std::string(nameOf(kind)) +
               "): keep it on one coordinate first");
      return kind;
    }
  }
  fail(partialOperands.size() > 1
           ? "#" + std::to_string(partialOperands[0]) + " and #" +
                 std::to_string(partialOperands[1]) +
                 " are both partial over \"" + axis.str() +
                 "\": one must be full"
           : "not linear in #" + std::to_string(partialOperands.front()) +
                 ", which is partial (" + std::string(nameOf(kind)) +
                 ") over \"" + axis.str() + "\"");
  return std::nullopt;
}

std::string llmc::checkLayouts(const LayoutProblem &problem) {
  return Checker(problem).run();
}
