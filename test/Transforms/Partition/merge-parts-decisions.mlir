// RUN: llmc-opt %s --split-input-file --llmc-merge-parts | FileCheck %s

// Products that are multiplied, not added, are two;
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @multiplied
// CHECK-COUNT-2: stablehlo.dot_general {{.*}}(tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
func.func @multiplied(%a: tensor<3x2xf32> {dist.port = #dist.port<input "a">}, %b: tensor<3x2xf32> {dist.port = #dist.port<input "b">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x4xf32> {dist.port = #dist.port<output "y">}, tensor<3x4xf32> {dist.port = #dist.port<output "z">}) {
  %p = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %q = stablehlo.tanh %b {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %xa = stablehlo.dot_general %p, %w0, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %xb = stablehlo.dot_general %q, %w1, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %y = stablehlo.multiply %xa, %xb {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  return %y, %y : tensor<3x4xf32>, tensor<3x4xf32>
}
dist.entry @e function(@multiplied) chunks([0])

// -----

// so are those that are added, of which one is used elsewhere too: it would be
// computed a second time;
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @shared(
// CHECK-COUNT-2: stablehlo.dot_general {{.*}}(tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
// CHECK-NOT: stablehlo.dot_general
// CHECK: return
func.func @shared(%a: tensor<3x2xf32> {dist.port = #dist.port<input "a">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x4xf32> {dist.port = #dist.port<output "y">}, tensor<3x4xf32> {dist.port = #dist.port<output "z">}) {
  %p0 = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %p1 = stablehlo.abs %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %x0 = stablehlo.dot_general %p0, %w0, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %x1 = stablehlo.dot_general %p1, %w1, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %y = stablehlo.add %x0, %x1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  return %y, %x0 : tensor<3x4xf32>, tensor<3x4xf32>
}
dist.entry @e function(@shared) chunks([0])

// -----

// a sum on the way is such a term;
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x12xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
dist.state @w.2 part of @w box([0, 8] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.2.local
dist.buffer @w.2.local of @w.2 : tensor<4x2xf32> holds [#dist.box<@w.2, #w, [0, 0]>]
// CHECK-LABEL: func.func @shared.sum(
// CHECK-COUNT-3: stablehlo.dot_general {{.*}}(tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
// CHECK-NOT: stablehlo.dot_general
// CHECK: return
func.func @shared.sum(%a: tensor<3x2xf32> {dist.port = #dist.port<input "a">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}, %w2: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.2>}) -> (tensor<3x4xf32> {dist.port = #dist.port<output "y">}, tensor<3x4xf32> {dist.port = #dist.port<output "z">}) {
  %p0 = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %p1 = stablehlo.abs %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %p2 = stablehlo.negate %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %x0 = stablehlo.dot_general %p0, %w0, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %x1 = stablehlo.dot_general %p1, %w1, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %x2 = stablehlo.dot_general %p2, %w2, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %z = stablehlo.add %x0, %x1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  %y = stablehlo.add %z, %x2 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}
dist.entry @e function(@shared.sum) chunks([0])

// -----

// so are those of which the greater counts,
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @greater
// CHECK-COUNT-2: stablehlo.dot_general {{.*}}(tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
func.func @greater(%a: tensor<3x2xf32> {dist.port = #dist.port<input "a">}, %b: tensor<3x2xf32> {dist.port = #dist.port<input "b">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x4xf32> {dist.port = #dist.port<output "y">}, tensor<3x4xf32> {dist.port = #dist.port<output "z">}) {
  %p = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %q = stablehlo.tanh %b {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %xa = stablehlo.dot_general %p, %w0, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %xb = stablehlo.dot_general %q, %w1, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %y = stablehlo.maximum %xa, %xb {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  return %y, %y : tensor<3x4xf32>, tensor<3x4xf32>
}
dist.entry @e function(@greater) chunks([0])

// -----

// those that are used beside their sum too,
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @used
// CHECK-COUNT-2: stablehlo.dot_general {{.*}}(tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
func.func @used(%a: tensor<3x2xf32> {dist.port = #dist.port<input "a">}, %b: tensor<3x2xf32> {dist.port = #dist.port<input "b">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x4xf32> {dist.port = #dist.port<output "y">}, tensor<3x4xf32> {dist.port = #dist.port<output "z">}) {
  %p = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %q = stablehlo.tanh %b {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %xa = stablehlo.dot_general %p, %w0, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %xb = stablehlo.dot_general %q, %w1, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %y = stablehlo.add %xa, %xb {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  %z = stablehlo.subtract %xa, %xb {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}
dist.entry @e function(@used) chunks([0])

// -----

// and those that are never added.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @negated
// CHECK-COUNT-2: stablehlo.dot_general {{.*}}(tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
func.func @negated(%a: tensor<3x2xf32> {dist.port = #dist.port<input "a">}, %b: tensor<3x2xf32> {dist.port = #dist.port<input "b">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x4xf32> {dist.port = #dist.port<output "y">}, tensor<3x4xf32> {dist.port = #dist.port<output "z">}) {
  %p = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %q = stablehlo.tanh %b {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %xa = stablehlo.dot_general %p, %w0, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %xb = stablehlo.dot_general %q, %w1, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %y = stablehlo.negate %xa {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  %z = stablehlo.negate %xb {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}
dist.entry @e function(@negated) chunks([0])

// -----

// A program reads one part alone.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @half
// CHECK-SAME: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}
func.func @half(%w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<4x2xf32> {dist.port = #dist.port<output "y">}) {
  %y = stablehlo.negate %w1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
dist.entry @e function(@half) chunks([0])

// -----

// The first part is the factor of both products: no one product has it twice.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @mixed
// CHECK-COUNT-2: stablehlo.dot_general {{.*}}(tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
func.func @mixed(%w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<2x2xf32> {dist.port = #dist.port<output "y">}, tensor<2x2xf32> {dist.port = #dist.port<output "z">}) {
  %y = stablehlo.dot_general %w0, %w0, contracting_dims = [0] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %z = stablehlo.dot_general %w1, %w0, contracting_dims = [0] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}
dist.entry @e function(@mixed) chunks([0])

// -----

// Constants of unequal values are two,
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @unequal
// CHECK-SAME: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}
func.func @unequal(%n: tensor<f32> {dist.port = #dist.port<input "n">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
  %g0 = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<4x2xf32>
  %g1 = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<4x2xf32>
  return %n, %n, %g0, %g1 : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
func.func @update() { return }
dist.step @s microbatch(@unequal) update(@update) microbatches(1) schedule(<gpipe>) chunks([0])

// -----

// and so are those of several values each.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @uneven
// CHECK-SAME: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}
func.func @uneven(%n: tensor<f32> {dist.port = #dist.port<input "n">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
  %g0 = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %g1 = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  return %n, %n, %g0, %g1 : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
func.func @update() { return }
dist.step @s microbatch(@uneven) update(@update) microbatches(1) schedule(<gpipe>) chunks([0])

// -----

// Parts that lie along two dims make no line.
#w = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [2, 8]) : tensor<2x8xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<2x8xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([2, 0] [2, 4]) : tensor<2x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<2x4xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
func.func @grid(%w0: tensor<2x8xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<2x4xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<2x8xf32> {dist.port = #dist.port<output "y">}, tensor<2x4xf32> {dist.port = #dist.port<output "z">}) {
  %y = stablehlo.negate %w0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x8xf32>
  %z = stablehlo.negate %w1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  return %y, %z : tensor<2x8xf32>, tensor<2x4xf32>
}
dist.entry @e function(@grid) chunks([0])

// -----

// A part that is all of its state stays alone.
#w = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 8]) : tensor<4x8xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x8xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
// CHECK: func.func @alone(%{{.*}}: tensor<4x8xf32> {dist.port = #dist.port<parameter @w.0>})
func.func @alone(%w0: tensor<4x8xf32> {dist.port = #dist.port<parameter @w.0>}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %y = stablehlo.negate %w0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @e function(@alone) chunks([0])

// -----

// Gradients of which one has a layout and the other has none are two.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
func.func @laid.first.micro(%n: tensor<f32> {dist.port = #dist.port<input "n">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
  return %n, %n, %w0, %w1 : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
// CHECK-LABEL: func.func @laid.first(
// CHECK-SAME: gradient @w.0{{.*}}gradient @w.1
func.func @laid.first(%g0: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0, layout = #w>}, %g1: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) -> (tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) {
  return %g0, %g1 : tensor<4x2xf32>, tensor<4x2xf32>
}
dist.step @s microbatch(@laid.first.micro) update(@laid.first) microbatches(1) schedule(<gpipe>) chunks([0])

// -----

// The same the other way round.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
func.func @laid.second.micro(%n: tensor<f32> {dist.port = #dist.port<input "n">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
  return %n, %n, %w0, %w1 : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
// CHECK-LABEL: func.func @laid.second(
// CHECK-SAME: gradient @w.0{{.*}}gradient @w.1
func.func @laid.second(%g0: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, %g1: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1, layout = #w>}) -> (tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) {
  return %g0, %g1 : tensor<4x2xf32>, tensor<4x2xf32>
}
dist.step @s microbatch(@laid.second.micro) update(@laid.second) microbatches(1) schedule(<gpipe>) chunks([0])

// -----

// Two entries share a program; an op that reads a part twice has one slice of it.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.local of @w : tensor<4x4xf32>
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @squares
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}
// CHECK-NEXT: %[[A:.*]] = stablehlo.slice %[[W]] [0:4, 0:2]
// CHECK-NEXT: %[[B:.*]] = stablehlo.slice %[[W]] [0:4, 2:4]
// CHECK-NEXT: stablehlo.multiply %[[A]], %[[A]]
// CHECK-NEXT: stablehlo.multiply %[[B]], %[[B]]
func.func @squares(%w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<4x2xf32> {dist.port = #dist.port<output "y">}, tensor<4x2xf32> {dist.port = #dist.port<output "z">}) {
  %y = stablehlo.multiply %w0, %w0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x2xf32>
  %z = stablehlo.multiply %w1, %w1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x2xf32>
  return %y, %z : tensor<4x2xf32>, tensor<4x2xf32>
}
dist.entry @e function(@squares) chunks([0])
dist.entry @f function(@squares) chunks([0])

// -----

// A sum over a part reads a slice: it costs nothing there.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.local of @w : tensor<4x4xf32>
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @summed
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}
// CHECK: %[[A:.*]] = stablehlo.slice %[[W]] [0:4, 0:2]
// CHECK: %[[B:.*]] = stablehlo.slice %[[W]] [0:4, 2:4]
// CHECK: stablehlo.reduce(%[[A]]
// CHECK: stablehlo.reduce(%[[B]]
func.func @summed(%w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<f32> {dist.port = #dist.port<output "y">}, tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %zero = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%w0 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
  %z = stablehlo.reduce(%w1 init: %zero) applies stablehlo.add across dimensions = [1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
  return %y, %z : tensor<f32>, tensor<4xf32>
}
dist.entry @e function(@summed) chunks([0])

// -----

// Products in batches, of which each part has some: what they take is copied
// together.
#w = #dist.layout<@mesh, [{"t"}, {}, {}]>
#F = #dist.phase<forward>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<8x4x4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0, 0] [4, 4, 4]) : tensor<4x4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.local of @w : tensor<4x4x4xf32>
dist.buffer @w.0.local of @w.0 : tensor<2x4x4xf32> holds [#dist.box<@w.0, #w, [0, 0, 0]>]
dist.state @w.1 part of @w box([4, 0, 0] [4, 4, 4]) : tensor<4x4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<2x4x4xf32> holds [#dist.box<@w.1, #w, [0, 0, 0]>]
// CHECK-LABEL: func.func @batches
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4x4xf32> {dist.port = #dist.port<parameter @w>}
// CHECK: %[[P:.*]] = stablehlo.tanh
// CHECK: %[[Q:.*]] = stablehlo.abs
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[P]], %[[Q]], dim = 0
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[C]], %[[W]], {{.*}} -> tensor<4x3x4xf32>
// CHECK-NEXT: %[[Y:.*]] = stablehlo.slice %[[D]] [0:2, 0:3, 0:4]
// CHECK-NEXT: %[[Z:.*]] = stablehlo.slice %[[D]] [2:4, 0:3, 0:4]
// CHECK-NEXT: return %[[Y]], %[[Z]]
func.func @batches(%a: tensor<2x3x4xf32> {dist.port = #dist.port<input "a">}, %w0: tensor<2x4x4xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<2x4x4xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<2x3x4xf32> {dist.port = #dist.port<output "y">}, tensor<2x3x4xf32> {dist.port = #dist.port<output "z">}) {
  %p = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #F} : tensor<2x3x4xf32>
  %q = stablehlo.abs %a {dist.block = 0 : i64, dist.phase = #F} : tensor<2x3x4xf32>
  %y = stablehlo.dot_general %p, %w0, batching_dims = [0] x [0], contracting_dims = [2] x [1] {dist.block = 0 : i64, dist.phase = #F} : (tensor<2x3x4xf32>, tensor<2x4x4xf32>) -> tensor<2x3x4xf32>
  %z = stablehlo.dot_general %q, %w1, batching_dims = [0] x [0], contracting_dims = [2] x [1] {dist.block = 0 : i64, dist.phase = #F} : (tensor<2x3x4xf32>, tensor<2x4x4xf32>) -> tensor<2x3x4xf32>
  return %y, %z : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}
dist.entry @e function(@batches) chunks([0])
