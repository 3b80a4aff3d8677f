// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-make-frames="fetch=grad.w,grad.b" --llmc-order-programs --llmc-add-waits | FileCheck %s

// A sum that is partial over axes is fetched after the collectives that reduce
// it, in the layout that it has there; one that is not, as it is.

dist.mesh @mesh = <"data"=2, "tensor"=2>
dist.state @w : tensor<4x4xf32> {role = parameter}
dist.state @b : tensor<4x4xf32> {role = parameter}
module @kernels {
  dist.kernel @k_fill(write tensor<16xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<16xf32>, index, index, memref<0xi8>)
  dist.kernel @k_norm(read tensor<8xf32>, read tensor<16xf32>, write tensor<1xf32>) for "cpu" by @k_norm_cpu
  func.func private @k_norm_cpu(memref<8xf32>, memref<16xf32>, memref<1xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {"tensor"}], partial = [sum{"data"}]>
#b = #dist.layout<@mesh, [{"tensor"}:7, {}]>

// CHECK: #[[W:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
// CHECK: plan.program @train.u0 update {
// CHECK: plan.copy on @K from(<@train.step.grad.b, [4, 4], f32>) host fetch name("grad.b")
// CHECK: plan.copy on @K from(<@train.step.fetched.grad.w, [2, 4], f32>) host fetch name("grad.w")
// CHECK: fetches([#plan.fetch<"grad.b", tensor<7x4xf32>, layout = #{{.*}}>, #plan.fetch<"grad.w", tensor<4x8xf32>, layout = #[[W]]>])
func.func private @train.c0.B() -> (tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @b>}) {
  %w = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  %b = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  return %w, %b : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @train.u0(%g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w, layout = #w>},
    %b: tensor<4x4xf32> {dist.port = #dist.port<gradient @b, layout = #b, shape = [7, 4]>})
    -> (tensor<f32> {dist.port = #dist.port<metric "norm">}) {
  %r = dist.reduce_scatter %g dim 0 over ["data"] sum : tensor<4x4xf32> -> tensor<2x4xf32>
  %n = dist.launch @kernels::@k_norm(%r, %b) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
dist.timeline @train microbatches(1)
    programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)

// -----

dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<4x4xf32> {role = parameter}
module @kernels {
  dist.kernel @k_fill(write tensor<16xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<16xf32>, index, index, memref<0xi8>)
  dist.kernel @k_norm(read tensor<16xf32>, write tensor<1xf32>) for "cpu" by @k_norm_cpu
  func.func private @k_norm_cpu(memref<16xf32>, memref<1xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>
func.func private @train.c0.B() -> (tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %w = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}
// expected-error @+1 {{expected collectives that reduce 'grad.w', which is to be fetched, got it in layout}}
func.func private @train.u0(%g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w, layout = #w>})
    -> (tensor<f32> {dist.port = #dist.port<metric "norm">}) {
  %n = dist.launch @kernels::@k_norm(%g) : (tensor<4x4xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
dist.timeline @train microbatches(1)
    programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)

// -----

// Partial over two axes, reduced over one after the other.
dist.mesh @mesh = <"data"=2, "tensor"=2>
dist.state @w : tensor<4x4xf32> {role = parameter}
module @kernels {
  dist.kernel @k_fill(write tensor<16xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<16xf32>, index, index, memref<0xi8>)
  dist.kernel @k_norm(read tensor<8xf32>, write tensor<1xf32>) for "cpu" by @k_norm_cpu
  func.func private @k_norm_cpu(memref<8xf32>, memref<1xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {}], partial = [sum{"data", "tensor"}]>
// CHECK: #[[BOTH:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
// CHECK: fetches([#plan.fetch<"grad.w", tensor<4x4xf32>, layout = #[[BOTH]]>])
func.func private @train.c0.B() -> (tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %w = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}
func.func private @train.u0(%g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w, layout = #w>})
    -> (tensor<f32> {dist.port = #dist.port<metric "norm">}) {
  %r = dist.reduce_scatter %g dim 0 over ["data"] sum : tensor<4x4xf32> -> tensor<2x4xf32>
  %s = dist.all_reduce %r over ["tensor"] sum : tensor<2x4xf32>
  %n = dist.launch @kernels::@k_norm(%s) : (tensor<2x4xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
dist.timeline @train microbatches(1)
    programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)

// -----

// Two sums that are reduced: each is fetched under the name of its own.

dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<4x4xf32> {role = parameter}
dist.state @b : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k_fill(write tensor<16xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<16xf32>, index, index, memref<0xi8>)
  dist.kernel @k_few(write tensor<4xf32>) for "cpu" by @k_few_cpu
  func.func private @k_few_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>
#b = #dist.layout<@mesh, [{}], partial = [sum{"data"}]>
// CHECK: plan.program @train.u0 update {
// CHECK: plan.copy on @K from(<@train.step.fetched.grad.w, [2, 4], f32>) host fetch name("grad.w")
// CHECK: plan.copy on @K from(<@train.step.fetched.grad.b, [2], f32>) host fetch name("grad.b")
// CHECK: fetches([#plan.fetch<"grad.w", tensor<4x4xf32>, layout = #{{.*}}>, #plan.fetch<"grad.b", tensor<4xf32>, layout = #{{.*}}>])
func.func private @train.c0.B() -> (tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}, tensor<4xf32> {dist.port = #dist.port<gradient @b>}) {
  %w = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  %b = dist.launch @kernels::@k_few() : () -> tensor<4xf32>
  return %w, %b : tensor<4x4xf32>, tensor<4xf32>
}
func.func private @train.u0(%w: tensor<4x4xf32> {dist.port = #dist.port<gradient @w, layout = #w>}, %b: tensor<4xf32> {dist.port = #dist.port<gradient @b, layout = #b>}) {
  %v = dist.reduce_scatter %w dim 0 over ["data"] sum : tensor<4x4xf32> -> tensor<2x4xf32>
  %c = dist.reduce_scatter %b dim 0 over ["data"] sum : tensor<4xf32> -> tensor<2xf32>
  return
}
dist.timeline @train microbatches(1) programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>]) transfers([]) table(<["B0.0 U"]>)
