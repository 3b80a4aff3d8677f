// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-outline-programs

// An argument must say what it is.
dist.mesh @mesh = <"data"=1>
// expected-error@+1 {{expected argument 0 to be an input, a state, a hyper value or a sum, got 'step', which is not supported yet}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<step>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// A state has a buffer.
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error@+1 {{expected a buffer of state @w, got none}}
func.func @f(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %w : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// What goes from stage to stage needs a transfer.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{on stage 1 captures a value of stage 0; expected a transfer between them}}
  %1 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %3 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %3 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1]) table(<["F0.0 .", ". F1.0"]>)

// -----

// Every op stands in a segment.
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  // expected-error@+1 {{captures a value that no segment made}}
  %1 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// A sum has one term of each stage.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    %2 = stablehlo.negate %x : tensor<f32>
    dist.yield %1, %2 : tensor<f32>, tensor<f32>
  }
  // expected-error@+1 {{expected operands of disjoint stages, got two of stage 1}}
  %j = dist.join %0#0, %0#1 over "pipe" : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %j, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)

// -----

// An update reads a value of another stage as it is.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  // expected-error@+1 {{on stage 0 captures a value that lives at [1]; expected a join or a collective between them}}
  %0 = dist.segment at(0, 1) phase(update) -> tensor<f32> {
    %1 = stablehlo.tanh %ls : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)

// -----

// An update consists of segments and joins.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  // expected-error@+1 {{expected segments and joins alone in an update}}
  %0 = stablehlo.tanh %ls : tensor<f32>
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)

// -----

// A state is written where it lives.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{}], at = {"pipe" = [0]}>, [0]>]
func.func private @m(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    dist.yield %1, %2 : tensor<f32>, tensor<4xf32>
  }
  return %0#0, %0#0, %0#1 : tensor<f32>, tensor<f32>, tensor<4xf32>
}
// expected-error@+1 {{expected a new value of state @w on stage 0, got one at [1]}}
func.func private @u(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}) {
  %0 = dist.segment at(1) phase(update) -> tensor<4xf32> {
    %1 = stablehlo.tanh %g : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . U", "F1.0 B1.0 U"]>)

// -----

// A state that a program writes has a buffer too: made by a segment,
dist.mesh @mesh = <"data"=1>
dist.state @c : tensor<4xf32> {role = carried}
// expected-error@+1 {{expected a buffer of state @c, got none}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<carried @c>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// received by one,
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @c : tensor<4xf32> {role = carried}
// expected-error@+1 {{expected a buffer of state @c, got none}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<carried @c>}, tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<4xf32>
  %3 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %4 = stablehlo.tanh %1 : tensor<4xf32>
    dist.yield %4 : tensor<4xf32>
  }
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1]) table(<["F0.0 .", ". F1.0"]>)

// -----

// or handed on.
dist.mesh @mesh = <"data"=1>
dist.state @c : tensor<4xf32> {role = carried}
// expected-error@+1 {{expected a buffer of state @c, got none}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}, tensor<4xf32> {dist.port = #dist.port<carried @c>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// What a segment of an update reads of another one lives at its stages.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  %0 = dist.segment at(1) phase(update) -> tensor<f32> {
    %1 = stablehlo.tanh %ls : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  // expected-error@+1 {{on stage 0 captures a value that lives at [1]; expected a join or a collective between them}}
  %2 = dist.segment at(0, 1) phase(update) -> tensor<f32> {
    %1 = stablehlo.tanh %0 : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %2 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . U", "F1.0 B1.0 U"]>)

// -----

// A state of an update has a buffer: read by a segment,
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<f32> {role = parameter}
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
// expected-error@+1 {{expected a buffer of state @w, got none}}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  %0 = dist.segment at(0) phase(update) -> tensor<f32> {
    %1 = stablehlo.add %ls, %w : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0]) table(<["F0.0 B0.0 U"]>)

// -----

// by a join,
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<f32> {role = parameter}
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
// expected-error@+1 {{expected a buffer of state @w, got none}}
func.func private @u(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  %j = dist.join %w over "pipe" : (tensor<f32>) -> tensor<f32>
  %0 = dist.segment at(0, 1) phase(update) -> tensor<f32> {
    %1 = dist.all_reduce @c %j over ["pipe"] sum : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<["F0.0 B0.0 U", ". . U"]>)

// -----

// or returned;
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<f32> {role = parameter}
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
// expected-error@+1 {{expected a buffer of state @w, got none}}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}, tensor<f32> {dist.port = #dist.port<metric "b">}) {
  return %ls, %w : tensor<f32>, tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0]) table(<["F0.0 B0.0 U"]>)

// -----

// so has one that gets a new value.
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<f32> {role = parameter}
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
// expected-error@+1 {{expected a buffer of state @w, got none}}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}) -> (tensor<f32> {dist.port = #dist.port<parameter @w>}) {
  %0 = dist.segment at(0) phase(update) -> tensor<f32> {
    %1 = stablehlo.negate %ls : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0]) table(<["F0.0 B0.0 U"]>)

// -----

// A join of an update has one operand of each stage.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  // expected-error@+1 {{expected operands of disjoint stages, got two of stage 1}}
  %j = dist.join %ls, %count over "pipe" : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = dist.segment at(0, 1) phase(update) -> tensor<f32> {
    %1 = dist.all_reduce @c %j over ["pipe"] sum : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . U", "F1.0 B1.0 U"]>)

// -----

// The stages are those of one mesh.
// expected-error@+1 {{expected one 'dist.mesh', got 2}}
module {
  dist.mesh @a = <"data"=1>
  dist.mesh @b = <"data"=1>
}
