// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-scheduled

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0]) table(<["F0.0 B0.0 F0.1 B0.1 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a table after phase 5}}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error@+1 {{expected a legal table: cell B0.1 is missing}}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0]) table(<["F0.0 B0.0 F0.1 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error@+1 {{expected a legal table: cell F0.0 stands twice}}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0]) table(<["F0.0 F0.0 B0.0 F0.1 B0.1 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error@+1 {{expected a legal table: cell B0.0 stands before F0.0, on which it depends}}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0]) table(<["B0.0 F0.0 F0.1 B0.1 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error@+1 {{expected a table after phase 5}}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0])

// -----

// An entry has forwards of one microbatch and nothing else.
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a legal table: expected no update on stage 0, got 1}}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a legal table: expected forwards alone where there is no backward, got cell B0.0}}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0 B0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a legal table: cell F0.1 names a chunk or microbatch that does not exist}}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0 F0.1"]>)

// -----

// expected-error@+1 {{expected one 'dist.mesh', got 0}}
module {
}

// -----

// expected-error@+1 {{expected one 'dist.mesh', got 2}}
module {
  dist.mesh @a = <"data"=1>
  dist.mesh @b = <"data"=1>
}

// -----

// The second of two entries.
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
dist.entry @first function(@f) chunks([0]) table(<["F0.0"]>)
// expected-error@+1 {{expected a table after phase 5}}
dist.entry @second function(@f) chunks([0])
