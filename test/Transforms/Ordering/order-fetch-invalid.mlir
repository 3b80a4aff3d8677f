// RUN: llmc-opt %s --split-input-file --llmc-make-frames="fetch=grad.w" --llmc-order-programs --verify-diagnostics

// The second box is of a state that is not there.
dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k_fill(write tensor<32xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<32xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {}]>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
func.func private @train.c0.B() -> (tensor<4x8xf32> {dist.port = #dist.port<gradient @w>}) {
  %a = dist.launch @kernels::@k_fill() : () -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}
func.func private @train.u0(%g: tensor<4x8xf32> {dist.port = #dist.port<gradient @w, boxes = [#dist.box<@w.0, #w, [0, 0]>, #dist.box<@w.2, #w, [0, 4]>]>}) {
  return
}
// expected-error @+1 {{'dist.timeline' op expected a part of a state in a box of 'grad.w', got @w.2}}
dist.timeline @train microbatches(1) programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>]) transfers([]) table(<["B0.0 U"]>)

// -----

// The second box is of the whole.
dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k_fill(write tensor<32xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<32xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {}]>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
func.func private @train.c0.B() -> (tensor<4x8xf32> {dist.port = #dist.port<gradient @w>}) {
  %a = dist.launch @kernels::@k_fill() : () -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}
func.func private @train.u0(%g: tensor<4x8xf32> {dist.port = #dist.port<gradient @w, boxes = [#dist.box<@w.0, #w, [0, 0]>, #dist.box<@w, #w, [0, 4]>]>}) {
  return
}
// expected-error @+1 {{'dist.timeline' op expected a part of a state in a box of 'grad.w', got @w}}
dist.timeline @train microbatches(1) programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>]) transfers([]) table(<["B0.0 U"]>)

// -----

// The second box lies on a mesh that is not there.
dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k_fill(write tensor<32xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<32xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {}]>
#other = #dist.layout<@other, [{}, {}]>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
func.func private @train.c0.B() -> (tensor<4x8xf32> {dist.port = #dist.port<gradient @w>}) {
  %a = dist.launch @kernels::@k_fill() : () -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}
func.func private @train.u0(%g: tensor<4x8xf32> {dist.port = #dist.port<gradient @w, boxes = [#dist.box<@w.0, #w, [0, 0]>, #dist.box<@w.1, #other, [0, 4]>]>}) {
  return
}
// expected-error @+1 {{'dist.timeline' op expected mesh @other in the module, got none}}
dist.timeline @train microbatches(1) programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>]) transfers([]) table(<["B0.0 U"]>)

// -----

// What one member gets is no sum that all have.
dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<4x4xf32> {role = parameter}
module @kernels {
  dist.kernel @k_fill(write tensor<16xf32>) for "cpu" by @k_fill_cpu
  func.func private @k_fill_cpu(memref<16xf32>, index, index, memref<0xi8>)
}
#w = #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>
func.func private @train.c0.B() -> (tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %w = dist.launch @kernels::@k_fill() : () -> tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}
// expected-error @+1 {{expected collectives that reduce 'grad.w', which is to be fetched, got it in layout #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>}}
func.func private @train.u0(%g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w, layout = #w>}) -> (tensor<4x4xf32> {dist.port = #dist.port<metric "m">}) {
  %r = dist.reduce %g to [0] over ["data"] sum : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
dist.timeline @train microbatches(1) programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>]) transfers([]) table(<["B0.0 U"]>)
