// RUN: llmc-opt %s --llmc-order --split-input-file --verify-diagnostics

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected a launch, a contraction, a collective, an alias or a fence after kernels are formed}}
  %z = stablehlo.tanh %x : tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
module @kernels {
  func.func private @k(memref<4xf32>, index, index, memref<0xi8>) attributes {llmc.kernel, llmc.access = ["readwrite"]}
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected to work in place on a state or a sum, got slot #dist.port<input "x">}}
  %z = dist.launch @kernels::@k(%x) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
dist.state @s : tensor<4xf32> {role = parameter}
module @kernels {
  func.func private @k(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>) attributes {llmc.kernel, llmc.access = ["read", "write"]}
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<metric "z">}) {
  %z = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @g.u0(%x: tensor<4xf32> {dist.port = #dist.port<gradient @s>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "z">}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected a program that writes slot #dist.port<gradient @s>, got none}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@g.u0, phase = update, at = [0]>]) transfers([]) table(<["F0.0 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
module @kernels {
  func.func private @k(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>) attributes {llmc.kernel, llmc.access = ["read", "write"]}
}
// expected-error @+1 {{expected metric 'z' to be made once in a step, got it for each of 2 microbatches}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<metric "z">}) {
  %z = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(2) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0 F0.1"]>)

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @s : tensor<4xf32> {role = parameter}
func.func private @f.u0(%x: tensor<4xf32> {dist.port = #dist.port<gradient @s>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "z">}) {
  // expected-error @+1 {{expected a name, which all stages share}}
  %z = dist.all_reduce %x over ["pipe"] sum : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @s>}) {
  %x = dist.launch @kernels::@k() : () -> tensor<4xf32>
  return %x : tensor<4xf32>
}
func.func private @f.c1.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @s>}) {
  %x = dist.launch @kernels::@k() : () -> tensor<4xf32>
  return %x : tensor<4xf32>
}
module @kernels {
  func.func private @k(memref<4xf32>, index, index, memref<0xi8>) attributes {llmc.kernel, llmc.access = ["write"]}
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@f.u0, phase = update, at = [0, 1]>]) transfers([]) table(<["F0.0 . U", ". F1.0 U"]>)

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
module @kernels {
  func.func private @k(memref<4xf32>, index, memref<4xf32>, index, index, memref<0xi8>) attributes {llmc.kernel, llmc.access = ["read", "scalar", "write"]}
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
func.func private @f.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}, %y: tensor<i32> {dist.port = #dist.port<input "y">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected coordinates exactly where the kernel takes a scalar}}
  %z = dist.launch @kernels::@k(%x, %y) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>]) transfers([#dist.route<@t0: @f.c0.F -> @f.c1.F>]) table(<["F0.0 .", ". F1.0"]>)

// -----

// Stage 1 takes the microbatches in another order than they are sent.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
func.func private @f.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected the microbatches of transfer @t0 to be sent in the order in which they are received}}
dist.timeline @f microbatches(2) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>]) transfers([#dist.route<@t0: @f.c0.F -> @f.c1.F>]) table(<["F0.0 F0.1 . .", ". . F1.1 F1.0"]>)
