// RUN: llmc-opt %s --split-input-file --llmc-report-costs=least-bytes=0 --remarks-filter=hints --remark-format=emitRemark -o /dev/null 2>&1 | grep -o '[a-z]* | Category.*' | FileCheck %s

// A weight that is gathered for the forward and read in the backward too is kept
// between the two; one that each of them gathers is not. Equal ones of blocks
// are one.
// CHECK: kept | Category:hints | Remark="'b.*.w' is gathered for the forward and kept for the backward, 16 B on each device: training.regather = true gathers it again instead (2 times)"
#half = #dist.layout<@mesh, [{"d"}]>
#all = #dist.layout<@mesh, [{}]>
#none = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
dist.state @b.0.w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @b.1.w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @m(%0: tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.0.w>}, %1: tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.1.w>}, %2: tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}) -> (tensor<4xf32, #all> {dist.port = #dist.port<gradient @v>}, tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, tensor<f32, #none> {dist.port = #dist.port<count>}) {
  %g0 = dist.all_gather %0 dim 0 over ["d"] {dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all> loc("m.py":2:1)
  %g1 = dist.all_gather %1 dim 0 over ["d"] {dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all> loc("m.py":2:1)
  %g2 = dist.all_gather %2 dim 0 over ["d"] {dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all> loc("m.py":2:1)
  %s = stablehlo.add %g0, %g1 {dist.phase = #dist.phase<forward>} : tensor<4xf32, #all>
  %t = stablehlo.add %s, %g2 {dist.phase = #dist.phase<forward>} : tensor<4xf32, #all>
  %n = stablehlo.negate %g1 {dist.phase = #dist.phase<backward_weight>} : tensor<4xf32, #all>
  %u = stablehlo.multiply %n, %g0 {dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #all>
  %c = stablehlo.constant dense<1.0> : tensor<f32, #none>
  return %u, %c, %c : tensor<4xf32, #all>, tensor<f32, #none>, tensor<f32, #none>
}
func.func @u(%v: tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}, %g: tensor<4xf32, #all> {dist.port = #dist.port<gradient @v>}, %loss: tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32, #none> {dist.port = #dist.port<count>}) -> (tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}) {
  return %v : tensor<4xf32, #half>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0])

// -----

// Of 5 samples on 4 devices each computes 2, and one has none; of 5 on 3 the
// last has fewer.
// CHECK-NEXT: batch | Category:hints | Remark="the 5 samples of 'x' do not divide by the 4 devices of {"d"}: each computes 2, and 1 of them have no sample"
// CHECK-NEXT: batch | Category:hints | Remark="the 5 samples of 'y' do not divide by the 3 devices of {"e"}: each computes 2, and the last has fewer samples"
// CHECK-NEXT: exchange | Category:hints | Remark="'w' is exchanged all to all over {"d"}, 32 B on each device, since it rests split along another dimension than ops read it: a 'use' in its row says how they shall, [] gathers it"
// CHECK-NEXT: exchange | Category:hints | Remark="what 'stablehlo.tanh' makes is exchanged all to all over {"d"}, 32 B on each device: llmc explain --value says which rows and annotations split it so before and after"
// CHECK-NOT: {{.}}
#x = #dist.layout<@mesh, [{"d"}:8]>
#y = #dist.layout<@mesh, [{"e"}:6]>
#z = #dist.layout<@mesh, [{}]>
#rows = #dist.layout<@mesh, [{"d"}, {}]>
#columns = #dist.layout<@mesh, [{}, {"d"}]>
dist.mesh @mesh = <"d"=4, "e"=3>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<ones>}
func.func @f(%x: tensor<5xf32, #x> {dist.port = #dist.port<input "x">}, %y: tensor<5xf32, #y> {dist.port = #dist.port<input "y">}, %z: tensor<5xf32, #z> {dist.port = #dist.port<input "z">}, %w: tensor<4x8xf32, #rows> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x8xf32, #rows> {dist.port = #dist.port<output "v">}) {
  %0 = dist.all_to_all %w split 1 concat 0 over ["d"] : tensor<4x8xf32, #rows> -> tensor<4x8xf32, #columns>
  %1 = stablehlo.tanh %0 : tensor<4x8xf32, #columns>
  %2 = stablehlo.add %1, %1 : tensor<4x8xf32, #columns>
  %3 = dist.all_to_all %1 split 0 concat 1 over ["d"] : tensor<4x8xf32, #columns> -> tensor<4x8xf32, #rows>
  return %3 : tensor<4x8xf32, #rows>
}
dist.entry @forward function(@f) chunks([0])
