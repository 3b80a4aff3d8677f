// RUN: llmc-opt %s --llmc-phase-ordered --split-input-file --verify-diagnostics

// The first transfer is received as it is sent, the second is not.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
func.func private @f.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<act "a", chunk = 1>}) {
  return %x : tensor<4xf32>
}
func.func private @f.c1.B(%x: tensor<4xf32> {dist.port = #dist.port<act "a", chunk = 1>}) -> (tensor<4xf32> {dist.port = #dist.port<send @t1>}) {
  return %x : tensor<4xf32>
}
func.func private @f.c0.B(%x: tensor<4xf32> {dist.port = #dist.port<recv @t1>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected the microbatches of transfer @t1 to be sent in the order in which they are received}}
dist.timeline @f microbatches(2) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@f.c1.B, chunk = 1, phase = backward, at = [1]>, #dist.program<@f.c0.B, chunk = 0, phase = backward, at = [0]>]) transfers([#dist.route<@t0: @f.c0.F -> @f.c1.F>, #dist.route<@t1: @f.c1.B -> @f.c0.B>]) table(<["F0.0 F0.1 . . . B0.0 B0.1", ". F1.0 F1.1 B1.1 B1.0 . ."]>)

// -----

// The first transfer has a route, the second none.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// expected-error @+1 {{expected a route of transfer @t1, got none}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}, tensor<4xf32> {dist.port = #dist.port<send @t1>}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @f.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>]) transfers([#dist.route<@t0: @f.c0.F -> @f.c1.F>]) table(<["F0.0 .", ". F1.0"]>)

// -----

// What is received has no route.
dist.mesh @mesh = <"data"=1>
// expected-error @+1 {{expected a route of transfer @t0, got none}}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
