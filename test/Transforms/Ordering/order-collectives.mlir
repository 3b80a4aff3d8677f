// RUN: llmc-opt %s --split-input-file --llmc-phase-ordered | FileCheck %s

// Collectives run on a stream for each set of axes, in place where their
// operand dies; coordinates become scalars of kernels.

dist.mesh @mesh = <"data"=2, "tensor"=2>
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.buffer @w.local of @w : tensor<8x4xf32> holds [#dist.box<@w, <@mesh, [{}, {}]>, [0, 0]>]
module @kernels {
  dist.kernel @k_part(read tensor<32xf32>, scalar i32 below 2, write tensor<16xf32>) for "cpu" by @k_part_cpu
  func.func private @k_part_cpu(memref<32xf32>, index, memref<16xf32>, index, index, memref<0xi8>)
  dist.kernel @k_add(read tensor<16xf32>, readwrite tensor<16xf32>) for "cpu" by @k_add_cpu
  func.func private @k_add_cpu(memref<16xf32>, memref<16xf32>, index, index, memref<0xi8>)
  dist.kernel @k_scale(read tensor<16xf32>, write tensor<16xf32>) for "cpu" by @k_scale_cpu
  func.func private @k_scale_cpu(memref<16xf32>, memref<16xf32>, index, index, memref<0xi8>)
}

// CHECK: plan.stream @C compute
// CHECK-NEXT: plan.stream @K copy
// CHECK-NEXT: plan.stream @X.tensor collective priority(1)
// CHECK-NEXT: plan.stream @X.data.tensor collective priority(1)

// The compute stream opens and closes the memory that the call shares with
// others; the second all_reduce takes its operand's place.
// CHECK: plan.program @train.c0.F forward chunk(0) {
// CHECK-NEXT: plan.kernel on @C @kernels::@k_part operands([#plan.use<read, <@state.w.local, [8, 4], f32>>, #plan.use<write, <@train.c0.F.tmp.0, [4, 4], f32>>]) scalars([#plan.expr<add(mul(coordinate("data"), 2), coordinate("tensor"))>])
// CHECK-NEXT: plan.signal on @C @train.c0.F.tmp event(1)
// CHECK-NEXT: plan.wait on @X.tensor @train.c0.F.tmp event(1)
// CHECK-NEXT: plan.collective on @X.tensor @train.c0.F.x0 all_reduce reduction sum axes(["tensor"]) inputs([#plan.operand<@train.c0.F.tmp.0, [4, 4], f32>]) outputs([#plan.operand<@train.c0.F.tmp.1, [4, 4], f32>])
// CHECK-NEXT: plan.signal on @X.tensor @train.c0.F.tmp event(2)
// CHECK-NEXT: plan.wait on @C @train.c0.F.tmp event(2)
// CHECK-NEXT: plan.kernel on @C @kernels::@k_add operands([#plan.use<read, <@train.c0.F.tmp.1, [4, 4], f32>>, #plan.use<readwrite, <@train.c0.F.tmp.0, [4, 4], f32>>])
// CHECK-NEXT: plan.signal on @C @train.c0.F.tmp event(3)
// CHECK-NEXT: plan.wait on @X.data.tensor @train.c0.F.tmp event(3)
// CHECK-NEXT: plan.collective on @X.data.tensor @c1 all_reduce reduction max axes(["tensor", "data"]) inputs([#plan.operand<@train.c0.F.tmp.0, [4, 4], f32>]) outputs([#plan.operand<@train.c0.F.tmp.0, [4, 4], f32>])
// CHECK-NEXT: plan.signal on @X.data.tensor @train.c0.F.tmp event(4)
// CHECK-NEXT: plan.wait on @C @train.c0.F.tmp event(4)
// CHECK-NEXT: plan.kernel on @C @kernels::@k_scale operands([#plan.use<read, <@train.c0.F.tmp.0, [4, 4], f32>>, #plan.use<write, <@train.c0.F.tmp.2, [4, 4], f32>>])
// CHECK: plan.collective on @X.tensor @train.c0.F.x2 all_gather axes(["tensor"]) dim(1) inputs([#plan.operand<@train.c0.F.tmp.2, [4, 4], f32>]) outputs([#plan.operand<@train.act0.y, [4, 8], f32>])
// CHECK-NEXT: plan.signal on @X.tensor @train.c0.F.tmp event([[end:[0-9]+]])
// CHECK-NEXT: plan.wait on @C @train.c0.F.tmp event([[end]])
// CHECK-NEXT: }
func.func private @train.c0.F(%w: tensor<8x4xf32> {dist.port = #dist.port<buffer @w.local>})
    -> (tensor<4x8xf32> {dist.port = #dist.port<act "y", chunk = 0>}) {
  %c = dist.coordinate ["data", "tensor"] : tensor<i32>
  %p = dist.launch @kernels::@k_part(%w, %c) : (tensor<8x4xf32>, tensor<i32>) -> tensor<4x4xf32>
  %x = dist.all_reduce %p over ["tensor"] sum : tensor<4x4xf32>
  %q = dist.launch @kernels::@k_add(%x, %p) {tied = [[0, 1]]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = dist.all_reduce @c1 %q over ["tensor", "data"] max : tensor<4x4xf32>
  %s = dist.launch @kernels::@k_scale(%m) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = dist.all_gather %s dim 1 over ["tensor"] : tensor<4x4xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Memory that another stream writes first is opened by the compute stream.
// CHECK: plan.program @train.c0.B backward chunk(0) {
// CHECK-NEXT: plan.signal on @C @train.c0.B.tmp event(1)
// CHECK-NEXT: plan.wait on @X.tensor @train.c0.B.tmp event(1)
// CHECK-NEXT: plan.collective on @X.tensor @train.c0.B.x0 reduce_scatter reduction sum axes(["tensor"]) dim(1) inputs([#plan.operand<@train.act0.y, [4, 8], f32>]) outputs([#plan.operand<@train.c0.B.tmp.0, [4, 4], f32>])
// CHECK: plan.kernel on @C @kernels::@k_add operands([#plan.use<read, <@train.c0.B.tmp.0, [4, 4], f32>>, #plan.use<readwrite, <@train.step.grad.w, [4, 4], f32>>])
// CHECK: }
func.func private @train.c0.B(%y: tensor<4x8xf32> {dist.port = #dist.port<act "y", chunk = 0>}, %g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %s = dist.reduce_scatter %y dim 1 over ["tensor"] sum : tensor<4x8xf32> -> tensor<4x4xf32>
  %g2 = dist.launch @kernels::@k_add(%s, %g) {tied = [[0, 1]]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %g2 : tensor<4x4xf32>
}

// The sum is reduced where it lies; a gathered state is written where it lives.
// CHECK: plan.program @train.u0 update {
// CHECK: plan.collective on @X.data.tensor @train.u0.x0 all_reduce reduction sum axes(["data", "tensor"]) inputs([#plan.operand<@train.step.grad.w, [4, 4], f32>]) outputs([#plan.operand<@train.step.grad.w, [4, 4], f32>])
// CHECK: plan.collective on @X.data.tensor @train.u0.x1 permute axes(["data", "tensor"]) peer(<add(mul(coordinate("tensor"), 2), coordinate("data"))>)
// CHECK: plan.collective on @X.data @train.u0.x2 broadcast axes(["data"]) peer(<1>) inputs([#plan.operand<@train.u0.tmp.1, [4, 4], f32>]) outputs([#plan.operand<@train.u0.tmp.1, [4, 4], f32>])
// CHECK: plan.collective on @X.data @train.u0.x3 all_gather axes(["data"]) inputs({{.*}}) outputs([#plan.operand<@state.w.local, [8, 4], f32>])
func.func private @train.u0(%g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<8x4xf32> {dist.port = #dist.port<buffer @w.local>}) {
  %r = dist.all_reduce %g over ["data", "tensor"] sum : tensor<4x4xf32>
  %h = dist.launch @kernels::@k_scale(%r) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = dist.permute %h over ["data", "tensor"] to ["tensor", "data"] : tensor<4x4xf32>
  %b = dist.broadcast %a from [1] over ["data"] : tensor<4x4xf32>
  %w2 = dist.all_gather %b dim 0 over ["data"] : tensor<4x4xf32> -> tensor<8x4xf32>
  return %w2 : tensor<8x4xf32>
}
dist.timeline @train microbatches(2)
    programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["F0.0 B0.0 F0.1 B0.1 U"]>)

// -----

// Of the pipeline axis the two stages count that have the collective: stage 3 is
// the second of them.
dist.mesh @mesh = <"pipe"=4, "data"=2> pipeline "pipe"
dist.state @s : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @s>}) {
  %x = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %x : tensor<4xf32>
}
func.func private @f.u0(%x: tensor<4xf32> {dist.port = #dist.port<gradient @s>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "z">}, tensor<4xf32> {dist.port = #dist.port<metric "y">}) {
  // CHECK: plan.collective on @X.pipe @b0 broadcast axes(["pipe"]) stages([1, 3]) peer(<1>)
  %y = dist.broadcast @b0 %x from [3] over ["pipe"] : tensor<4xf32>
  // CHECK: plan.collective on @X.pipe.data @b1 broadcast axes(["pipe", "data"]) stages([1, 3]) peer(<3>)
  %z = dist.broadcast @b1 %y from [3, 1] over ["pipe", "data"] : tensor<4xf32>
  return %z, %y : tensor<4xf32>, tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [1, 3]>, #dist.program<@f.u0, phase = update, at = [1, 3]>]) transfers([]) table(<[". .", "F0.0 U", ". .", "F0.0 U"]>)

// -----

// Members that name their source: a rotation is a sum, other orders are looked up.
dist.mesh @mesh = <"x"=4, "y"=2>
dist.state @s : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @s>}) {
  %x = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  // CHECK: plan.collective on @X.x @f.c0.F.x0 permute axes(["x"]) peer(<mod(add(coordinate("x"), 3), 4)>)
  %0 = dist.permute %x over ["x"] from [3, 0, 1, 2] : tensor<4xf32>
  // CHECK: plan.collective on @X.y @f.c0.F.x1 permute axes(["y"]) peer(<mod(add(coordinate("y"), 1), 2)>)
  %1 = dist.permute %0 over ["y"] from [1, 0] : tensor<4xf32>
  // CHECK: plan.collective on @X.x @f.c0.F.x2 permute axes(["x"]) peer(<min(add(add(mul(2, equal(coordinate("x"), 0)), mul(3, equal(coordinate("x"), 3))), equal(coordinate("x"), 1)), 3)>)
  %2 = dist.permute %1 over ["x"] from [2, 1, 0, 3] : tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @f.u0(%x: tensor<4xf32> {dist.port = #dist.port<gradient @s>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.u0, phase = update, at = [0]>]) transfers([]) table(<["F0.0 U"]>)
