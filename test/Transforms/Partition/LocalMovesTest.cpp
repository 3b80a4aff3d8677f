//===- LocalMovesTest.cpp - Reshards and keeps on all devices -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A change of layout that moves nothing, run in lockstep on poisoned parts: the
// parts of a random tensor in the new layout. What padding a view adds is zero.
//
//===----------------------------------------------------------------------===//

#include "LockstepHarness.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {
const char *const kPair = R"(dist.mesh @mesh = <"x"=2, "y"=3>)";
const char *const kStages = R"(dist.mesh @mesh = <"p"=3, "x"=2> pipeline "p")";

struct Move {
  const char *mesh;
  const char *shape;
  const char *from;
  /// Text after `dist.`; `%x` is the operand.
  const char *op;
  const char *to;
};

/// One program `%0 = dist.<op>`, localized.
struct LocalMove {
  explicit LocalMove(const Move &move) {
    std::string tensor = std::string("tensor<") + move.shape + "xf64, ";
    std::string in = tensor + "#from>", out = tensor + "#to>";
    module = context.parse(
        std::string("#from = #dist.layout<@mesh, ") + move.from +
        ">\n#to = #dist.layout<@mesh, " + move.to + ">\n" + move.mesh +
        "\nfunc.func @f(%x: " + in +
        " {dist.port = #dist.port<input \"x\">}) -> (" + out +
        " {dist.port = #dist.port<output \"y\">}) {\n  %0 = dist." + move.op +
        " : " + in + " -> " + out + "\n  return %0 : " + out +
        "\n}\ndist.entry @e function(@f) chunks([0])");
    if (!module)
      return;
    auto entry = getFunction(*module);
    from = mlir::cast<RankedTensorType>(entry.getArgumentTypes()[0]);
    to = mlir::cast<RankedTensorType>(entry.getResultTypes()[0]);
    mlir::PassManager manager(context.get());
    manager.addPass(createLocalizePass());
    if (failed(manager.run(*module)))
      module = nullptr;
  }

  std::string run(uint64_t seed) {
    if (!module)
      return context.takeMessages();
    auto fromLayout = mlir::cast<dist::LayoutAttr>(from.getEncoding());
    auto toLayout = mlir::cast<dist::LayoutAttr>(to.getEncoding());
    LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
    const rt::Mesh &devices = lockstep.getMesh();
    std::mt19937_64 engine(seed);
    HostTensor whole = drawIntegers(
        RankedTensorType::get(from.getShape(), from.getElementType()), engine);
    bool poison = engine() % 2;
    DeviceTensors input =
        splitIntoTerms(whole, fromLayout, devices, engine, poison);
    SmallVector<DeviceTensors> results;
    if (failed(lockstep.run(getFunction(*module), {input}, results)))
      return context.takeMessages();
    HostTensor got(whole.getType());
    std::string error = gatherTensor(results[0], toLayout, devices, got);
    if (error.empty())
      error = compareTensors(whole, got, 0);
    if (error.empty() && !poison && !toLayout.isPartial())
      error = comparePadding(results[0], splitTensor(got, toLayout, devices));
    return error;
  }

  static std::string comparePadding(const DeviceTensors &parts,
                                    const DeviceTensors &again) {
    std::string error;
    for (size_t device = 0; error.empty() && device < parts.size(); ++device)
      if (again[device])
        error = compareTensors(again[device], parts[device], 0);
    return error.empty() ? "" : "padding: " + error;
  }

  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  RankedTensorType from, to;
};

