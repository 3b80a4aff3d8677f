// RUN: llmc-opt %s --llmc-phase-ordered | FileCheck %s

// Of three microbatches at most two are between forward and backward, so what
// the forward leaves for the backward has two slots, though each of them lives
// over four or more calls. Inputs of the forward are copied one ahead; those
// of the backward too live until it has run: three.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k_a(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_a_cpu
  func.func private @k_a_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @k_b(read tensor<4xf32>, read tensor<4xf32>, readwrite tensor<4xf32>) for "cpu" by @k_b_cpu
  func.func private @k_b_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
// CHECK-DAG: plan.frame @t.input0{{[.a-z0-9]*}} input slots(2) slot(<mod(microbatch, 2)>) events(2)
// CHECK-DAG: plan.frame @t.input0{{[.a-z0-9]*}} input slots(3) slot(<mod(microbatch, 3)>)
// CHECK-DAG: plan.frame @t.act0 act slots(2) slot(<mod(microbatch, 2)>) chunk(0)
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x", data = <"data">>}) -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) {
  %y = dist.launch @kernels::@k_a(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @t.c0.B(%a: tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}, %y: tensor<4xf32> {dist.port = #dist.port<input "y", data = <"data">>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %h = dist.launch @kernels::@k_b(%a, %y, %g) {tied = [[0, 2]]} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}
func.func private @t.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<output "o">}) {
  %y = dist.launch @kernels::@k_a(%g) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.timeline @t microbatches(3)
    programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@t.u0, phase = update, at = [0]>])
    transfers([]) table(<["F0.0 F0.1 B0.0 F0.2 B0.1 B0.2 U"]>)
