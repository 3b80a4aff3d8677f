//===- LayoutCheck.cpp - Layouts of an op against its rule ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LayoutCheck.h. Numbers of errors are those of the layout algebra.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/LayoutCheck.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llmc;
using namespace llmc::graph;
using dist::LayoutAttr;

namespace {
/// Which axes split a factor, and with which extent.
struct Split {
  SmallVector<std::string> axes;
  int64_t extent = 0;
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
    if (reason.empty())
      for (mlir::StringAttr axis : problem.mesh.getNames())
        checkAxis(axis.getValue());
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
  void pour(dist::DimAttr dim, ArrayRef<int> factors, const std::string &where);
  void unify(int factor, Split split);
  void checkHomes();
  void checkAxis(StringRef axis);
  std::optional<Reduction> expectedPartial(StringRef axis,
                                           ArrayRef<int> partialOperands,
                                           std::optional<Reduction> kind);
  std::optional<Reduction> throughReduced(StringRef axis, int factor,
                                          ArrayRef<int> partialOperands,
                                          std::optional<Reduction> kind);
  std::optional<Reduction>
  throughLinear(StringRef axis, ArrayRef<int> partialOperands, Reduction kind);

  const LayoutProblem &problem;
  SmallVector<std::optional<Split>> splits;
  /// The factor that an axis splits.
  llvm::MapVector<StringRef, int> home;
  std::string reason;
};
} // namespace

static std::string showAxes(ArrayRef<std::string> axes) {
  std::string text = "{";
  for (auto [i, axis] : llvm::enumerate(axes))
    text += (i ? ", \"" : "\"") + axis + "\"";
  return text + "}";
}

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
  for (auto [dim, list] : llvm::zip(layout.getDims(), factors))
    pour(dim, list, where);
}

/// Axes go into factors major to minor; one that does not divide what is left
/// of a factor pads it, which only the last factor with axes may be.
void Checker::pour(dist::DimAttr dim, ArrayRef<int> factors,
                   const std::string &where) {
  SmallVector<Split> poured(factors.size());
  for (auto [i, factor] : llvm::enumerate(factors)) {
    poured[i].extent = problem.rule.factors[factor].size;
    poured[i].where = where;
  }
  if (dim.isPadded() && dim.getExtents().size() == factors.size())
    for (auto [split, extent] : llvm::zip(poured, dim.getExtents()))
      split.extent = extent;
  size_t at = 0;
  int64_t left = factors.empty() ? 1 : poured[0].extent;
  for (dist::AxisAttr axis : dim.getAxes()) {
    int64_t size = axis.getSize(problem.mesh);
    while (left == 1 && size > 1 && at + 1 < factors.size())
      left = poured[++at].extent;
    if (size > 1 && (factors.empty() || left % size))
      return fail("axis \"" + axis.getName().str() + "\" of size " +
                  std::to_string(size) + " does not divide what is left (" +
                  std::to_string(left) + ") of a dimension of " + where);
    left /= size;
    if (!factors.empty())
      poured[at].axes.push_back(axis.getName().str());
  }
  for (auto [factor, split] : llvm::zip(factors, poured))
    unify(factor, split);
}

void Checker::unify(int factor, Split split) {
  std::optional<Split> &known = splits[factor];
  if (!known) {
    known = std::move(split);
    return;
  }
  if (known->axes != split.axes)
    return fail(factorName(factor) + " is split by " + showAxes(known->axes) +
                " in " + known->where + " and by " + showAxes(split.axes) +
                " in " + split.where);
  if (known->extent != split.extent)
    fail(factorName(factor) + " has extent " + std::to_string(known->extent) +
         " in " + known->where + " and " + std::to_string(split.extent) +
         " in " + split.where);
}

void Checker::checkHomes() {
  for (auto [factor, split] : llvm::enumerate(splits)) {
    if (!split)
      continue;
    for (const std::string &axis : split->axes) {
      auto [place, isNew] =
          home.insert({StringRef(axis), static_cast<int>(factor)});
      if (!isNew && place->second != static_cast<int>(factor))
        return fail("axis \"" + axis + "\" splits " +
                    factorName(place->second) + " and " + factorName(factor));
    }
    FactorKind kind = problem.rule.factors[factor].kind;
    if ((kind == FactorKind::Whole || kind == FactorKind::Permuted) &&
        !split->axes.empty())
      return fail(factorName(factor) + " must be whole, but is split by " +
                  showAxes(split->axes));
  }
}

static std::optional<Reduction> partialKind(LayoutAttr layout, StringRef axis) {
  if (!layout)
    return std::nullopt;
  if (auto kind = layout.getPartialKind(axis))
    return static_cast<Reduction>(*kind);
  return std::nullopt;
}

void Checker::checkAxis(StringRef axis) {
  SmallVector<int> partialOperands;
  std::optional<Reduction> kind;
  for (auto [i, layout] : llvm::enumerate(problem.operands))
    if (auto found = partialKind(layout, axis)) {
      if (kind && *kind != *found)
        return fail("operands are partial over \"" + axis.str() +
                    "\" with kinds " + stringifyReduction(*kind).str() +
                    " and " + stringifyReduction(*found).str());
      kind = found;
      partialOperands.push_back(i);
    }
  std::optional<Reduction> want = expectedPartial(axis, partialOperands, kind);
  if (!reason.empty())
    return;
  for (LayoutAttr result : problem.results) {
    std::optional<Reduction> is = partialKind(result, axis);
    if (is == want || !result)
      continue;
    return fail(
        want ? "result must be partial (" + stringifyReduction(*want).str() +
                   ") over \"" + axis.str() + "\""
             : "result must be full over \"" + axis.str() +
                   "\", got partial (" + stringifyReduction(*is).str() + ")");
  }
}

std::optional<Reduction>
Checker::expectedPartial(StringRef axis, ArrayRef<int> partialOperands,
                         std::optional<Reduction> kind) {
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
std::optional<Reduction>
Checker::throughReduced(StringRef axis, int factor,
                        ArrayRef<int> partialOperands,
                        std::optional<Reduction> kind) {
  Reduction reduction = problem.rule.factors[factor].reduction;
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
           stringifyReduction(reduction).str() +
           "): keep it on one coordinate first");
  }
  return reduction;
}

/// The partial operands must form a group in which the op is linear.
std::optional<Reduction> Checker::throughLinear(StringRef axis,
                                                ArrayRef<int> partialOperands,
                                                Reduction kind) {
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
               " is partial (" + stringifyReduction(kind).str() +
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
                 ", which is partial (" + stringifyReduction(kind).str() +
                 ") over \"" + axis.str() + "\"");
  return std::nullopt;
}

std::string llmc::checkLayouts(const LayoutProblem &problem) {
  return Checker(problem).run();
}
