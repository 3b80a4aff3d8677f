//===- DeviceTensorsTest.cpp - A value on every device of a mesh ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splitting a whole tensor, gathering its parts, and comparing what comes out.
//
//===----------------------------------------------------------------------===//

#include "LockstepHarness.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

TEST(DeviceTensors, GatherUndoesSplit) {
  GraphContext context;
  auto module = context.parse(kSmall);
  rt::Mesh mesh = dist::getRuntimeMesh(*module->getOps<dist::MeshOp>().begin());
  auto type = mlir::RankedTensorType::get(
      {5, 10}, mlir::Float32Type::get(context.get()));
  std::mt19937_64 engine(3);
  for (const char *text :
       {"[{\"x\"}:6, {}]", "[{\"y\", \"x\"}:6, {}]", "[{}, {\"y\"}:[5:6, 2]]",
        "[{\"x\"}:6, {\"y\"}:[5:6, 2]]", "[{}, {\"x\"}]",
        "[{\"y\"}:6, {}], partial = [sum{\"x\"}]",
        "[{\"x\"}:6, {}], partial = [sum{\"y\"}], at = {\"y\" = [1, 2]}",
        "[{}:8, {}], at = {\"x\" = [1]}"}) {
    dist::LayoutAttr layout = parseLayout(context.get(), text);
    ASSERT_TRUE(layout) << context.takeMessages();
    HostTensor whole = drawIntegers(type, engine);
    HostTensor got(type);
    for (bool poison : {false, true}) {
      DeviceTensors parts = splitIntoTerms(whole, layout, mesh, engine, poison);
      ASSERT_FALSE(parts.empty()) << text;
      EXPECT_EQ(gatherTensor(parts, layout, mesh, got), "") << text;
      EXPECT_EQ(compareTensors(whole, got, 0), "") << text;
    }
  }
}

TEST(DeviceTensors, ReplicasMustAgree) {
  GraphContext context;
  auto module = context.parse(kSmall);
  rt::Mesh mesh = dist::getRuntimeMesh(*module->getOps<dist::MeshOp>().begin());
  dist::LayoutAttr layout = parseLayout(context.get(), "[{\"x\"}]");
  HostTensor whole(mlir::Float32Type::get(context.get()), {4});
  DeviceTensors parts = splitTensor(whole, layout, mesh);
  parts[5].setFloat(1, 7);
  EXPECT_EQ(gatherTensor(parts, layout, mesh, whole),
            "replicas differ: device \"x\"=1, \"y\"=2 and device \"x\"=1, "
            "\"y\"=0");
  parts[5] = HostTensor();
  EXPECT_EQ(gatherTensor(parts, layout, mesh, whole),
            "no value at device \"x\"=1, \"y\"=2");
}

TEST(DeviceTensors, NamesPartsThatDoNotFit) {
  GraphContext context;
  auto module = context.parse(kSmall);
  rt::Mesh mesh = dist::getRuntimeMesh(*module->getOps<dist::MeshOp>().begin());
  Type f32 = mlir::Float32Type::get(context.get());
  dist::LayoutAttr layout = parseLayout(context.get(), "[{\"x\"}]");
  HostTensor whole(f32, {4});
  const DeviceTensors parts = splitTensor(whole, layout, mesh);
  for (HostTensor other :
       {HostTensor(f32, {3}),
        HostTensor(mlir::Float64Type::get(context.get()), {2})}) {
    DeviceTensors some = parts;
    some[4] = other;
    EXPECT_EQ(gatherTensor(some, layout, mesh, whole),
              "a part of another type at device \"x\"=1, \"y\"=1");
  }
  HostTensor square(f32, {4, 4});
  EXPECT_EQ(gatherTensor(parts, layout, mesh, square),
            "the layout does not fit the shape");
  EXPECT_TRUE(splitTensor(square, layout, mesh).empty());
}

