//===- LockstepProgram.h - A local program, run on all devices --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_INTERPRETER_LOCKSTEPPROGRAM_H
#define LLMC_TEST_INTERPRETER_LOCKSTEPPROGRAM_H

#include "GraphContext.h"
#include "llmc/Interpreter/LockstepStepInterpreter.h"
#include <gtest/gtest.h>

namespace llmc::test {

/// For <"d"=2, "t"=2>: the three columns of x and w lie in two pairs, one of
/// them padded.
inline constexpr const char *kLocal = R"(
  dist.mesh @mesh = <"d"=2, "t"=2>
  dist.state @w : tensor<3xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
  dist.buffer @w.local of @w : tensor<2xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{"t"}:4]>, [0]>]
  func.func @micro(%x: tensor<2x2xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"d"}, {"t"}:4]>>},
      %w: tensor<2xf32> {dist.port = #dist.port<parameter @w>})
      -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
          tensor<2xf32> {dist.port = #dist.port<gradient @w>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<2x2xf32>
    %n = stablehlo.constant dense<4.0> : tensor<f32>
    %c = dist.coordinate ["t"] : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %o = stablehlo.multiply %c, %two : tensor<i32>
    %ob = stablehlo.broadcast_in_dim %o, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %i = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %k = stablehlo.add %ob, %i : tensor<2x2xi32>
    %end = stablehlo.constant dense<3> : tensor<2x2xi32>
    %in = stablehlo.compare LT, %k, %end : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %m = stablehlo.select %in, %x, %zeros : tensor<2x2xi1>, tensor<2x2xf32>
    %g = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %p = stablehlo.multiply %g, %w : tensor<2xf32>
    %l = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %l, %n, %g : tensor<f32>, tensor<f32>, tensor<2xf32>
  }
  func.func @update(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>},
      %g: tensor<2xf32> {dist.port = #dist.port<gradient @w>},
      %loss: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
      -> (tensor<2xf32> {dist.port = #dist.port<parameter @w>},
          tensor<f32> {dist.port = #dist.port<metric "loss">}) {
    %full = dist.all_reduce %g over ["d"] sum : tensor<2xf32>
    %total = dist.all_reduce %loss over ["d", "t"] sum : tensor<f32>
    %new = stablehlo.subtract %w, %full : tensor<2xf32>
    %mean = stablehlo.divide %total, %count : tensor<f32>
    return %new, %mean : tensor<2xf32>, tensor<f32>
  }
  dist.step @train microbatch(@micro) update(@update) microbatches(2) schedule(<1f1b>)
)";

inline HostTensor giveInput(MLIRContext *context, int64_t step,
                            int64_t microbatch) {
  HostTensor x(mlir::Float32Type::get(context), {4, 3});
  for (int64_t i = 0; i < 12; ++i)
    x.setFloat(i, static_cast<double>(i * i + 5 * microbatch + step));
  return x;
}

/// kLocal with `to` in the place of `from`.
inline std::string replaced(const std::string &from, const std::string &to) {
  std::string text = kLocal;
  text.replace(text.find(from), from.size(), to);
  return text;
}

/// A program on a mesh, with `w` zero, run for one step; all that is said.
struct LocalRun {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  std::optional<LockstepStepInterpreter> lockstep;
  LockstepStepInterpreter::StepResult result;

  explicit LocalRun(const std::string &text) : module(context.parse(text)) {
    if (module)
      restart();
  }
  /// On the module as it is now.
  void restart() {
    lockstep.emplace(*module, *module->getOps<dist::MeshOp>().begin(),
                     LockstepOptions());
    NamedTensors states;
    for (auto state : module->getOps<dist::StateOp>())
      states[state.getSymNameAttr()] = HostTensor(state.getTensorType());
    EXPECT_TRUE(succeeded(lockstep->setStates(states)));
  }
  std::string step(StringRef name = "train", bool isWhole = true) {
    if (!module)
      return context.takeMessages();
    bool ok = succeeded(lockstep->runStep(
        name, 3,
        [&](StringRef, int64_t step, int64_t m) -> FailureOr<HostTensor> {
          if (!isWhole)
            return mlir::failure();
          return giveInput(context.get(), step, m);
        },
        result));
    std::string messages = context.takeMessages();
    EXPECT_EQ(ok, messages.empty() && isWhole);
    return messages;
  }
};

inline void erase(ModuleOp module, StringRef name) {
  mlir::SymbolTable::lookupSymbolIn(module, name)->erase();
}

/// Adds a declaration over elements that no engine holds.
inline void declareOthers(ModuleOp module) {
  mlir::OpBuilder b(module.getBodyRegion());
  auto type = mlir::RankedTensorType::get(
      {}, mlir::Float4E2M1FNType::get(module.getContext()));
  mlir::func::FuncOp::create(b, module.getLoc(), "late",
                             b.getFunctionType({type}, {}))
      .setPrivate();
}

} // namespace llmc::test

#endif // LLMC_TEST_INTERPRETER_LOCKSTEPPROGRAM_H
