// RUN: llmc-opt %s --llmc-verify-training --split-input-file --verify-diagnostics

dist.state @w : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  return %c : tensor<f32>
}
// expected-error @+1 {{expected no recipe after phase training}}
dist.training @train forward(@loss) optimizer(@loss) microbatches(1) schedule(<1f1b>)

// -----

func.func private @g()
func.func @f() {
  // expected-error @+1 {{expected no calls after phase training}}
  call @g() : () -> ()
  return
}

// -----

dist.state @w : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @w>}) {
  // expected-error @+1 {{expected 'dist.phase' on every op of a microbatch after phase training, got none}}
  %c = stablehlo.constant {dist.block = 0 : i64} dense<1.0> : tensor<f32>
  return %c, %c, %w : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @u(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<2xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<2xf32> {dist.port = #dist.port<parameter @w>}) { return %g : tensor<2xf32> }
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  %c = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  // expected-error @+1 {{expected operands of block 1 or before, got 2}}
  %d = stablehlo.negate %c {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<f32>
  return %d, %c, %w : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}, %g: tensor<f32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<f32> {dist.port = #dist.port<parameter @w>}) { return %g : tensor<f32> }
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %c = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  return %c, %c : tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<parameter @w>}) { return %w : tensor<f32> }
// expected-error @+1 {{expected a gradient of @w from @m, got none}}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  %c = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  return %c, %c, %c : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<metric "y">}) {
  // expected-error @+1 {{expected phase update on every op of an update}}
  %0 = stablehlo.negate %w : tensor<f32>
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  %c = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  return %c, %c, %c : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) { return }
// expected-error @+1 {{expected @u to write @w}}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>})
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<parameter @w>}) { return %w : tensor<f32> }
// expected-error @+1 {{expected @m to have a body, got a declaration}}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @w>}) {
  // expected-error @+1 {{expected 'dist.block' on every op of a microbatch after phase training, got none}}
  %c = stablehlo.constant {dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  return %c, %c, %w : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @u(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<2xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<2xf32> {dist.port = #dist.port<parameter @w>}) { return %g : tensor<2xf32> }
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  // Backward ops read values of any block, and of the forward.
  %c = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  %b = stablehlo.negate %c {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<f32>
  // expected-error @+1 {{expected operands of phase forward, got phase backward_input}}
  %d = stablehlo.negate %b {dist.block = 3 : i64, dist.phase = #dist.phase<forward>} : tensor<f32>
  return %d, %c, %w : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}, %g: tensor<f32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<f32> {dist.port = #dist.port<parameter @w>}) { return %g : tensor<f32> }
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  // expected-error @+1 {{expected no 'llmc.stop_gradient' after phase training}}
  %c = stablehlo.negate %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>, llmc.stop_gradient} : tensor<f32>
  return %c, %c, %c : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<parameter @w>}) { return %w : tensor<f32> }
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  %c = stablehlo.negate %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<f32>
  return %c, %c, %c : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<parameter @w>}) {
  // expected-error @+1 {{expected phase update on every op of an update}}
  %0 = stablehlo.negate %w {dist.phase = #dist.phase<forward>} : tensor<f32>
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>)
