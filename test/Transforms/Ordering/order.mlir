// RUN: llmc-opt %s --llmc-phase-ordered | FileCheck %s

dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4x6xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.buffer @w.local of @w : tensor<4x6xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}, {}]>, [0, 0]>]
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>

module @kernels {
  dist.kernel @k_square(read tensor<48xf32>, write tensor<48xf32>) for "cpu" by @k_square_cpu
  func.func private @k_square_cpu(memref<48xf32>, memref<48xf32>, index, index, memref<0xi8>)
  dist.kernel @k_update(readwrite tensor<24xf32>, read tensor<24xf32>, read tensor<1xf32>, write tensor<1xf32>) for "cpu" by @k_update_cpu
  func.func private @k_update_cpu(memref<24xf32>, memref<24xf32>, memref<1xf32>, memref<1xf32>, index, index, memref<0xi8>)
}

// CHECK-DAG: plan.device threads(1)
// CHECK-DAG: plan.stream @C compute
// CHECK-DAG: plan.stream @K copy
// CHECK-DAG: plan.frame @state state
// CHECK-DAG: plan.buffer @state.w.local in @state bytes(96)
// CHECK-DAG: plan.part of @w origin([0, 0]) shape([4, 6]) layout(#layout) place(<@state.w.local, [4, 6], f32>)

// Data is copied while the microbatch before is computed: two slots.
// CHECK: plan.frame @train.input0 input slots(2) slot(<mod(microbatch, 2)>) events(2)
// CHECK: plan.buffer @train.input0.x in @train.input0 bytes(128)
// CHECK: plan.frame @train.act0 act chunk(0)
// CHECK: plan.frame @train.step step events(2)

// CHECK: plan.program @train.prologue other {
// CHECK-NEXT: plan.copy on @K to(<@train.hyper.lr, [], f32>) host hyper name("lr")
// CHECK-NEXT: plan.fill on @C <@train.step.grad.w, [4, 6], f32>
// CHECK-NEXT: }

// One wait for the data covers the hyper values, which were copied before it.
// CHECK: plan.program @train.c0.F forward chunk(0) {
// CHECK-NEXT: plan.wait on @K @train.input0 event(0)
// CHECK-NEXT: plan.copy on @K to(<@train.input0.x, [8, 4], f32>) host input name("x")
// CHECK-NEXT: plan.signal on @K @train.input0 event(1)
// CHECK-NEXT: plan.wait on @C @train.input0 event(1)
// CHECK-NEXT: plan.library on @C #plan.contraction<[<m, 8, a = 4, c = 6>, <n, 6, b = 1, c = 1>, <k, 4, a = 1, b = 6>], accumulate = f32>
// CHECK-SAME: operands([#plan.use<read, <@train.input0.x, [8, 4], f32>>, #plan.use<read, <@state.w.local, [4, 6], f32>>, #plan.use<write, <@train.c0.F.tmp.0, [8, 6], f32>>])
// CHECK-NEXT: plan.kernel on @C @kernels::@k_square operands([#plan.use<read, <@train.c0.F.tmp.0, [48], f32>>, #plan.use<write, <@train.act0.a0, [48], f32>>]) scalars([])
// The argument that the backward keeps is copied into its slot.
// CHECK-NEXT: plan.copy on @C to(<@train.act0.a1, [8, 4], f32>) from(<@train.input0.x, [8, 4], f32>)
// CHECK-NEXT: plan.signal on @C @train.input0 event(0)
// CHECK-NEXT: }

// CHECK: plan.program @train.c0.B backward chunk(0) {
// CHECK-NEXT: plan.library on @C
// CHECK-SAME: accumulate = f32, beta = 1>
// CHECK-SAME: operands([#plan.use<read, <@train.act0.a1, [8, 4], f32>>, #plan.use<read, <@train.act0.a0, [8, 6], f32>>, #plan.use<readwrite, <@train.step.grad.w, [4, 6], f32>>])
// CHECK-NEXT: }

// CHECK: plan.program @train.u0 update {
// CHECK-NEXT: plan.kernel on @C @kernels::@k_update operands([#plan.use<readwrite, <@state.w.local, [4, 6], f32>>, #plan.use<read, <@train.step.grad.w, [4, 6], f32>>, #plan.use<read, <@train.hyper.lr, [], f32>>, #plan.use<write, <@train.step.norm, [], f32>>]) scalars([])
// CHECK-NEXT: plan.signal on @C @train.step event(1)
// CHECK-NEXT: plan.wait on @K @train.step event(1)
// CHECK-NEXT: plan.copy on @K from(<@train.step.norm, [], f32>) host metric name("norm")
// CHECK-NEXT: }

// CHECK: plan.table @train.table programs([@train.c0.F, @train.c0.B]) rows(<["0.0", "1.0", "0.1", "1.1", "0.2", "1.2"]>)
// CHECK: plan.entry @train train microbatches(3) chunks(1) prologue([@train.prologue]) table(@train.table) epilogue([@train.u0]) inputs([#plan.input<"x", tensor<8x4xf32>, data = #dist.data<"data">>]) hypers([@lr]) metrics([#plan.metric<"norm", f32>]) fetches([])
// CHECK-NOT: dist.timeline

func.func private @train.c0.F(%mb: index {dist.port = #dist.port<microbatch>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x", data = <"data">>}, %w: tensor<4x6xf32> {dist.port = #dist.port<buffer @w.local>})
    -> (tensor<48xf32> {dist.port = #dist.port<act "a0", chunk = 0>}, tensor<8x4xf32> {dist.port = #dist.port<act "a1", chunk = 0>}) {
  %y = dist.contract %x, %w batch [] x [] contracting [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %f = stablehlo.reshape %y : (tensor<8x6xf32>) -> tensor<48xf32>
  %s = dist.launch @kernels::@k_square(%f) : (tensor<48xf32>) -> tensor<48xf32>
  return %s, %x : tensor<48xf32>, tensor<8x4xf32>
}
func.func private @train.c0.B(%s: tensor<48xf32> {dist.port = #dist.port<act "a0", chunk = 0>}, %x: tensor<8x4xf32> {dist.port = #dist.port<act "a1", chunk = 0>}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<gradient @w>}) {
  %t = stablehlo.reshape %s : (tensor<48xf32>) -> tensor<8x6xf32>
  %g2 = dist.contract %x, %t plus %g batch [] x [] contracting [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %g2 : tensor<4x6xf32>
}
func.func private @train.u0(%w: tensor<4x6xf32> {dist.port = #dist.port<buffer @w.local>}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @w>}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<buffer @w.local>}, tensor<f32> {dist.port = #dist.port<metric "norm">}) {
  %w2, %n = dist.launch @kernels::@k_update(%w, %g, %lr) {tied = [[0, 0]]} : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<f32>)
  return %w2, %n : tensor<4x6xf32>, tensor<f32>
}
dist.timeline @train microbatches(3)
    programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["F0.0 B0.0 F0.1 B0.1 F0.2 B0.2 U"]>)