const Move kMoves[] = {
    {kPair, "6x4", "[{}, {}]", "reshard %x", "[{\"x\"}, {}]"},
    {kPair, "6x4", "[{}, {}]", "reshard %x", "[{\"y\", \"x\"}, {}]"},
    {kPair, "12x4", "[{\"x\"}, {}]", "reshard %x", "[{\"x\", \"y\"}, {}]"},
    {kPair, "6x4", "[{\"y\"}, {}]", "reshard %x", "[{\"y\"}, {\"x\"}]"},
    // 5 rows as 6, and cut.
    {kPair, "5x4", "[{}, {}]", "reshard %x", "[{}:6, {}]"},
    {kPair, "5x4", "[{}:6, {}]", "reshard %x", "[{}, {}]"},
    {kPair, "5x4", "[{}:9, {}]", "reshard %x", "[{\"x\"}:6, {}]"},
    {kPair, "5x4", "[{}, {}]", "reshard %x", "[{\"y\"}:6, {\"x\"}:6]"},
    // Digits: 2 x 5 as 2 x 6, whole, cut, and after a split.
    {kPair, "10", "[{}]", "reshard %x", "[{}:[2, 5:6]]"},
    {kPair, "10", "[{}:[2, 5:6]]", "reshard %x", "[{}]"},
    {kPair, "10", "[{}:[2, 5:6]]", "reshard %x", "[{\"y\"}:12]"},
    {kPair, "10", "[{\"x\"}:[2, 5:6]]", "reshard %x", "[{\"x\"}]"},
    {kPair, "10", "[{\"x\"}]", "reshard %x", "[{\"x\", \"y\"}:[2, 5:6]]"},
    {kPair, "20", "[{\"x\"}:[4, 5:6]]", "reshard %x", "[{\"x\"}]"},
    {kPair, "20", "[{\"x\"}]", "reshard %x", "[{\"x\"}:[4, 5:7]]"},
    {kPair, "12", "[{\"x\"}:[3:4, 2, 2:3]]", "reshard %x",
     "[{\"x\"}:[3:4, 2, 2]]"},
    // Devices that share two digits, neither of which they fill alone.
    {kPair, "30", "[{\"x\", \"y\"}:[2, 3, 5:6]]", "reshard %x",
     "[{\"x\", \"y\"}]"},
    {kPair, "60", "[{\"x\", \"y\"}]", "reshard %x",
     "[{\"x\", \"y\"}:[2, 6, 5:6]]"},
    // Terms.
    {kPair, "4x4", "[{}, {}]", "keep %x where \"y\" = 2",
     "[{}, {}], partial = [sum{\"y\"}]"},
    {kPair, "9x4", "[{\"y\"}, {}]", "keep %x where \"x\" = 1",
     "[{\"y\"}, {}], partial = [sum{\"x\"}]"},
    {kPair, "9x4", "[{\"y\"}, {}]", "keep %x where \"y\"",
     "[{}, {}], partial = [sum{\"y\"}]"},
    {kPair, "11x4", "[{\"x\", \"y\"}:12, {}]", "keep %x where \"y\"",
     "[{\"x\"}:12, {}], partial = [sum{\"y\"}]"},
    {kPair, "4x4", "[{\"x\"}, {}], partial = [sum{\"y\"}]",
     "keep %x where \"x\"", "[{}, {}], partial = [sum{\"x\", \"y\"}]"},
    {kPair, "4x4", "[{}, {}]", "reshard %x",
     "[{}, {}], partial = [max{\"y\"}]"},
    // Stages.
    {kStages, "4x4", "[{}, {}], at = {\"p\" = [0, 2]}", "reshard %x",
     "[{\"x\"}, {}], at = {\"p\" = [2]}"},
    {kStages, "4x4", "[{}, {}]", "reshard %x", "[{}, {}], at = {\"p\" = [1]}"},
};

class LocalMoves : public testing::TestWithParam<Move> {};

TEST_P(LocalMoves, KeepTheValue) {
  LocalMove program(GetParam());
  for (uint64_t seed = 0; seed < 4; ++seed)
    ASSERT_EQ(program.run(seed), "")
        << GetParam().from << " " << GetParam().op << " " << GetParam().to;
}

INSTANTIATE_TEST_SUITE_P(All, LocalMoves, testing::ValuesIn(kMoves));

// What moves data is refused.
const Move kRefused[] = {
    {kPair, "6x4", "[{\"x\"}, {}]", "reshard %x", "[{}, {}]"},
    {kPair, "6x4", "[{\"x\"}, {}]", "reshard %x", "[{\"y\"}, {}]"},
    {kPair, "12x4", "[{\"x\", \"y\"}, {}]", "reshard %x",
     "[{\"y\", \"x\"}, {}]"},
    {kPair, "6x4", "[{\"x\"}, {}]", "reshard %x", "[{}, {\"x\"}]"},
    // Rows 0-2 | 3-4 and 0-3 | 4: a halo.
    {kPair, "5x4", "[{\"x\"}:6, {}]", "reshard %x", "[{\"x\"}:8, {}]"},
    {kPair, "6x4", "[{}, {}], partial = [sum{\"x\"}]", "reshard %x",
     "[{}, {}]"},
    {kPair, "6x4", "[{}, {}]", "reshard %x",
     "[{}, {}], partial = [sum{\"x\"}]"},
    {kStages, "6x4", "[{}, {}], at = {\"p\" = [0]}", "reshard %x",
     "[{}, {}], at = {\"p\" = [0, 1]}"},
    // From some stages to all, and to others.
    {kStages, "6x4", "[{}, {}], at = {\"p\" = [0]}", "reshard %x", "[{}, {}]"},
    {kStages, "6x4", "[{}, {}], at = {\"p\" = [0, 1]}", "reshard %x",
     "[{}, {}], at = {\"p\" = [1, 2]}"},
    // More stages have terms, and more devices at once.
    {kStages, "6x4", "[{}, {}], partial = [sum{\"p\"}], at = {\"p\" = [0, 1]}",
     "reshard %x",
     "[{}, {}], partial = [sum{\"p\", \"x\"}], at = {\"p\" = [0, 1, 2]}"},
    // Sums that become products.
    {kPair, "6x4", "[{}, {}], partial = [sum{\"x\"}]", "reshard %x",
     "[{}, {}], partial = [product{\"x\"}]"},
};

TEST(LocalMoves, RefuseWhatMovesData) {
  for (const Move &move : kRefused) {
    LocalMove program(move);
    EXPECT_EQ(program.module.get(), nullptr);
    EXPECT_THAT(program.context.takeMessages(),
                HasSubstr("expected a change of layout that moves nothing"))
        << move.from << " " << move.to;
  }
}
} // namespace
