//===- AttributesTest.cpp - Attributes that no text makes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of attributes refuse when they are built by passes, where
// the parser cannot come to it, and what the runtime sees of them.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/RuntimeLayout.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using dist::AxisAttr;
using dist::Cell;
using dist::DimAttr;
using dist::LayoutAttr;
using dist::MeshAxesAttr;
using dist::TableAttr;
using mlir::StringAttr;

namespace {
class Attributes : public ::testing::Test {
protected:
  GraphContext context;
  MLIRContext *mlir = context.get();

  StringAttr name(StringRef text) { return StringAttr::get(mlir, text); }
  AxisAttr axis(StringRef text) { return AxisAttr::get(mlir, text); }

  /// What the verifier says of an attribute built from these.
  template <typename Attr, typename... Args>
  std::string refusal(Args &&...args) {
    auto emit = [&] { return mlir::emitError(mlir::UnknownLoc::get(mlir)); };
    Attr made = Attr::getChecked(emit, mlir, std::forward<Args>(args)...);
    std::string messages = context.takeMessages();
    EXPECT_EQ(!made, !messages.empty());
    return messages;
  }

  MeshAxesAttr mesh(llvm::ArrayRef<int64_t> sizes) {
    llvm::SmallVector<StringAttr> names;
    for (size_t i = 0; i < sizes.size(); ++i)
      names.push_back(name(std::string(1, static_cast<char>('a' + i))));
    return MeshAxesAttr::get(mlir, names, sizes);
  }
};

/// Whether the message is this one, whatever stands around it.
bool says(const std::string &messages, StringRef wanted) {
  return StringRef(messages).trim().ends_with(wanted);
}

TEST_F(Attributes, AMeshHasASizeForEachAxis) {
  llvm::SmallVector<StringAttr> names = {name("a"), name("b")};
  llvm::SmallVector<int64_t> one = {2}, three = {2, 2, 2}, two = {2, 3};
  EXPECT_TRUE(says(refusal<MeshAxesAttr>(ArrayRef(names), ArrayRef(one)),
                   "expected a size for each of 2 axes, got 1"));
  EXPECT_TRUE(says(refusal<MeshAxesAttr>(ArrayRef(names), ArrayRef(three)),
                   "expected a size for each of 2 axes, got 3"));
  EXPECT_EQ(refusal<MeshAxesAttr>(ArrayRef(names), ArrayRef(two)), "");
  MeshAxesAttr axes = mesh({2, 3});
  EXPECT_EQ(axes.getSize("b"), 3);
  EXPECT_EQ(axes.getSize("c"), 1);
  EXPECT_FALSE(axes.contains("c"));
  EXPECT_EQ(axes.getNumDevices(), 6);
}

TEST_F(Attributes, ASubAxisHasASizeOfTwo) {
  StringRef wanted =
      "expected a sub-axis of \"a\" with pre-size at least 1 and "
      "size at least 2, got ";
  EXPECT_EQ(refusal<AxisAttr>(name("a"), int64_t(1), int64_t(0)), "");
  EXPECT_EQ(refusal<AxisAttr>(name("a"), int64_t(1), int64_t(2)), "");
  EXPECT_TRUE(says(refusal<AxisAttr>(name("a"), int64_t(2), int64_t(0)),
                   (wanted + "(2)0").str()));
  EXPECT_TRUE(says(refusal<AxisAttr>(name("a"), int64_t(1), int64_t(1)),
                   (wanted + "(1)1").str()));
}

TEST_F(Attributes, ADimHasFactorsInPairs) {
  llvm::SmallVector<AxisAttr> axes = {axis("a")};
  auto dim = [&](int64_t priority, llvm::ArrayRef<int64_t> sizes,
                 llvm::ArrayRef<int64_t> extents) {
    return refusal<DimAttr>(ArrayRef(axes), false, priority, sizes, extents);
  };
  EXPECT_EQ(dim(-1, {}, {}), "");
  EXPECT_EQ(dim(0, {}, {8}), "");
  EXPECT_TRUE(
      says(dim(-2, {}, {}), "expected a priority of at least 0, got -2"));
  EXPECT_TRUE(
      says(dim(-1, {6, 4}, {}), "expected at least two factors, got 0"));
  EXPECT_TRUE(
      says(dim(-1, {}, {8, 4}), "expected at least two factors, got 2"));
  EXPECT_TRUE(
      says(dim(-1, {6, 4}, {8, 4, 2}), "expected at least two factors, got 3"));
  EXPECT_EQ(dim(-1, {6, 4}, {8, 4}), "");
}

TEST_F(Attributes, LayoutsSeeDynamicSizes) {
  auto symbol = mlir::FlatSymbolRefAttr::get(mlir, "mesh");
  AxisAttr a = axis("a"), b = axis("b");
  LayoutAttr layout = LayoutAttr::get(
      mlir, symbol, {DimAttr::get(mlir), DimAttr::get(mlir, {a, b})});
  int64_t dynamic = mlir::ShapedType::kDynamic;
  llvm::SmallVector<int64_t> local =
      layout.getLocalShape({dynamic, 12}, mesh({2, 3}));
  EXPECT_EQ(local, (llvm::SmallVector<int64_t>{dynamic, 2}));
  EXPECT_FALSE(dist::getLayout(mlir::IndexType::get(mlir)));
  EXPECT_FALSE(dist::getLayout(
      mlir::RankedTensorType::get({4}, mlir::Float32Type::get(mlir))));
}

TEST_F(Attributes, ATableHasWholeRows) {
  Cell forward;
  forward.kind = Cell::Kind::Forward;
  llvm::SmallVector<Cell> none, cells(3, forward);
  StringRef wanted = "expected rows of at least one cell, got ";
  EXPECT_EQ(refusal<TableAttr>(int64_t(3), ArrayRef(cells)), "");
  EXPECT_TRUE(says(refusal<TableAttr>(int64_t(1), ArrayRef(none)),
                   (wanted + "0 cells in 1 slots").str()));
  EXPECT_TRUE(says(refusal<TableAttr>(int64_t(0), ArrayRef(cells)),
                   (wanted + "3 cells in 0 slots").str()));
  EXPECT_TRUE(says(refusal<TableAttr>(int64_t(2), ArrayRef(cells)),
                   (wanted + "3 cells in 2 slots").str()));
  cells[2].chunk = -1;
  EXPECT_TRUE(
      says(refusal<TableAttr>(int64_t(3), ArrayRef(cells)),
           "expected chunk and microbatch of at least 0, got -1 and 0"));
  cells[2].chunk = 0;
  cells[1].microbatch = -1;
  EXPECT_TRUE(
      says(refusal<TableAttr>(int64_t(3), ArrayRef(cells)),
           "expected chunk and microbatch of at least 0, got 0 and -1"));
}

TEST_F(Attributes, AnAxisThatIsNotNamedCrossesTheFirstLinks) {
  mlir::Builder builder(mlir);
  auto link = [&](StringRef text) {
    return dist::LinkAttr::get(mlir, name(text), builder.getF64FloatAttr(0),
                               builder.getF64FloatAttr(1));
  };
  mlir::ArrayAttr links = builder.getArrayAttr({link("l"), link("m")});
  auto unnamed = dist::MachineAttr::get(mlir, links, {}, {}, {}, {}, {}, {});
  EXPECT_EQ(unnamed.getLinkOfAxis("b"), 0u);
  auto named = dist::MachineAttr::get(
      mlir, links,
      builder.getDictionaryAttr(builder.getNamedAttr("b", name("m"))), {}, {},
      {}, {}, {});
  EXPECT_EQ(named.getLinkOfAxis("a"), 0u);
  EXPECT_EQ(named.getLinkOfAxis("b"), 1u);
}

TEST_F(Attributes, PortsOfOtherChunksAreOtherSlots) {
  auto act = [&](int64_t chunk) {
    return dist::PortAttr::get(mlir, dist::PortKind::Act, "x", chunk);
  };
  EXPECT_TRUE(act(1).isInSlot(act(1)));
  EXPECT_FALSE(act(1).isInSlot(act(0)));
  auto state = [&](dist::PortKind kind) {
    return dist::PortAttr::get(mlir, kind,
                               mlir::FlatSymbolRefAttr::get(mlir, "c"))
        .isState();
  };
  EXPECT_TRUE(state(dist::PortKind::Constant));
  EXPECT_TRUE(state(dist::PortKind::Parameter));
  EXPECT_FALSE(state(dist::PortKind::Buffer));
}

TEST_F(Attributes, TheRuntimeHasNoLayoutOfWhatDoesNotFit) {
  auto symbol = mlir::FlatSymbolRefAttr::get(mlir, "mesh");
  rt::Mesh devices;
  devices.axes = {{"a", 2}, {"b", 3}};
  auto layout = [&](DimAttr dim, llvm::ArrayRef<int64_t> shape) {
    return dist::getRuntimeLayout(
        LayoutAttr::get(mlir, symbol, {DimAttr::get(mlir), dim}), shape,
        devices);
  };
  DimAttr split = DimAttr::get(mlir, {axis("a")});
  std::optional<rt::Layout> found = layout(split, {5, 4});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->dims.size(), 2u);
  EXPECT_EQ(found->dims[1].axes, std::vector<int32_t>({0}));
  EXPECT_EQ(found->dims[1].factors.size(), 1u);
  EXPECT_EQ(found->localShape(devices), std::vector<int64_t>({5, 2}));
  // Another rank; an axis that no device has; a part of an axis.
  EXPECT_FALSE(layout(split, {5}));
  EXPECT_FALSE(layout(DimAttr::get(mlir, {axis("c")}), {5, 4}));
  EXPECT_FALSE(layout(
      DimAttr::get(mlir, {AxisAttr::get(mlir, name("a"), 1, 2)}), {5, 4}));
  // Factors of another size; a size that the axis does not divide.
  llvm::SmallVector<int64_t> sizes = {2, 3}, extents = {2, 4};
  DimAttr factors = DimAttr::get(mlir, {axis("a")}, sizes, extents);
  EXPECT_TRUE(layout(factors, {5, 6}));
  EXPECT_FALSE(layout(factors, {5, 7}));
  EXPECT_FALSE(layout(split, {5, 3}));
}

