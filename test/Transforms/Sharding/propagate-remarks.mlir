// RUN: llmc-opt %s --split-input-file --llmc-propagate-layouts --remarks-filter=layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Two axes want one factor: the larger tensor's axis is kept; both are of one
// size here, so the first is.
dist.mesh @mesh = <"a"=2, "b"=2>
func.func @meet(%x: tensor<8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"a"}]>>},
                %y: tensor<8xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{"b"}]>>}) -> (tensor<8xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: kept {"a"} ('stablehlo.add', ([a],[a])->([a]) {a=8}, step 1), runner-up {"b"} (given) on factor 0
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %1 = stablehlo.add %0, %y : tensor<8xf32>
  return %1 : tensor<8xf32>
}
dist.entry @forward function(@meet) chunks([0])

// -----

// An axis on a minor factor cannot pass where the major one is whole.
dist.mesh @mesh = <"a"=2>
func.func @minor(%x: tensor<6x64xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}, {"a"}]>>}) -> (tensor<384xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: {"a"} not taken on dim 0 of 'stablehlo.reshape': its factor is minor to one that is not used up
  %0 = stablehlo.reshape %x : (tensor<6x64xf32>) -> tensor<384xf32>
  return %0 : tensor<384xf32>
}
dist.entry @forward function(@minor) chunks([0])

// -----

// 6 x 64 and 8 x 48 cannot both be boundaries of one dimension.
dist.mesh @mesh = <"a"=2>
func.func @opaque(%x: tensor<384xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"a"}]>>}) -> (tensor<6x64xf32> {dist.port = #dist.port<output "y">}, tensor<8x48xf32> {dist.port = #dist.port<output "z">}) {
  %0 = stablehlo.reshape %x : (tensor<384xf32>) -> tensor<6x64xf32>
  // CHECK: factor 0 passes no axes: its boundaries and those of other ops are no chain of divisors
  %1 = stablehlo.reshape %x : (tensor<384xf32>) -> tensor<8x48xf32>
  return %0, %1 : tensor<6x64xf32>, tensor<8x48xf32>
}
dist.entry @forward function(@opaque) chunks([0])

// -----

// Hints of a manual region that do not fit are dropped, all at once; those that
// fit stay.
dist.mesh @mesh = <"a"=4>
func.func @hints(%x: tensor<8x2xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8x2xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: {"a"} of a manual region not taken on dim 1 of size 2: it pads 2 to 4
  // CHECK-NEXT: dist.constraint
  %0 = dist.constraint %x to <@mesh, [{?}, {"a"}]> hint : tensor<8x2xf32>
  %1 = stablehlo.tanh %0 : tensor<8x2xf32>
  // CHECK: {"a"} of a manual region not taken on dim 1 of size 2: it pads 2 to 4
  %2 = dist.constraint %1 to <@mesh, [{?}, {"a"}]> hint : tensor<8x2xf32>
  // CHECK-NOT: of a manual region
  %3 = dist.constraint %2 to <@mesh, [{"a"}, {?}]> hint : tensor<8x2xf32>
  return %3 : tensor<8x2xf32>
}
dist.entry @forward function(@hints) chunks([0])
