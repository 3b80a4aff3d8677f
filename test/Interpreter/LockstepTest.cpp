//===- LockstepTest.cpp - All devices of a mesh at once -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each collective as local IR, held against the layouts between which it moves:
// parts of a random tensor under `from`, run, must be its parts under `to`.
//
//===----------------------------------------------------------------------===//

#include "LockstepHarness.h"
#include "mlir/IR/TypeUtilities.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {
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
// What cannot be run
//===----------------------------------------------------------------------===//

/// What the interpreter says when it runs the first function of `text`, after
/// `breakIt`, on the same value at all devices but `absent`.
template <typename Break>
std::string runBroken(const std::string &text, Break breakIt,
                      std::vector<int64_t> absent = {}) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module)
    return context.takeMessages();
  breakIt(*module);
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  SmallVector<DeviceTensors> arguments, results;
  for (mlir::BlockArgument argument :
       getFunction(*module).getBody().getArguments()) {
    auto &value = arguments.emplace_back(
        lockstep.getMesh().numDevices(),
        HostTensor(mlir::cast<mlir::RankedTensorType>(argument.getType())));
    for (int64_t device : absent)
      value[device] = HostTensor();
  }
  bool ok = succeeded(lockstep.run(getFunction(*module), arguments, results));
  std::string messages = context.takeMessages();
  EXPECT_EQ(ok, messages.empty());
  return messages;
}

/// The same of a function of one op, given after its name's dialect.
std::string runOne(const char *mesh, const std::string &op,
                   const std::string &to = "tensor<2xf32>",
                   std::vector<int64_t> absent = {}) {
  return runBroken(
      std::string(mesh) + "\nfunc.func @f(%x: tensor<2xf32>) -> " + to +
          " {\n  %0 = " + op + "\n  return %0 : " + to + "\n}",
      [](ModuleOp) {}, absent);
}

TEST(Lockstep, StopsAtWhatCannotBeEvaluated) {
  EXPECT_THAT(
      runOne(kSmall, "\"other.op\"(%x) : (tensor<2xf32>) -> tensor<2xf32>"),
      HasSubstr("expected an evaluation of 'other.op', got none"));
}

TEST(Lockstep, JoinsWhatLivesApart) {
  std::string join = "dist.join %x, %x over \"p\" : (tensor<2xf32>, "
                     "tensor<2xf32>) -> tensor<2xf32>";
  EXPECT_EQ(runOne(kCube, join),
            "'dist.join' op expected operands that live at different stages, "
            "got two at device \"p\"=0, \"x\"=0, \"y\"=0\n");
}

TEST(Lockstep, SendsWhatLivesThere) {
  std::string transfer = "dist.transfer @t0 %x along \"p\" 0 -> 1 : "
                         "tensor<2xf32>";
  EXPECT_EQ(runOne(kCube, transfer), "");
  // Stage 1 need not have it.
  EXPECT_EQ(runOne(kCube, transfer, "tensor<2xf32>", {4, 5, 6, 7}), "");
  EXPECT_EQ(runOne(kCube, transfer, "tensor<2xf32>", {1}),
            "'dist.transfer' op expected operand #0 to live at device "
            "\"p\"=0, \"x\"=0, \"y\"=1, where the op runs, got no value\n");
}

TEST(Lockstep, ExchangesWhatLivesThere) {
  const std::string sum = "dist.all_reduce %x over [\"y\"] sum : tensor<2xf32>";
  // A group without any value does nothing.
  EXPECT_EQ(runOne(kSmall, sum, "tensor<2xf32>", {3, 4, 5}), "");
  EXPECT_EQ(runOne(kSmall, sum, "tensor<2xf32>", {4}),
            "'dist.all_reduce' op expected operand #0 to live at device "
            "\"x\"=1, \"y\"=1, where the op runs, got no value\n");
  // Across stages, sums take what there is, and parts must all be there.
  for (auto [op, to] :
       {std::pair("all_gather %x dim 0 over [\"p\"] : tensor<2xf32> -> "
                  "tensor<4xf32>",
                  "tensor<4xf32>"),
        {"reduce_scatter %x dim 0 over [\"p\"] sum : tensor<2xf32> -> "
         "tensor<1xf32>",
         "tensor<1xf32>"},
        {"permute %x over [\"p\", \"x\"] to [\"x\", \"p\"] : tensor<2xf32>",
         "tensor<2xf32>"}}) {
    EXPECT_EQ(runOne(kCube, std::string("dist.") + op, to), "") << op;
    EXPECT_THAT(runOne(kCube, std::string("dist.") + op, to, {4, 5, 6, 7}),
                HasSubstr("op cannot exchange operand #0: no value at device "
                          "\"p\"=1, \"x\"=0, \"y\"=0\n"))
        << op;
  }
  EXPECT_EQ(runOne(kCube, "dist.all_reduce %x over [\"p\"] sum : tensor<2xf32>",
                   "tensor<2xf32>", {4, 5, 6, 7}),
            "");
  std::string turn = std::string(kCube) + R"(
    func.func @f(%x: tensor<2x1xf32>) {
      %0 = dist.all_to_all %x split 0 concat 1 over ["p"] : tensor<2x1xf32> -> tensor<1x2xf32>
      return
    })";
  EXPECT_EQ(runBroken(turn, [](ModuleOp) {}), "");
  EXPECT_EQ(runBroken(turn, [](ModuleOp) {}, {4, 5, 6, 7}),
            "'dist.all_to_all' op cannot exchange operand #0: no value at "
            "device \"p\"=1, \"x\"=0, \"y\"=0\n");
}

