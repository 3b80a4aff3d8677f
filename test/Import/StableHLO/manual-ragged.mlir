// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --set data.inputs.n=0
// RUN: %{import} %t/rows.mlir | FileCheck %s
// RUN: not %{import} %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not %{import} %t/operands.mlir 2>&1 | FileCheck %s --check-prefix=OPERANDS
// RUN: not %{import} %t/slices.mlir 2>&1 | FileCheck %s --check-prefix=SLICES

// Slices to the 4 devices along "expert", on each of 2 along "data": rows of
// the members of a group, and the four lists as one tensor. Where the output is
// not zero its rows stay that nobody sends.
// CHECK: func.func public @{{.*}}(%[[X:.*]]: tensor<64x3xf32>
// CHECK: %[[PARTS:.*]] = stablehlo.reshape %[[X]] : (tensor<64x3xf32>) -> tensor<2x4x8x3xf32>
// CHECK: %[[ROWS:.*]] = dist.constraint %[[PARTS]]
// CHECK: %[[LISTS:.*]] = stablehlo.concatenate {{.*}} dim = 2 : {{.*}} -> tensor<2x4x4x8xi64>
// CHECK: %[[SENT:.*]] = dist.send_rows %[[ROWS]], %[[LISTS]] : tensor<2x4x8x3xf32>, tensor<2x4x4x8xi64> -> tensor<2x4x16x3xf32>
// CHECK-NOT: select
// CHECK: %[[OTHER:.*]] = dist.send_rows
// CHECK: %[[IS:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.or across dimensions = [3] : {{.*}} -> tensor<2x4x8xi1>
// CHECK: stablehlo.select %{{.*}}, %[[OTHER]], %{{.*}} : tensor<2x4x8x3xi1>, tensor<2x4x8x3xf32>

// OUTSIDE: outside.mlir:{{.*}}: expected 'stablehlo.custom_call' in a manual region (jax.shard_map), whose mesh says what devices are, got it outside
// OPERANDS: operands.mlir:{{.*}}expected 'ragged_all_to_all' of 6 operands, 1 result and 'replica_groups' in its backend_config, got 6, 1 and {channel_id = 1 : i64}
// SLICES: slices.mlir:{{.*}}expected as many slices for each of the 4 devices of a group, got 'tensor<6xi32>'

//--- rows.mlir
sdy.mesh @mesh = <["data"=2, "expert"=4]>
func.func public @main(%x: tensor<64x3xf32> loc("x"), %n: tensor<64xi32> loc("n")) -> (tensor<128x3xf32>, tensor<64x3xf32>) {
  %0:2 = sdy.manual_computation(%x, %n) in_shardings=[<@mesh, [{"data", "expert"}, {}]>, <@mesh, [{"data", "expert"}]>] out_shardings=[<@mesh, [{"data", "expert"}, {}]>, <@mesh, [{"data", "expert"}, {}]>] manual_axes={"data", "expert"} (%a: tensor<8x3xf32>, %c: tensor<8xi32>) {
    %z = stablehlo.constant dense<0.0> : tensor<16x3xf32>
    %1 = stablehlo.custom_call @ragged_all_to_all(%a, %z, %c, %c, %c, %c) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}} : (tensor<8x3xf32>, tensor<16x3xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<16x3xf32>
    %2 = stablehlo.custom_call @ragged_all_to_all(%a, %a, %c, %c, %c, %c) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}} : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8x3xf32>
    sdy.return %1, %2 : tensor<16x3xf32>, tensor<8x3xf32>
  } : (tensor<64x3xf32>, tensor<64xi32>) -> (tensor<128x3xf32>, tensor<64x3xf32>)
  return %0#0, %0#1 : tensor<128x3xf32>, tensor<64x3xf32>
}

//--- outside.mlir
func.func public @main(%x: tensor<8x3xf32> loc("x"), %n: tensor<8xi32> loc("n")) -> tensor<8x3xf32> {
  %1 = stablehlo.custom_call @ragged_all_to_all(%x, %x, %n, %n, %n, %n) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}

//--- operands.mlir
sdy.mesh @mesh = <["expert"=4]>
func.func public @main(%x: tensor<32x3xf32> loc("x"), %n: tensor<32xi32> loc("n")) -> tensor<32x3xf32> {
  %0 = sdy.manual_computation(%x, %n) in_shardings=[<@mesh, [{"expert"}, {}]>, <@mesh, [{"expert"}]>] out_shardings=[<@mesh, [{"expert"}, {}]>] manual_axes={"expert"} (%a: tensor<8x3xf32>, %c: tensor<8xi32>) {
    %1 = stablehlo.custom_call @ragged_all_to_all(%a, %a, %c, %c, %c, %c) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64}} : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8x3xf32>
    sdy.return %1 : tensor<8x3xf32>
  } : (tensor<32x3xf32>, tensor<32xi32>) -> tensor<32x3xf32>
  return %0 : tensor<32x3xf32>
}

//--- slices.mlir
sdy.mesh @mesh = <["expert"=4]>
func.func public @main(%x: tensor<32x3xf32> loc("x"), %n: tensor<24xi32> loc("n")) -> tensor<32x3xf32> {
  %0 = sdy.manual_computation(%x, %n) in_shardings=[<@mesh, [{"expert"}, {}]>, <@mesh, [{"expert"}]>] out_shardings=[<@mesh, [{"expert"}, {}]>] manual_axes={"expert"} (%a: tensor<8x3xf32>, %c: tensor<6xi32>) {
    %1 = stablehlo.custom_call @ragged_all_to_all(%a, %a, %c, %c, %c, %c) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) -> tensor<8x3xf32>
    sdy.return %1 : tensor<8x3xf32>
  } : (tensor<32x3xf32>, tensor<24xi32>) -> tensor<32x3xf32>
  return %0 : tensor<32x3xf32>
}