TEST_F(Attributes, TheRuntimeDrawsWhatTheTextSays) {
  auto draw = [&](dist::DrawKind kind, llvm::ArrayRef<double> values) {
    return dist::getRuntimeDraw(dist::DrawAttr::get(mlir, kind, values));
  };
  auto expect = [](rt::Draw found, rt::DrawKind kind, double a, double b) {
    EXPECT_EQ(found.kind, kind);
    EXPECT_EQ(found.a, a);
    EXPECT_EQ(found.b, b);
  };
  using dist::DrawKind;
  expect(draw(DrawKind::Zeros, {}), rt::DrawKind::zeros, 0, 0);
  expect(draw(DrawKind::Ones, {}), rt::DrawKind::ones, 0, 0);
  expect(draw(DrawKind::Constant, {3}), rt::DrawKind::constant, 3, 0);
  expect(draw(DrawKind::Uniform, {-1, 2}), rt::DrawKind::uniform, -1, 2);
  expect(draw(DrawKind::Normal, {2}), rt::DrawKind::normal, 0, 2);
  expect(draw(DrawKind::Normal, {2, 5}), rt::DrawKind::normal, 5, 2);
  expect(draw(DrawKind::TruncatedNormal, {2, 5}), rt::DrawKind::truncatedNormal,
         5, 2);
}

