// RUN: llmc-opt %s --split-input-file --llmc-report-costs=least-bytes=0 --remarks-filter=costs --remark-format=emitRemark -o /dev/null 2>&1 | grep -o '[a-z]* | Category.*' | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-report-costs=least-bytes=64 --remarks-filter=costs --remark-format=emitRemark -o /dev/null 2>&1 | grep -o 'replication | Category.*' | FileCheck %s --check-prefix=LARGE
// RUN: llmc-opt %s --split-input-file --llmc-report-costs > %t.after
// RUN: llmc-opt %s --split-input-file | diff - %t.after

// What is padded and what has copies is said; what is too small for parts has
// none.
// CHECK: replication | Category:costs | Remark="'x' is replicated over {"x", "y"}: 6 copies of 80 B"
// CHECK-NEXT: pad | Category:costs | Remark="'w' has dim 0 stored as 6 instead of 5, split by {"x"}: 16 of 96 B are padding"
// CHECK-NEXT: replication | Category:costs | Remark="'w' is replicated over {"y"}: 3 copies of 48 B"
// CHECK-NEXT: pad | Category:costs | Remark="what 'stablehlo.multiply' makes has dim 0 stored as 6 instead of 5, split by {"x"}: 16 of 96 B are padding"
// CHECK-NEXT: replication | Category:costs | Remark="what 'stablehlo.multiply' makes is computed alike on all 3 devices of {"y"} in each run, 48 B on each: nothing that it reads is split over them"
// LARGE: Remark="'x' is replicated over {"x", "y"}: 6 copies of 80 B"
// LARGE-NOT: {{.}}
#row = #dist.layout<@mesh, [{"x"}:6, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#small = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2, "y"=3>
dist.state @w : tensor<5x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @copies(%x: tensor<5x4xf32, #whole> {dist.port = #dist.port<input "x">}, %w: tensor<5x4xf32, #row> {dist.port = #dist.port<parameter @w>}, %s: tensor<1xf32, #small> {dist.port = #dist.port<input "s">}) -> (tensor<5x4xf32, #row> {dist.port = #dist.port<output "y">}) {
  %0 = dist.reshard %x : tensor<5x4xf32, #whole> -> tensor<5x4xf32, #row>
  %y = stablehlo.multiply %0, %w : tensor<5x4xf32, #row>
  return %y : tensor<5x4xf32, #row>
}
dist.entry @forward function(@copies) chunks([0])

// -----

// Gathers of equal blocks are one remark, with the op that reads the value. Of a
// step those of the microbatch and of the update are listed, not those of its
// entries; a parameter is the same in all microbatches.
// CHECK-NEXT: replication | Category:costs | Remark="'x' is replicated over {"d"}: 2 copies of 16 B"
// CHECK-NEXT: gather | Category:costs | Remark="'b.*.w' is gathered over {"d"} in each microbatch, 8 B received: 'stablehlo.add' reads it whole, and it is the same in all 3 microbatches of a step (2 times)"
// CHECK-NEXT: replication | Category:costs | Remark="what 'stablehlo.add' makes is computed alike on all 2 devices of {"d"} in each microbatch, 16 B on each: 'dist.all_gather' made what it reads whole (2 times)"
// CHECK-NEXT: gather | Category:costs | Remark="what 'stablehlo.tanh' makes is gathered over {"d"} in each microbatch, 8 B received: the function returns it whole"
// CHECK-NEXT: gather | Category:costs | Remark="what 'stablehlo.add' makes is gathered over {"d"} in the update, 8 B received: the function returns it whole"
// CHECK-NOT: {{.}}
#half = #dist.layout<@mesh, [{"d"}]>
#all = #dist.layout<@mesh, [{}]>
#none = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
dist.state @b.0.w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @b.1.w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @m(%x: tensor<4xf32, #all> {dist.port = #dist.port<input "x">}, %v: tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.0.w>}, %w: tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.1.w>}) -> (tensor<4xf32, #all> {dist.port = #dist.port<gradient @b.0.w>}, tensor<4xf32, #half> {dist.port = #dist.port<gradient @b.1.w>}, tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, tensor<f32, #none> {dist.port = #dist.port<count>}) {
  %0 = dist.all_gather %v dim 0 over ["d"] : tensor<4xf32, #half> -> tensor<4xf32, #all> loc("m.py":2:1)
  %1 = stablehlo.add %x, %0 : tensor<4xf32, #all> loc("m.py":1:1)
  %2 = dist.all_gather %w dim 0 over ["d"] : tensor<4xf32, #half> -> tensor<4xf32, #all> loc("m.py":2:1)
  %3 = stablehlo.add %1, %2 : tensor<4xf32, #all> loc("m.py":1:1)
  %4 = dist.reshard %3 : tensor<4xf32, #all> -> tensor<4xf32, #half>
  %5 = stablehlo.tanh %4 : tensor<4xf32, #half>
  %6 = dist.all_gather %5 dim 0 over ["d"] : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %c = stablehlo.constant dense<1.0> : tensor<f32, #none>
  return %6, %5, %c, %c : tensor<4xf32, #all>, tensor<4xf32, #half>, tensor<f32, #none>, tensor<f32, #none>
}
func.func @u(%v: tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.0.w>}, %w: tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.1.w>}, %g: tensor<4xf32, #all> {dist.port = #dist.port<gradient @b.0.w>}, %h: tensor<4xf32, #half> {dist.port = #dist.port<gradient @b.1.w>}, %loss: tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32, #none> {dist.port = #dist.port<count>}) -> (tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.0.w>}, tensor<4xf32, #half> {dist.port = #dist.port<parameter @b.1.w>}) {
  %0 = stablehlo.add %w, %h : tensor<4xf32, #half>
  %1 = dist.all_gather %0 dim 0 over ["d"] : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %2 = dist.reshard %1 : tensor<4xf32, #all> -> tensor<4xf32, #half>
  return %v, %2 : tensor<4xf32, #half>, tensor<4xf32, #half>
}
dist.step @train microbatch(@m) update(@u) microbatches(3) schedule(<1f1b>) chunks([0])
func.func @e(%x: tensor<4xf32, #half> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #all> {dist.port = #dist.port<output "y">}) {
  %0 = dist.all_gather %x dim 0 over ["d"] : tensor<4xf32, #half> -> tensor<4xf32, #all>
  return %0 : tensor<4xf32, #all>
}
dist.entry @forward function(@e) chunks([0])