/// A value that is a term at each device: the whole at the first of its group,
/// and what changes nothing at the others.
TEST(DeviceTensors, TermsAreNeutralButTheFirst) {
  GraphContext context;
  auto module = context.parse(kSmall);
  rt::Mesh mesh = dist::getRuntimeMesh(*module->getOps<dist::MeshOp>().begin());
  double infinity = std::numeric_limits<double>::infinity();
  mlir::Builder b(context.get());
  struct Case {
    const char *kind;
    Type element;
    double neutral;
  } cases[] = {{"sum", b.getF32Type(), 0},
               {"product", b.getF32Type(), 1},
               {"max", b.getF32Type(), -infinity},
               {"min", b.getF32Type(), infinity},
               {"sum", b.getI32Type(), 0},
               {"product", b.getI32Type(), 1},
               {"max", b.getI8Type(), -128},
               {"min", b.getI8Type(), 127},
               {"max", b.getIntegerType(8, false), 0},
               {"min", b.getIntegerType(8, false), 255},
               {"and", b.getI1Type(), 1},
               {"or", b.getI1Type(), 0}};
  for (const Case &c : cases) {
    dist::LayoutAttr layout =
        parseLayout(context.get(), "[{\"x\"}], partial = [" +
                                       std::string(c.kind) + "{\"y\"}]");
    ASSERT_TRUE(layout) << context.takeMessages();
    HostTensor whole(c.element, {4});
    for (int64_t i = 0; i < 4; ++i)
      whole.setFloat(i, i % 2);
    DeviceTensors parts = splitTensor(whole, layout, mesh);
    ASSERT_EQ(parts.size(), 6u);
    auto number = [](const HostTensor &tensor, int64_t i) {
      return tensor.isFloat() ? tensor.getFloat(i)
                              : static_cast<double>(tensor.getInt(i));
    };
    for (int64_t device = 0; device < 6; ++device)
      for (int64_t i = 0; i < 2; ++i)
        EXPECT_EQ(number(parts[device], i),
                  device % 3 ? c.neutral : static_cast<double>(i))
            << c.kind << " at " << device;
    HostTensor got(whole.getType());
    EXPECT_EQ(gatherTensor(parts, layout, mesh, got), "");
    EXPECT_EQ(compareTensors(whole, got, 0), "") << c.kind;
    parts[4] = HostTensor();
    EXPECT_EQ(gatherTensor(parts, layout, mesh, got),
              "no value at device \"x\"=1, \"y\"=1");
  }
}

TEST(DeviceTensors, TellsWhereTensorsDiffer) {
  GraphContext context;
  Type f32 = mlir::Float32Type::get(context.get());
  double nan = std::numeric_limits<double>::quiet_NaN();
  auto make = [&](std::vector<double> values) {
    HostTensor tensor(f32, {static_cast<int64_t>(values.size())});
    for (auto [i, value] : llvm::enumerate(values))
      tensor.setFloat(i, value);
    return tensor;
  };
  HostTensor two = make({1, nan});
  EXPECT_EQ(compareTensors(two, two, 0), "");
  EXPECT_EQ(compareTensors(two, make({1, 2}), 10),
            "expected nan in element 1, got 2");
  EXPECT_EQ(compareTensors(make({1, 2}), two, 10),
            "expected 2 in element 1, got nan");
  EXPECT_EQ(compareTensors(make({0, 0.25}), make({0, 0.5}), 0.25), "");
  EXPECT_EQ(compareTensors(make({0, 0.25}), make({0, 0.625}), 0.25),
            "expected 0.25 in element 1, got 0.625");
  // Relative to the greater one.
  EXPECT_EQ(compareTensors(make({8}), make({-16}), 1.5), "");
  EXPECT_EQ(compareTensors(make({8}), make({-16}), 1.25),
            "expected 8 in element 0, got -16");
  EXPECT_EQ(compareTensors(two, make({1, 2, 3}), 0),
            "expected a value of type tensor<2xf32>, got tensor<3xf32>");
  EXPECT_EQ(compareTensors(HostTensor(), two, 0),
            "expected a value of type (none), got tensor<2xf32>");
  EXPECT_EQ(compareTensors(two, HostTensor(), 0),
            "expected a value of type tensor<2xf32>, got none");
}

TEST(DeviceTensors, PoisonIsNoValue) {
  GraphContext context;
  mlir::Builder b(context.get());
  for (auto [element, poison] :
       {std::pair<Type, int64_t>(b.getI8Type(), 1 << 5),
        {b.getI32Type(), 1 << 20},
        {b.getI64Type(), int64_t(1) << 40},
        {b.getIndexType(), int64_t(1) << 40},
        {b.getI1Type(), 0}}) {
    HostTensor tensor(element, {2});
    fillWithPoison(tensor);
    EXPECT_EQ(tensor.getInt(1), poison);
  }
  HostTensor tensor(b.getF32Type(), {2});
  fillWithPoison(tensor);
  EXPECT_TRUE(std::isnan(tensor.getFloat(1)));
}

TEST(DeviceTensors, NamesDevicesByTheirAxes) {
  GraphContext context;
  auto describe = [&](const char *text, int64_t device) {
    auto module = context.parse(text);
    return describeDevice(
        dist::getRuntimeMesh(*module->getOps<dist::MeshOp>().begin()), device);
  };
  EXPECT_EQ(describe(kSmall, 5), "\"x\"=1, \"y\"=2");
  EXPECT_EQ(describe("dist.mesh @mesh = <\"x\"=1, \"y\"=2>", 1), "\"y\"=1");
  EXPECT_EQ(describe("dist.mesh @mesh = <\"x\"=1>", 0), "the only one");
}
} // namespace
