// RUN: llmc-opt %s --split-input-file --llmc-make-frames="fetch=grad.w" --llmc-order-programs --llmc-add-waits | FileCheck %s

// Gradients of parts are boxes of the whole's: of slots of their own, or of one
// buffer in which the parts lie side by side.

dist.mesh @mesh = <"data"=2, "tensor"=2>
module @kernels {
  dist.kernel @k_fill(write tensor<16xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<16xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {"tensor"}]>
dist.state @w : tensor<4x16xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 8]) : tensor<4x8xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 8] [4, 8]) : tensor<4x8xf32> {role = parameter}

// CHECK: plan.copy on @K from(<@train.step.grad.w.0, [4, 4], f32>) host fetch name("grad.w.0")
// CHECK: plan.copy on @K from(<@train.step.grad.w.1, [4, 4], f32>) host fetch name("grad.w.1")
// CHECK: fetches([#plan.fetch<"grad.w.0", tensor<4x8xf32>, layout = #{{.*}}, part_of = "grad.w", origin = [0, 0], whole = [4, 16]>, #plan.fetch<"grad.w.1", tensor<4x8xf32>, layout = #{{.*}}, part_of = "grad.w", origin = [0, 8], whole = [4, 16]>])
func.func private @train.c0.B() -> (tensor<4x4xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w.1>}) {
  %a = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  %b = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @train.u0(%a: tensor<4x4xf32> {dist.port = #dist.port<gradient @w.0, layout = #w>},
    %b: tensor<4x4xf32> {dist.port = #dist.port<gradient @w.1, layout = #w>}) {
  return
}
dist.timeline @train microbatches(1)
    programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)

// -----

// The sum of the boxes is reduced once; each lies in the layout after that.

dist.mesh @mesh = <"data"=2, "tensor"=2>
module @kernels {
  dist.kernel @k_fill(write tensor<32xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<32xf32>, index, index, memref<0xi8>)
  dist.kernel @k_norm(read tensor<16xf32>, write tensor<1xf32>) for "cpu" by @k_norm_cpu
  func.func private @k_norm_cpu(memref<16xf32>, memref<1xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {"tensor"}], partial = [sum{"data"}]>
dist.state @w : tensor<4x16xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 8]) : tensor<4x8xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 8] [4, 8]) : tensor<4x8xf32> {role = parameter}

// CHECK: #[[W:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
// CHECK: plan.copy on @K from(<@train.step.fetched.grad.w, [2, 4], f32, strides = [8, 1]>) host fetch name("grad.w.0")
// CHECK: plan.copy on @K from(<@train.step.fetched.grad.w, [2, 4], f32, offset = 16, strides = [8, 1]>) host fetch name("grad.w.1")
// CHECK: fetches([#plan.fetch<"grad.w.0", tensor<4x8xf32>, layout = #[[W]], part_of = "grad.w", origin = [0, 0], whole = [4, 16]>, #plan.fetch<"grad.w.1", tensor<4x8xf32>, layout = #[[W]], part_of = "grad.w", origin = [0, 8], whole = [4, 16]>])
func.func private @train.c0.B() -> (tensor<4x8xf32> {dist.port = #dist.port<gradient @w>}) {
  %a = dist.launch @kernels::@k_fill() : () -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}
func.func private @train.u0(%g: tensor<4x8xf32> {dist.port = #dist.port<gradient @w, boxes = [#dist.box<@w.0, #w, [0, 0]>, #dist.box<@w.1, #w, [0, 4]>]>})
    -> (tensor<f32> {dist.port = #dist.port<metric "norm">}) {
  %r = dist.reduce_scatter %g dim 0 over ["data"] sum : tensor<4x8xf32> -> tensor<2x8xf32>
  %n = dist.launch @kernels::@k_norm(%r) : (tensor<2x8xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
dist.timeline @train microbatches(1)
    programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)
