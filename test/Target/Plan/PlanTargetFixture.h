//===- PlanTargetFixture.h - A module of phase 8 as text --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_TARGET_PLAN_PLANTARGETFIXTURE_H
#define LLMC_TEST_TARGET_PLAN_PLANTARGETFIXTURE_H

#include "llmc/Target/Plan/Plan.h"

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"
#include "llmc/Runtime/Plan/Verify/PlanWaits.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace llmc::test {

namespace rtp = llmc::rt::plan;
using mlir::ModuleOp;

/// x [8, 4] from the host, y = x w, z = square y, which the caller gets.
inline const char *const planText = R"mlir(
#w = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4x6xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
plan.device threads(2) seed(7) arenas([1024])
plan.stream @C compute
plan.stream @K copy
plan.frame @state state offset(0) size(128)
plan.buffer @state.w in @state bytes(96) offset(0)
plan.part of @w origin([0, 0]) shape([4, 6]) layout(#w) place(<@state.w, [4, 6], f32>)
plan.frame @in input slots(2) slot(<mod(microbatch, 2)>) events(2) offset(128) size(128)
plan.buffer @in.x in @in bytes(128) offset(0)
plan.frame @tmp tmp events(1) offset(384) size(192)
plan.buffer @tmp.y in @tmp bytes(192) offset(0)
plan.frame @out act slots(2) slot(<mod(microbatch, 2)>) events(2) offset(640) size(192)
plan.buffer @out.z in @out bytes(192) offset(0)
plan.program @f.c0.F forward chunk(0) {
  plan.copy on @K to(<@in.x, [8, 4], f32>) host input name("x")
  plan.signal on @K @in event(1)
  plan.wait on @C @in event(1)
  plan.library on @C #plan.contraction<[<m, 8, a = 4, c = 6>, <n, 6, b = 1, c = 1>, <k, 4, a = 1, b = 6>], accumulate = f32>
    operands([#plan.use<read, <@in.x, [8, 4], f32>>, #plan.use<read, <@state.w, [4, 6], f32>>, #plan.use<write, <@tmp.y, [8, 6], f32>>])
  plan.kernel on @C @kernels::@square operands([#plan.use<read, <@tmp.y, [48], f32>>, #plan.use<write, <@out.z, [48], f32>>]) scalars([])
  plan.signal on @C @out event(1)
  plan.wait on @K @out event(1)
  plan.copy on @K from(<@out.z, [8, 6], f32>) host fetch name("z")
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0", "0.1"]>)
plan.entry @f forward microbatches(2) chunks(1) prologue([unit]) table(@f.table) epilogue([unit])
  inputs([#plan.input<"x", tensor<8x4xf32>, data = #dist.data<"corpus", offset = 3>>]) hypers([@lr]) metrics([])
  fetches([#plan.fetch<"z", tensor<8x6xf32>, each_microbatch = true>])
)mlir";

class PlanTarget : public testing::Test {
protected:
  PlanTarget() {
    context.loadDialect<dist::DistDialect, plan::PlanDialect>();
    module = mlir::parseSourceString<ModuleOp>(planText, &context);
    rtp::KernelInfo square;
    square.name = "square";
    square.arguments = {{rt::DType::f32, rtp::Access::read, 192},
                        {rt::DType::f32, rtp::Access::write, 192}};
    manifest.kernels = {square};
    options.name = "test";
    options.objectFile = "kernels.so";
    options.objectHash = 42;
  }

  /// Puts `to` in the place of `from` in the text.
  void replace(const std::string &from, const std::string &to) {
    size_t at = edited.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    edited.replace(at, from.size(), to);
  }
  rt::Result<rtp::Plan> build() {
    module = mlir::parseSourceString<ModuleOp>(edited, &context);
    EXPECT_TRUE(module) << edited;
    return target::buildPlan(*module, manifest, options);
  }
  /// The error for the edited text without its place, which is there.
  std::string refuse() {
    rt::Result<rtp::Plan> plan = build();
    edited = planText;
    if (plan.ok())
      return "";
    size_t place = plan.message().find(" at ");
    EXPECT_NE(place, std::string::npos) << plan.message();
    return plan.message().substr(0, place);
  }

  std::string edited = planText;
  MLIRContext context;
  mlir::OwningOpRef<ModuleOp> module;
  rtp::Manifest manifest;
  target::PlanOptions options;
};

} // namespace llmc::test

#endif // LLMC_TEST_TARGET_PLAN_PLANTARGETFIXTURE_H
