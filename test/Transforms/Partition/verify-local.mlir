// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-local

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected to stand in a segment after phase 4}}
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32, #whole> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #whole> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32, #whole> {
    // expected-error@+1 {{expected no layout in a type after phase 4, got}}
    %1 = stablehlo.tanh %x : tensor<4xf32, #whole>
    dist.yield %1 : tensor<4xf32, #whole>
  }
  return %0 : tensor<4xf32, #whole>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
// expected-error@+1 {{expected a buffer of state 'w' after phase 4}}
func.func @f(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %w : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// What goes from stage to stage needs a transfer.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{at stages [1] reads a value that lives at [0]}}
  %1 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %3 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %3 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}], at = {"pipe" = [0]}>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{at stages [1] reads a value that lives at [0]}}
  %0 = dist.transfer @t0 %x along "pipe" 1 -> 0 : tensor<4xf32>
  %1 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %3 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %3 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// An update: a state of both stages has a new value at one.
#all = #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #all, [0]>]
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}) {
  %0 = dist.segment at(1) phase(update) -> tensor<4xf32> {
    %1 = stablehlo.negate %w : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  // expected-error@+1 {{at stages [0, 1] reads a value that lives at [1]}}
  return %0 : tensor<4xf32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// The loss is at stage 1 alone; a collective is everybody's.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %j = dist.join %ls over "pipe" : (tensor<f32>) -> tensor<f32>
  %0 = dist.segment at(1) phase(update) -> tensor<f32> {
    // expected-error@+1 {{expected a collective over pipeline axis "pipe" at all stages, got [1]}}
    %1 = dist.all_reduce %j over ["pipe"] sum : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  // expected-error@+1 {{expected no transfer in an update; a join and a collective move values between its stages}}
  %0 = dist.transfer @t %ls along "pipe" 1 -> 0 : tensor<f32>
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// A state is read where it lives.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>, [0]>]
func.func @f(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{at stages [1] reads a value that lives at [0]}}
  %0 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %w : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// A join is read at all stages, and a transfer where it arrives.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %3 = stablehlo.negate %x : tensor<f32>
    dist.yield %3 : tensor<f32>
  }
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<f32>
  %2 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %3 = stablehlo.negate %1 : tensor<f32>
    dist.yield %3 : tensor<f32>
  }
  return %2, %2 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %j = dist.join %ls over "pipe" : (tensor<f32>) -> tensor<f32>
  %0 = dist.segment at(0, 1) phase(update) -> tensor<f32> {
    %1 = dist.all_reduce %j over ["pipe"] sum : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// The second of each: here the second op, after a segment,
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{expected to stand in a segment after phase 4}}
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// the second argument of the second program,
dist.mesh @mesh = <"data"=1>
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @v.local of @v : tensor<4xf32> holds [#dist.box<@v, #dist.layout<@mesh, [{}]>, [0]>]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @f(%v: tensor<4xf32> {dist.port = #dist.port<parameter @v>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %v : tensor<4xf32>
}
// expected-error@+1 {{expected a buffer of state 'w' after phase 4}}
func.func @g(%v: tensor<4xf32> {dist.port = #dist.port<parameter @v>}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %v : tensor<4xf32>
}
dist.entry @first function(@f) chunks([0])
dist.entry @second function(@g) chunks([0])

// -----

// the second value that a segment reads, after a join of none of its stages,
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %j = dist.join %ls over "pipe" : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{at stages [0] reads a value that lives at [1]}}
  %0 = dist.segment at(0) phase(update) -> tensor<f32> {
    %1 = stablehlo.add %j, %count : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// the second op of a segment, after a collective over another axis,
dist.mesh @mesh = <"pipe"=2, "data"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %0 = dist.segment at(1) phase(update) -> tensor<f32> {
    %1 = dist.all_reduce %ls over ["data"] sum : tensor<f32>
    // expected-error@+1 {{expected a collective over pipeline axis "pipe" at all stages, got [1]}}
    %2 = dist.all_reduce @c %1 over ["data", "pipe"] sum : tensor<f32>
    dist.yield %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// and the second state that is written.
#all = #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @v.local of @v : tensor<4xf32> holds [#dist.box<@v, #all, [0]>]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #all, [0]>]
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%v: tensor<4xf32> {dist.port = #dist.port<parameter @v>}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<f32> {dist.port = #dist.port<metric "loss">}, tensor<4xf32> {dist.port = #dist.port<parameter @v>}, tensor<4xf32> {dist.port = #dist.port<parameter @w>}) {
  %0 = dist.segment at(0, 1) phase(update) -> tensor<4xf32> {
    %2 = stablehlo.negate %v : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  %1 = dist.segment at(0) phase(update) -> tensor<4xf32> {
    %2 = stablehlo.negate %w : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{at stages [0, 1] reads a value that lives at [0]}}
  return %ls, %0, %1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])