TEST_F(Attributes, RulesOfDataReadBack) {
  rt::DataRule rule;
  auto text = [&](int64_t offset) {
    std::string result;
    llvm::raw_string_ostream stream(result);
    dist::DataAttr data = dist::getDataAttr(mlir, "s", rule, offset);
    EXPECT_TRUE(dist::getRuntimeRule(data) == rule);
    stream << data;
    return result;
  };
  EXPECT_EQ(text(0), "#dist.data<\"s\">");
  rule.dtype = rt::DType::i32;
  EXPECT_EQ(text(0), "#dist.data<\"s\", dtype = i32>");
  rule.dtype = rt::DType::u8;
  EXPECT_EQ(text(1), "#dist.data<\"s\", dtype = ui8, offset = 1>");
  rule = rt::DataRule();
  rule.kind = rt::DataKind::array;
  rule.tensor = "t";
  rule.shuffle = false;
  EXPECT_EQ(text(0),
            "#dist.data<\"s\", kind = array, tensor = \"t\", shuffle = false>");
  rule.finite = false;
  EXPECT_EQ(text(0),
            "#dist.data<\"s\", kind = array, tensor = \"t\", shuffle = "
            "false, any_float = true>");
  rule = rt::DataRule();
  rule.kind = rt::DataKind::text;
  rule.once = true;
  rule.heldOut = 0.05;
  rule.weights = {7, 3};
  EXPECT_EQ(text(2), "#dist.data<\"s\", kind = text, once = true, held_out = "
                     "5.000000e-02 : f64, weights = [7, 3], offset = "
                     "2>");
  EXPECT_EQ(dist::getDataAttr(mlir, "s", rule, 0).withLimit(9).getLimit(), 9);
}
} // namespace
