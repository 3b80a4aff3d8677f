//===- LockstepTest.cpp - All devices of a mesh at once -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each collective as local IR, held against the layouts between which it moves:
// parts of a random tensor under `from`, run, must be its parts under `to`.
//
//===----------------------------------------------------------------------===//

#include "LockstepHarness.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {
const char *const kSmall = R"(dist.mesh @mesh = <"x"=2, "y"=3>)";
const char *const kCube =
    R"(dist.mesh @mesh = <"p"=2, "x"=2, "y"=2> pipeline "p")";
const char *const kLong = R"(dist.mesh @mesh = <"p"=4, "x"=2> pipeline "p")";

struct Move {
  const char *mesh;
  const char *from;
  /// `%x` is the operand; text after `dist.`.
  const char *op;
  const char *to;
};

/// Runs `dist.<op>` on random parts of a 12x12 tensor.
testing::AssertionResult checkMove(const Move &move, const char *element,
                                   uint64_t seed) {
  GraphContext context;
  auto meshModule = context.parse(move.mesh);
  dist::MeshOp mesh = *meshModule->getOps<dist::MeshOp>().begin();
  dist::LayoutAttr from = parseLayout(context.get(), move.from);
  dist::LayoutAttr to = parseLayout(context.get(), move.to);
  SmallVector<int64_t> shape{12, 12};
  std::string in = localType(from, shape, mesh, element);
  std::string out = localType(to, shape, mesh, element);
  std::string text = std::string(move.mesh) + "\nfunc.func @f(%x: " + in +
                     ") -> " + out + " {\n  %0 = dist." + move.op + " : " + in +
                     (in == out ? "" : " -> " + out) +
                     "\n  return %0 : " + out + "\n}\n";
  auto module = context.parse(text);
  if (!module)
    return testing::AssertionFailure() << text << context.takeMessages();
  mlir::func::FuncOp function = getFunction(*module);
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  const rt::Mesh &devices = lockstep.getMesh();
  std::mt19937_64 engine(seed);
  auto type = mlir::RankedTensorType::get(
      shape, mlir::getElementTypeOrSelf(function.getArgument(0).getType()));
  HostTensor whole = drawIntegers(type, engine);
  DeviceTensors input = splitIntoTerms(whole, from, devices, engine);
  SmallVector<DeviceTensors> results;
  if (failed(lockstep.run(function, {input}, results)))
    return testing::AssertionFailure() << text << context.takeMessages();
  HostTensor got(type);
  std::string error = gatherTensor(results[0], to, devices, got);
  if (error.empty())
    error = compareTensors(whole, got, 0);
  for (int64_t device = 0; error.empty() && device < devices.numDevices();
       ++device)
    if (results[0][device] && !livesOn(to, devices, device) &&
        !llvm::StringRef(move.op).starts_with("broadcast"))
      error = "a value where it does not live";
  return error.empty() ? testing::AssertionSuccess()
                       : testing::AssertionFailure() << text << error;
}

