// RUN: llmc-opt %s --llmc-phase-ordered --split-input-file --verify-diagnostics

// Values without bytes, in no buffer, or of two types in one slot.

// A coordinate is a number of the plan, in no buffer.
dist.mesh @mesh = <"data"=2>
func.func private @f.c0.F() -> (tensor<i32> {dist.port = #dist.port<output "z">}) {
  %c = dist.coordinate ["data"] : tensor<i32>
  // expected-error @+1 {{expected operands that lie in buffers, got 'tensor<i32>'}}
  %z = dist.all_reduce %c over ["data"] sum : tensor<i32>
  return %z : tensor<i32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected a tensor of static shape, got 'tensor<?xf32>'}}
func.func private @f.c0.F(%z: tensor<?xf32> {dist.port = #dist.port<input "x">}) -> (tensor<?xf32> {dist.port = #dist.port<output "z">}) {
  return %z : tensor<?xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected a tensor of static shape, got 'i32'}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %i: i32 {dist.port = #dist.port<input "i">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected elements that the runtime stores, got 'complex<f32>'}}
func.func private @f.c0.F(%z: tensor<4xcomplex<f32>> {dist.port = #dist.port<input "x">}) -> (tensor<4xcomplex<f32>> {dist.port = #dist.port<output "z">}) {
  return %z : tensor<4xcomplex<f32>>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// The result alone has a type without bytes.
dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
// expected-error @+1 {{expected a tensor of static shape, got 'tensor<?xf32>'}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<?xf32> {dist.port = #dist.port<output "z">}) {
  %z = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// So has a value in between.
dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected a tensor of static shape, got 'tensor<?xf32>'}}
  %y = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<?xf32>
  %z = dist.launch @kernels::@k(%y) : (tensor<?xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// Two programs take one slot as different types.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected slot #dist.port<input "x"> as 'tensor<4xf32>', got 'tensor<2x2xf32>'}}
func.func private @f.c1.F(%x: tensor<2x2xf32> {dist.port = #dist.port<input "x">}) -> (tensor<2x2xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<2x2xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>]) transfers([]) table(<["F0.0 .", ". F1.0"]>)

// -----

// One program returns in a slot another type than it takes there.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
// expected-error @+1 {{expected slot #dist.port<gradient @g> as 'tensor<4xf32>', got 'tensor<2xf32>'}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<2xf32> {dist.port = #dist.port<gradient @g>}) {
  %y = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// A kernel works in place on a coordinate, which lies nowhere.
dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(readwrite tensor<1xi32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<1xi32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<i32> {dist.port = #dist.port<output "z">}) {
  %c = dist.coordinate ["data"] : tensor<i32>
  // expected-error @+1 {{expected operands that lie in buffers, got 'tensor<i32>'}}
  %z = dist.launch @kernels::@k(%c) {tied = [[0, 0]]} : (tensor<i32>) -> tensor<i32>
  return %z : tensor<i32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %c = dist.coordinate ["data"] : tensor<i32>
  // expected-error @+1 {{expected operands that lie in buffers, got 'tensor<i32>'}}
  %z = dist.fence(%x) after(%c) : tensor<4xf32> after tensor<i32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<i32> {dist.port = #dist.port<output "z">}) {
  %c = dist.coordinate ["data"] : tensor<i32>
  // expected-error @+1 {{expected operands that lie in buffers, got 'tensor<i32>'}}
  %z = dist.fence(%c) after(%x) : tensor<i32> after tensor<4xf32>
  return %z : tensor<i32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F() -> (tensor<1xi32> {dist.port = #dist.port<output "z">}) {
  %c = dist.coordinate ["data"] : tensor<i32>
  // expected-error @+1 {{expected operands that lie in buffers, got 'tensor<i32>'}}
  %z = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>
  return %z : tensor<1xi32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected operands that lie in buffers, got 'tensor<i32>'}}
func.func private @f.c0.F() -> (tensor<i32> {dist.port = #dist.port<output "z">}) {
  %c = dist.coordinate ["data"] : tensor<i32>
  return %c : tensor<i32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// A state of elements that are no whole bytes.
dist.mesh @mesh = <"data"=1>
dist.state @s : tensor<4xi2> {role = constant}
// expected-error @+1 {{expected elements that the runtime stores, got 'i2'}}
dist.buffer @s.local of @s : tensor<4xi2> holds [#dist.box<@s, #dist.layout<@mesh, [{}]>, [0]>]
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
