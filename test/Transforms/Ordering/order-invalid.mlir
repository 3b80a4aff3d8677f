// RUN: llmc-opt %s --llmc-phase-ordered --split-input-file --verify-diagnostics

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected a launch, a library call, a collective, an alias or a fence after kernels are formed}}
  %z = stablehlo.tanh %x : tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(readwrite tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected to work in place on a state, a sum or an activation, got slot #dist.port<input "x">}}
  %z = dist.launch @kernels::@k(%x) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
dist.state @s : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
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
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
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
  dist.kernel @k(write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@f.u0, phase = update, at = [0, 1]>]) transfers([]) table(<["F0.0 . U", ". F1.0 U"]>)

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
module @kernels {
  dist.kernel @k(read tensor<4xf32>, scalar i32 below 2, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, memref<4xf32>, index, index, memref<0xi8>)
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

// -----

// The sum is worked on twice, each time as it was first.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k(readwrite tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @copy(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @copy_cpu
  func.func private @copy_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @both(read tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @both_cpu
  func.func private @both_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %g = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}
func.func private @f.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "a">}, tensor<4xf32> {dist.port = #dist.port<metric "b">}) {
  %a = dist.launch @kernels::@k(%g) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{works in place on operand 0, which is no longer there}}
  %b = dist.launch @kernels::@k(%g) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.u0, phase = update, at = [0]>]) transfers([]) table(<["F0.0 U"]>)

// -----

// The sum is overwritten in its slot, and returned there as it was.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k(readwrite tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @copy(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @copy_cpu
  func.func private @copy_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @both(read tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @both_cpu
  func.func private @both_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %g = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}
// expected-error @+1 {{returns in slot #dist.port<gradient @g> what it overwrites there}}
func.func private @f.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "a">}, tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %a = dist.launch @kernels::@k(%g) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %g : tensor<4xf32>, tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.u0, phase = update, at = [0]>]) transfers([]) table(<["F0.0 U"]>)

// -----

// Two results in one slot.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k(readwrite tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @copy(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @copy_cpu
  func.func private @copy_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @both(read tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @both_cpu
  func.func private @both_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %g = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}
// expected-error @+1 {{expected one result in slot #dist.port<metric "a">}}
func.func private @f.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "a">}, tensor<4xf32> {dist.port = #dist.port<metric "a">}) {
  %a = dist.launch @kernels::@copy(%g) : (tensor<4xf32>) -> tensor<4xf32>
  %b = dist.launch @kernels::@copy(%g) : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.u0, phase = update, at = [0]>]) transfers([]) table(<["F0.0 U"]>)

// -----

// What is worked on in place is read by what comes after.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @k(readwrite tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @copy(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @copy_cpu
  func.func private @copy_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @both(read tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @both_cpu
  func.func private @both_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %g = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}
// expected-error @+1 {{cannot be ordered: }}
func.func private @f.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "a">}) {
  %a = dist.launch @kernels::@k(%g) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  %b = dist.launch @kernels::@both(%g, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.u0, phase = update, at = [0]>]) transfers([]) table(<["F0.0 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected a program of one block}}
func.func private @f.c0.F()
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%w: tensor<4xf32> {dist.port = #dist.port<buffer @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %w : tensor<4xf32>
}
// expected-error @+1 {{expected what #dist.port<buffer @w> of @f.c0.F names in the module, got none}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// Both chunks run on stage 0.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
func.func private @f.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected transfer @t0 between two stages, got stage 0 twice}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [0]>]) transfers([#dist.route<@t0: @f.c0.F -> @f.c1.F>]) table(<["F0.0 F1.0", ". ."]>)

// -----

// The value comes from a stage that does not take part.
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
dist.state @s : tensor<4xf32> {role = parameter}
func.func private @f.u0(%x: tensor<4xf32> {dist.port = #dist.port<gradient @s>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "z">}) {
  // expected-error @+1 {{expected stage 2 among those that have the collective}}
  %z = dist.broadcast @b %x from [2] over ["pipe"] : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<gradient @s>}) {
  %x = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %x : tensor<4xf32>
}
module @kernels {
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0, 1]>, #dist.program<@f.u0, phase = update, at = [0, 1]>]) transfers([]) table(<["F0.0 U", "F0.0 U", ". ."]>)

// -----

dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected argument 1 to be a slot or a transfer, got the microbatch's number}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<i32> {dist.port = #dist.port<microbatch>}) -> (tensor<i32> {dist.port = #dist.port<output "z">}) {
  %z = dist.all_reduce %m over ["data"] sum : tensor<i32>
  return %z : tensor<i32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected a launch, a library call, a collective, an alias or a fence after kernels are formed}}
  %z = arith.negf %x : tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected a kernel, got @kernels::@none}}
  %z = dist.launch @kernels::@none(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// The name is that of the kernel's function.
dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected a kernel, got @kernels::@k_cpu}}
  %z = dist.launch @kernels::@k_cpu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected 2 operands and untied results, got 3}}
  %z = dist.launch @kernels::@k(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F() -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error @+1 {{expected 2 operands and untied results, got 1}}
  %z = dist.launch @kernels::@k() : () -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// The transfer has no route.
dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected a route of transfer @t0, got none}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #dist.layout<@none, [{}]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected mesh @none in the module, got none}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #dist.layout<@mesh, [{"data"}:4]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected the sizes of what #dist.layout<@mesh, [{"data"}:4]> pads}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z", layout = #dist.layout<@mesh, [{"data"}:4]>>}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected the sizes of what #dist.layout<@mesh, [{"data"}:4]> pads}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// A program of the table reads the sum, and none writes it.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
func.func private @f.c0.F(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %g : tensor<4xf32>
}
// expected-error @+1 {{expected a program that writes slot #dist.port<gradient @g>, got none}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