// What verified text does not say.
TEST(Lockstep, StopsAtAxesThatAreNotThere) {
  std::string text = std::string(kCube) + R"(
    func.func @f(%x: tensor<3xf32>) {
      %0 = dist.all_reduce %x over ["y", "x"] sum : tensor<3xf32>
      %1 = dist.transfer @t0 %x along "p" 0 -> 1 : tensor<3xf32>
      return
    })";
  auto rename = [](StringRef op, StringRef attribute) {
    return [=](ModuleOp module) {
      module.walk([&](Operation *found) {
        mlir::Builder b(module.getContext());
        if (found->getName().getStringRef() == op)
          found->setAttr(attribute,
                         attribute == "axis"
                             ? Attribute(b.getStringAttr("q"))
                             : Attribute(b.getStrArrayAttr({"y", "q"})));
      });
    };
  };
  EXPECT_EQ(runBroken(text, [](ModuleOp) {}), "");
  EXPECT_EQ(runBroken(text, rename("dist.all_reduce", "axes")),
            "'dist.all_reduce' op expected an axis of the mesh, got \"q\"\n");
  EXPECT_EQ(runBroken(text, rename("dist.transfer", "axis")),
            "'dist.transfer' op expected an axis of the mesh, got 'q'\n");
}

TEST(Lockstep, StopsAtPartsThatAreNotEqual) {
  std::string text = std::string(kSmall) + R"(
    func.func @f(%x: tensor<4xf32>) {
      %0 = dist.reduce_scatter %x dim 0 over ["x"] sum : tensor<4xf32> -> tensor<2xf32>
      return
    })";
  EXPECT_EQ(runBroken(text, [](ModuleOp) {}), "");
  EXPECT_EQ(
      runBroken(
          text,
          [](ModuleOp module) {
            getFunction(module).front().front().setAttr(
                "axes",
                mlir::Builder(module.getContext()).getStrArrayAttr({"y"}));
          }),
      "'dist.reduce_scatter' op cannot exchange operand #0: dim 0 of size 4 is "
      "not divisible by 3 members\n");
  // A result that is not what its type says.
  EXPECT_EQ(
      runBroken(text,
                [](ModuleOp module) {
                  mlir::Builder b(module.getContext());
                  getFunction(module).front().front().setAttr(
                      "axes", b.getStrArrayAttr({"x", "x"}));
                }),
      "'dist.reduce_scatter' op expected a result of type 'tensor<2xf32>' at "
      "device \"x\"=0, \"y\"=0, got 'tensor<1xf32>'\n");
}

TEST(Lockstep, RunsFunctionsOfOneBlock) {
  const char *expected = "'func.func' op expected a function with one block\n";
  auto none = [](ModuleOp) {};
  EXPECT_EQ(runBroken(std::string(kSmall) + "\nfunc.func private @f()", none),
            expected);
  EXPECT_EQ(runBroken(std::string(kSmall) + R"(
    func.func @f() {
      "other.br"()[^next] : () -> ()
    ^next:
      return
    })",
                      none),
            expected);
  GraphContext context;
  auto module = context.parse(std::string(kSmall) +
                              "\nfunc.func @f(%x: tensor<2xf32>) { return }");
  ASSERT_TRUE(module) << context.takeMessages();
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  SmallVector<DeviceTensors> results;
  EXPECT_TRUE(failed(lockstep.run(getFunction(*module), {}, results)));
  EXPECT_EQ(context.takeMessages(),
            "'func.func' op expected 1 arguments, got 0\n");
}

TEST(Lockstep, ShowsEveryOpToTheObserver) {
  GraphContext context;
  auto module = context.parse(kSegments);
  ASSERT_TRUE(module) << context.takeMessages();
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  std::vector<std::string> seen;
  lockstep.setObserver([&](Operation *op, ArrayRef<DeviceTensors> results) {
    EXPECT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].size(), 4u);
    seen.push_back(op->getName().stripDialect().str());
  });
  SmallVector<DeviceTensors> results;
  ASSERT_TRUE(succeeded(lockstep.run(
      getFunction(*module), {everywhere(context.get(), 4, 5)}, results)));
  EXPECT_THAT(seen,
              testing::ElementsAre("coordinate", "convert", "broadcast_in_dim",
                                   "add", "transfer", "add", "keep", "join"));
}
} // namespace