const Move kMoves[] = {
    // 2 x 3
    {kSmall, "[{\"x\"}, {}], partial = [sum{\"y\"}]",
     "all_reduce %x over [\"y\"] sum", "[{\"x\"}, {}]"},
    {kSmall, "[{}, {}], partial = [sum{\"x\", \"y\"}]",
     "all_reduce %x over [\"x\", \"y\"] sum", "[{}, {}]"},
    {kSmall, "[{}, {\"y\"}], partial = [max{\"x\"}]",
     "all_reduce %x over [\"x\"] max", "[{}, {\"y\"}]"},
    {kSmall, "[{}, {}], partial = [min{\"y\"}]",
     "all_reduce %x over [\"y\"] min", "[{}, {}]"},
    {kSmall, "[{}, {}], partial = [product{\"x\"}]",
     "all_reduce %x over [\"x\"] product", "[{}, {}]"},
    {kSmall, "[{\"x\"}, {}], partial = [sum{\"y\"}]",
     "reduce_scatter %x dim 0 over [\"y\"] sum", "[{\"x\", \"y\"}, {}]"},
    {kSmall, "[{}, {}], partial = [sum{\"x\", \"y\"}]",
     "reduce_scatter %x dim 1 over [\"y\", \"x\"] sum", "[{}, {\"y\", \"x\"}]"},
    {kSmall, "[{}, {\"y\"}], partial = [max{\"x\"}]",
     "reduce_scatter %x dim 0 over [\"x\"] max", "[{\"x\"}, {\"y\"}]"},
    {kSmall, "[{\"x\", \"y\"}, {}]", "all_gather %x dim 0 over [\"y\"]",
     "[{\"x\"}, {}]"},
    {kSmall, "[{\"x\", \"y\"}, {}]", "all_gather %x dim 0 over [\"x\", \"y\"]",
     "[{}, {}]"},
    {kSmall, "[{}, {\"y\", \"x\"}]", "all_gather %x dim 1 over [\"y\", \"x\"]",
     "[{}, {}]"},
    {kSmall, "[{\"x\", \"y\"}, {}]",
     "all_to_all %x split 1 concat 0 over [\"y\"]", "[{\"x\"}, {\"y\"}]"},
    {kSmall, "[{}, {\"y\", \"x\"}]",
     "all_to_all %x split 0 concat 1 over [\"y\", \"x\"]",
     "[{\"y\", \"x\"}, {}]"},
    {kSmall, "[{\"x\", \"y\"}, {}]",
     "permute %x over [\"x\", \"y\"] to [\"y\", \"x\"]",
     "[{\"y\", \"x\"}, {}]"},
    {kSmall, "[{\"y\", \"x\"}, {}]",
     "permute %x over [\"y\", \"x\"] to [\"x\", \"y\"]",
     "[{\"x\", \"y\"}, {}]"},
    {kSmall, "[{}, {}], at = {\"y\" = [2]}",
     "broadcast %x from [2] over [\"y\"]", "[{}, {}]"},
    {kSmall, "[{}, {}], partial = [sum{\"x\"}]",
     "reduce %x to [1] over [\"x\"] sum", "[{}, {}], at = {\"x\" = [1]}"},
    // 2 x 2 x 2, stages along p
    {kCube, "[{\"x\"}, {}], partial = [sum{\"y\"}], at = {\"p\" = [1]}",
     "all_reduce %x over [\"y\"] sum", "[{\"x\"}, {}], at = {\"p\" = [1]}"},
    {kCube,
     "[{\"x\"}, {}], partial = [sum{\"p\", \"y\"}], at = {\"p\" = [0, 1]}",
     "all_reduce %x over [\"p\", \"y\"] sum", "[{\"x\"}, {}]"},
    {kCube, "[{}, {}], partial = [sum{\"x\", \"y\"}]",
     "reduce_scatter %x dim 0 over [\"x\", \"y\"] sum", "[{\"x\", \"y\"}, {}]"},
    {kCube, "[{\"x\", \"y\"}, {}], at = {\"p\" = [0]}",
     "all_gather %x dim 0 over [\"y\"]", "[{\"x\"}, {}], at = {\"p\" = [0]}"},
    {kCube, "[{\"y\"}, {\"x\"}]", "all_to_all %x split 1 concat 0 over [\"y\"]",
     "[{}, {\"x\", \"y\"}]"},
    {kCube, "[{\"x\"}, {\"y\"}], at = {\"p\" = [1]}",
     "permute %x over [\"x\", \"y\"] to [\"y\", \"x\"]",
     "[{\"y\"}, {\"x\"}], at = {\"p\" = [1]}"},
    {kCube, "[{\"x\"}, {}], at = {\"p\" = [1]}",
     "broadcast %x from [1] over [\"p\"]", "[{\"x\"}, {}]"},
    {kCube, "[{}, {\"y\"}], partial = [sum{\"p\"}], at = {\"p\" = [0, 1]}",
     "reduce %x to [0] over [\"p\"] sum", "[{}, {\"y\"}], at = {\"p\" = [0]}"},
    {kCube, "[{\"x\"}, {}], at = {\"p\" = [0]}",
     "transfer @t0 %x along \"p\" 0 -> 1", "[{\"x\"}, {}], at = {\"p\" = [1]}"},
    // 4 stages, of which two hold terms
    {kLong, "[{\"x\"}, {}], partial = [sum{\"p\"}], at = {\"p\" = [0, 3]}",
     "all_reduce %x over [\"p\"] sum", "[{\"x\"}, {}], at = {\"p\" = [0, 3]}"},
    {kLong, "[{}, {}], at = {\"p\" = [3]}",
     "transfer @t0 %x along \"p\" 3 -> 1", "[{}, {}], at = {\"p\" = [1]}"},
};

TEST(Lockstep, CollectivesMoveBetweenLayouts) {
  for (auto [i, move] : llvm::enumerate(kMoves))
    for (const char *element : {"f64", "f32", "i32"})
      EXPECT_TRUE(checkMove(move, element, 100 + i));
}

