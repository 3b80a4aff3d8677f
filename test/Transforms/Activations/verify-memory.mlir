// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-memory

// A program reads an act slot that nobody writes.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) {
  return %x : tensor<4xf32>
}
// expected-error-re@+1 {{expected slot {{.*}}"a1"{{.*}} to be written by a program of 't'}}
func.func private @t.c0.B(%a: tensor<4xf32> {dist.port = #dist.port<act "a1", chunk = 0>}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  return %a : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c0.B, chunk = 0, phase = backward, at = [0]>]) transfers([]) table(<["F0.0 B0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{must not occur after phase 6}}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

func.func private @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{must not occur after phase 6}}
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Written at another stage than it is read.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @g : tensor<4xf32> {role = parameter}
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  return %x : tensor<4xf32>
}
func.func private @t.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected slot #dist.port<gradient @g> to be written at stage 1, where it is read}}
func.func private @t.u1(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %g : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@t.u1, phase = update, at = [1]>]) transfers([]) table(<["F0.0 . .", ". F1.0 U"]>)

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>, [0]>]
// expected-error@+1 {{at stage 0 reads #dist.port<buffer @w.local>, which lives at [1]}}
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0", "."]>)

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// expected-error@+1 {{expected a route of transfer @t0 from it}}
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0", "."]>)

// -----

// A sum that nobody writes, though it has a slot.
dist.mesh @mesh = <"data"=1>
dist.state @g : tensor<4xf32> {role = parameter}
// expected-error@+1 {{expected slot #dist.port<gradient @g> to be written by a program of 't'}}
func.func private @t.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %g : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.u0, phase = update, at = [0]>]) transfers([]) table(<["U"]>)

// -----

// An act slot is written at another stage than it is read.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected slot #dist.port<act "a0", chunk = 0> to be written at stage 1, where it is read}}
func.func private @t.c1.B(%a: tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %a : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c1.B, chunk = 1, phase = backward, at = [1]>]) transfers([]) table(<["F0.0 .", ". B1.0"]>)

// -----

// A program of two stages reads what one of them writes.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @g : tensor<4xf32> {role = parameter}
func.func private @t.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected slot #dist.port<gradient @g> to be written at stage 0, where it is read}}
func.func private @t.u(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %g : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@t.u, phase = update, at = [0, 1]>]) transfers([]) table(<[". U", "F1.0 U"]>)

// -----

// A route of the same transfer leads elsewhere.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
func.func private @t.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a route of transfer @t0 to it}}
func.func private @t.c1.B(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@t.c1.B, chunk = 1, phase = backward, at = [1]>]) transfers([#dist.route<@t0 : @t.c0.F -> @t.c1.F>]) table(<["F0.0 . .", ". F1.0 B1.0"]>)

// -----

// A program that only receives a transfer does not send it.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a route of transfer @t0 from it}}
func.func private @t.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c1.F, chunk = 1, phase = forward, at = [1]>]) transfers([#dist.route<@t0 : @t.c0.F -> @t.c1.F>]) table(<["F0.0 .", ". F1.0"]>)

// -----

// All is in order: sums and states at the stages of their readers.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @g : tensor<4xf32> {role = parameter}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>, [0]>]
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}, tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @t.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}, %w: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %0 = stablehlo.add %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @t.c0.B(%a: tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %a : tensor<4xf32>
}
func.func private @t.u1(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}) {
  return %g : tensor<4xf32>
}
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@t.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@t.u1, phase = update, at = [1]>]) transfers([#dist.route<@t0 : @t.c0.F -> @t.c1.F>]) table(<["F0.0 . B0.0 .", ". F1.0 . U"]>)

// -----

// The second argument of the second program of the second timeline.
dist.mesh @mesh = <"data"=1>
func.func private @s.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
func.func private @t.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<act "c0.a0", chunk = 0>}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected slot #dist.port<act "c0.a1", chunk = 0> to be written by a program of 't'}}
func.func private @t.c0.B(%a: tensor<4xf32> {dist.port = #dist.port<act "c0.a0", chunk = 0>}, %b: tensor<4xf32> {dist.port = #dist.port<act "c0.a1", chunk = 0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %a : tensor<4xf32>
}
dist.timeline @s microbatches(1) programs([#dist.program<@s.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
dist.timeline @t microbatches(1) programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c0.B, chunk = 0, phase = backward, at = [0]>]) transfers([]) table(<["F0.0 B0.0"]>)
