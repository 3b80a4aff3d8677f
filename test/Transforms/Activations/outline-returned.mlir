// RUN: llmc-opt %s --split-input-file --llmc-outline-programs --llmc-verify-memory | FileCheck %s

// What an entry hands on is returned by the first program, and what a transfer
// brings by the one that receives it.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func private @forward.c0.F(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "b">}, tensor<4xf32> {dist.port = #dist.port<send @t0>})
// CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[X]]
// CHECK-NEXT: return %[[X]], %[[T]]
// CHECK-LABEL: func.func private @forward.c1.F(
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "c">}, tensor<4xf32> {dist.port = #dist.port<output "a">})
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[R]]
// CHECK-NEXT: return %[[N]], %[[R]]
func.func @handed(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "a">}, tensor<4xf32> {dist.port = #dist.port<output "b">}, tensor<4xf32> {dist.port = #dist.port<output "c">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<4xf32>
  %3 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %4 = stablehlo.negate %1 : tensor<4xf32>
    dist.yield %4 : tensor<4xf32>
  }
  return %1, %x, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@handed) chunks([0, 1]) table(<["F0.0 .", ". F1.0"]>)

// -----

// Sums over microbatches are kept in f32 at least, integers as they are; the
// update reads them in the type that it had. A state that it hands on as it is
// is not written.
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xbf16> {role = parameter, source = #dist.draw<ones>}
dist.state @v : tensor<4xbf16> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xbf16> holds [#dist.box<@w, #dist.layout<@mesh, [{}]>, [0]>]
dist.buffer @v.local of @v : tensor<4xbf16> holds [#dist.box<@v, #dist.layout<@mesh, [{}]>, [0]>]
// CHECK-LABEL: func.func private @half.c0.F(
// CHECK-SAME: tensor<f32> {dist.port = #dist.port<loss_sum>}, %[[C:[a-z0-9]+]]: tensor<i32> {dist.port = #dist.port<count>})
// CHECK: stablehlo.add %[[C]], %{{.*}} : tensor<i32>
// CHECK-LABEL: func.func private @half.c0.B(
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @w>})
// CHECK-NEXT: %[[G:.*]] = stablehlo.tanh %{{.*}} : tensor<4xbf16>
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %[[G]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[S]], %[[W]] : tensor<4xf32>
// CHECK-NEXT: return %[[A]]
// CHECK-LABEL: func.func private @half.u0(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<4xbf16> {dist.port = #dist.port<buffer @w.local>}, %[[U:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %[[L:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<loss_sum>}) -> (tensor<4xbf16> {dist.port = #dist.port<buffer @w.local>}, tensor<f32> {dist.port = #dist.port<metric "loss">})
// CHECK-NEXT: %[[D:.*]] = stablehlo.convert %[[U]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %[[N:.*]] = stablehlo.subtract %[[P]], %[[D]]
// CHECK-NEXT: return %[[N]], %[[L]]
func.func private @half.microbatch(%w: tensor<4xbf16> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<i32> {dist.port = #dist.port<count>}, tensor<4xbf16> {dist.port = #dist.port<gradient @w>}) {
  %f:2 = dist.segment chunk(0) phase(forward) -> tensor<f32>, tensor<i32> {
    %ls = stablehlo.constant dense<1.0> : tensor<f32>
    %count = stablehlo.constant dense<4> : tensor<i32>
    dist.yield %ls, %count : tensor<f32>, tensor<i32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<4xbf16> {
    %gw = stablehlo.tanh %w : tensor<4xbf16>
    dist.yield %gw : tensor<4xbf16>
  }
  return %f#0, %f#1, %g : tensor<f32>, tensor<i32>, tensor<4xbf16>
}
func.func private @half.update(%w: tensor<4xbf16> {dist.port = #dist.port<parameter @w>}, %v: tensor<4xbf16> {dist.port = #dist.port<parameter @v>}, %g: tensor<4xbf16> {dist.port = #dist.port<gradient @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<i32> {dist.port = #dist.port<count>})
    -> (tensor<4xbf16> {dist.port = #dist.port<parameter @w>}, tensor<4xbf16> {dist.port = #dist.port<parameter @v>}, tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %new = dist.segment at(0) phase(update) -> tensor<4xbf16> {
    %0 = stablehlo.subtract %w, %g : tensor<4xbf16>
    dist.yield %0 : tensor<4xbf16>
  }
  return %new, %v, %ls : tensor<4xbf16>, tensor<4xbf16>, tensor<f32>
}
dist.step @half microbatch(@half.microbatch) update(@half.update) microbatches(2) schedule(<gpipe>) chunks([0]) table(<["F0.0 F0.1 B0.0 B0.1 U"]>)

// -----

// States that change places are written, each with the other's value.
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}]>, [0]>]
dist.buffer @v.local of @v : tensor<4xf32> holds [#dist.box<@v, #dist.layout<@mesh, [{}]>, [0]>]
// CHECK-LABEL: func.func private @swapped.u0(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}, %[[V:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<buffer @v.local>}) -> (tensor<4xf32> {dist.port = #dist.port<buffer @v.local>}, tensor<4xf32> {dist.port = #dist.port<buffer @w.local>})
// CHECK-NEXT: return %[[W]], %[[V]]
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %f = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %ls = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %ls : tensor<f32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    dist.yield %0 : tensor<4xf32>
  }
  return %f, %f, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
}
func.func private @swap(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %v: tensor<4xf32> {dist.port = #dist.port<parameter @v>}) -> (tensor<4xf32> {dist.port = #dist.port<parameter @v>}, tensor<4xf32> {dist.port = #dist.port<parameter @w>}) {
  return %w, %v : tensor<4xf32>, tensor<4xf32>
}
dist.step @swapped microbatch(@m) update(@swap) microbatches(1) schedule(<gpipe>) chunks([0]) table(<["F0.0 B0.0 U"]>)