TEST(Lockstep, ShortFloatsAreSummedInF32) {
  GraphContext context;
  auto module = context.parse(std::string(kSmall) + R"(
    func.func @f(%x: tensor<bf16>) -> tensor<bf16> {
      %0 = dist.all_reduce %x over ["x", "y"] sum : tensor<bf16>
      return %0 : tensor<bf16>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  auto type =
      mlir::RankedTensorType::get({}, mlir::BFloat16Type::get(context.get()));
  DeviceTensors input;
  // 256 + 5 x 1: in bf16, steps of 1 would be lost.
  for (int device = 0; device < 6; ++device)
    input.emplace_back(type).setFloat(0, device ? 1 : 256);
  SmallVector<DeviceTensors> results;
  ASSERT_TRUE(succeeded(lockstep.run(getFunction(*module), {input}, results)));
  EXPECT_EQ(results[0][5].getFloat(0), 260); // 261 rounded to bf16
}

/// Sums go from member 0 on, whatever the values.
TEST(Lockstep, SumsFollowTheOrderOfMembers) {
  GraphContext context;
  auto module = context.parse(std::string(kSmall) + R"(
    func.func @f(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
      %0 = dist.all_reduce %x over ["x", "y"] sum : tensor<f64>
      %1 = dist.all_reduce %x over ["y", "x"] sum : tensor<f64>
      return %0, %1 : tensor<f64>, tensor<f64>
    })");
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  auto type =
      mlir::RankedTensorType::get({}, mlir::Float64Type::get(context.get()));
  double values[] = {1e16, 1, 1, -1e16, 1, 1};
  DeviceTensors input;
  for (double value : values)
    input.emplace_back(type).setFloat(0, value);
  SmallVector<DeviceTensors> results;
  ASSERT_TRUE(succeeded(lockstep.run(getFunction(*module), {input}, results)));
  EXPECT_EQ(results[0][0].getFloat(0), 2); // ((1e16 + 1 + 1) - 1e16) + 1 + 1
  EXPECT_EQ(results[1][3].getFloat(0), 4); // 1e16 - 1e16 + 1 + 1 + 1 + 1
}

constexpr const char *kSegments = R"(
  dist.mesh @mesh = <"p"=2, "x"=2> pipeline "p"
  func.func @f(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %h = dist.segment chunk(0) phase(forward) -> tensor<2xf32> {
      %c = dist.coordinate ["p", "x"] : tensor<i32>
      %f = stablehlo.convert %c : (tensor<i32>) -> tensor<f32>
      %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %s = stablehlo.add %a, %b : tensor<2xf32>
      dist.yield %s : tensor<2xf32>
    }
    %t = dist.transfer @t0 %h along "p" 0 -> 1 : tensor<2xf32>
    %k = dist.segment chunk(1) phase(forward) -> tensor<2xf32> {
      %d = stablehlo.add %t, %t : tensor<2xf32>
      %e = dist.keep %d where "x" = 1 : tensor<2xf32> -> tensor<2xf32>
      dist.yield %e : tensor<2xf32>
    }
    %j = dist.join %h, %k over "p" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %j, %k : tensor<2xf32>, tensor<2xf32>
  })";

DeviceTensors everywhere(MLIRContext *context, int64_t devices, double value) {
  HostTensor tensor(mlir::Float32Type::get(context), {2});
  tensor.setFloat(0, value);
  tensor.setFloat(1, value);
  return DeviceTensors(devices, tensor);
}

TEST(Lockstep, SegmentsRunAtTheirStages) {
  GraphContext context;
  auto module = context.parse(kSegments);
  ASSERT_TRUE(module) << context.takeMessages();
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  SmallVector<DeviceTensors> results;
  ASSERT_TRUE(succeeded(lockstep.run(
      getFunction(*module), {everywhere(context.get(), 4, 5)}, results)))
      << context.takeMessages();
  // Stage 0: 5 + number of the device; stage 1: twice that, where x = 1.
  double joined[] = {5, 6, 0, 12};
  for (int device = 0; device < 4; ++device)
    EXPECT_EQ(results[0][device].getFloat(0), joined[device]);
  EXPECT_FALSE(results[1][0]);
  EXPECT_TRUE(results[1][2]);
}

TEST(Lockstep, ReadingWhatDoesNotLiveIsAnError) {
  GraphContext context;
  std::string text = kSegments;
  text.replace(text.find("stablehlo.add %t, %t"), 20, "stablehlo.add %t, %h");
  auto module = context.parse(text);
  ASSERT_TRUE(module) << context.takeMessages();
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  SmallVector<DeviceTensors> results;
  EXPECT_TRUE(failed(lockstep.run(getFunction(*module),
                                  {everywhere(context.get(), 4, 5)}, results)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("'stablehlo.add' op expected operand #1 to live at "
                        "device \"p\"=1, \"x\"=0, where the op runs, got no "
                        "value"));
}

TEST(Lockstep, MarksPinOpsOutsideSegments) {
  GraphContext context;
  auto module = context.parse(R"(
    dist.mesh @mesh = <"p"=2, "x"=1> pipeline "p"
    func.func @f(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %0 = stablehlo.add %a, %a {dist.at = array<i64: 1>} : tensor<2xf32>
      %1 = stablehlo.add %a, %a {dist.block = 2, dist.phase = #dist.phase<forward>} : tensor<2xf32>
      %2 = stablehlo.add %0, %1 : tensor<2xf32>
      return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  SmallVector<DeviceTensors> results;
  int64_t chunks[] = {0, 1, 2};
  ASSERT_TRUE(succeeded(lockstep.run(getFunction(*module),
                                     {everywhere(context.get(), 2, 1)}, results,
                                     chunks)))
      << context.takeMessages();
  EXPECT_FALSE(results[0][0]);
  EXPECT_TRUE(results[0][1]);
  EXPECT_TRUE(results[1][0]); // chunk 2 on stage 0
  EXPECT_FALSE(results[1][1]);
  EXPECT_FALSE(results[2][0] || results[2][1]); // nowhere both
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

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
} // namespace
