//===- OpLayoutsFixture.h - Ops in decided layouts --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ANALYSIS_LAYOUTS_OPLAYOUTSFIXTURE_H
#define LLMC_TEST_ANALYSIS_LAYOUTS_OPLAYOUTSFIXTURE_H

#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace llmc::test {

using namespace mlir;
using namespace llmc::graph;

class OpLayoutsTest : public ::testing::Test {
protected:
  OpLayoutsTest() { context.loadDialect<dist::DistDialect>(); }

  dist::LayoutAttr layout(StringRef text) {
    return dyn_cast_or_null<dist::LayoutAttr>(
        parseAttribute("#dist.layout<@mesh, " + text.str() + ">", &context));
  }

  dist::MeshAxesAttr mesh() {
    return cast<dist::MeshAxesAttr>(parseAttribute(
        "#dist.mesh_axes<\"pipe\"=2, \"data\"=2, \"tensor\"=2>", &context));
  }

  /// Layouts of the operands, then of the one result; "" for none.
  LayoutProblem problem(const ShardingRule &rule,
                        std::vector<std::string> texts) {
    LayoutProblem problem;
    problem.rule = rule;
    problem.mesh = mesh();
    for (const std::string &text : texts)
      problem.operands.push_back(text.empty() ? nullptr : layout(text));
    problem.results.push_back(problem.operands.pop_back_val());
    return problem;
  }

  /// Wanted and made layouts, "a, b -> c", without the mesh.
  std::string run(const ShardingRule &rule, std::vector<std::string> texts) {
    LayoutProblem decided = problem(rule, texts);
    OpLayouts layouts = getOpLayouts(decided);
    if (!layouts.joined && !llvm::is_contained(texts, ""))
      EXPECT_EQ(legality(decided, layouts), "");
    std::string text;
    for (dist::LayoutAttr want : layouts.operands)
      text += (text.empty() ? "" : ", ") + show(want);
    return text + " -> " + show(layouts.results[0]);
  }

  std::string legality(const LayoutProblem &decided, const OpLayouts &layouts) {
    LayoutProblem made = decided;
    made.operands = layouts.operands;
    made.results = layouts.results;
    return checkLayouts(made);
  }

  /// `[{d}, {}] P{t} @[0]`
  std::string show(dist::LayoutAttr layout) {
    if (!layout)
      return "none";
    std::string text = "[";
    for (dist::DimAttr dim : layout.getDims()) {
      text += text.size() > 1 ? ", {" : "{";
      for (dist::AxisAttr axis : dim.getAxes())
        text += axis.getName().getValue().front();
      text += "}";
    }
    text += "]";
    for (dist::PartialAttr part : layout.getPartial()) {
      text += part.getKind() == ReductionKind::sum ? " P{" : " M{";
      for (dist::AxisAttr axis : part.getAxes())
        text += axis.getName().getValue().front();
      text += "}";
    }
    for (dist::PinAttr pin : layout.getAt())
      for (int64_t c : pin.getCoordinates())
        text += "@" + std::to_string(c);
    return text;
  }

  ShardingRule dot(int64_t m, int64_t k, int64_t n) {
    ShardingRule rule;
    int fm = rule.addFactor(m), fn = rule.addFactor(n);
    int fk = rule.addFactor(k, FactorKind::Reduced);
    rule.operands = {{{fm}, {fk}}, {{fk}, {fn}}};
    rule.results = {{{fm}, {fn}}};
    rule.addLinear(ReductionKind::sum, {{0}, {1}});
    return rule;
  }
  ShardingRule elementwise(int numOperands,
                           std::vector<SmallVector<int>> groups,
                           ReductionKind kind = ReductionKind::sum) {
    ShardingRule rule;
    int i = rule.addFactor(8), j = rule.addFactor(8);
    rule.operands.assign(numOperands, {{i}, {j}});
    rule.results = {{{i}, {j}}};
    if (!groups.empty())
      rule.addLinear(kind, groups);
    return rule;
  }
  ShardingRule add() {
    ShardingRule rule = elementwise(2, {{0, 1}});
    rule.addends = {0, 1};
    return rule;
  }
  /// Rows of a table at positions, added up: table, positions, updates.
  ShardingRule scatter() {
    ShardingRule rule;
    int v = rule.addFactor(16), h = rule.addFactor(8);
    int p = rule.addFactor(8, FactorKind::Reduced);
    rule.operands = {{{v}, {h}}, {{p}}, {{p}, {h}}};
    rule.results = {{{v}, {h}}};
    rule.addLinear(ReductionKind::sum, {{0, 2}});
    rule.addends = {0, 2};
    return rule;
  }

  MLIRContext context;
};

inline constexpr const char *whole = "[{}, {}]";
inline constexpr const char *rows = "[{\"tensor\"}, {}]";
inline constexpr const char *columns = "[{}, {\"tensor\"}]";
inline constexpr const char *dataRows = "[{\"data\"}, {}]";
inline constexpr const char *partial = "[{}, {}], partial = [sum{\"tensor\"}]";

} // namespace llmc::test

#endif // LLMC_TEST_ANALYSIS_LAYOUTS_OPLAYOUTSFIXTURE_H
