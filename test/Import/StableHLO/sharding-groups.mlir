// RUN: split-file %s %t
// DEFINE: %{compile} = llmc compile --set data.inputs.x=0 --set data.inputs.y=0 --set 'mesh.axes=["data", "tensor"]'
// DEFINE: %{import} = %{compile} --compile-to=import -o -
// DEFINE: %{mesh} = --mesh data=2,tensor=2

// RUN: %{import} %t/group.mlir %{mesh} | FileCheck %t/group.mlir
// RUN: %{import} %t/group.mlir | FileCheck %s --check-prefix=ONE
// ONE-NOT: {{dist.constraint|sdy}}
// RUN: %{import} %t/barrier.mlir %{mesh} | FileCheck %t/barrier.mlir
// The same of the text that JAX prints without Shardy.
// RUN: %{import} %t/hlo.mlir %{mesh} | FileCheck %t/hlo.mlir

// What the marks do to a program's layouts.
// RUN: %{compile} %t/group.mlir %{mesh} --config %t/rows.toml --compile-to=layouts -o %t/group.layouts.mlir
// RUN: llmc-opt --mlir-print-local-scope %t/group.layouts.mlir | FileCheck %s --check-prefix=SPREAD
// SPREAD: dist.constraint %arg1 {{.*}}dist.group = 3 : i64, dist.layouts = [#dist.layout<@mesh, [{"tensor"}, {}]>]
// SPREAD: dist.constraint %arg0 {{.*}}dist.group = 3 : i64, dist.layouts = [#dist.layout<@mesh, [{"tensor"}, {}]>]

// RUN: not %{import} %t/shapes.mlir %{mesh} 2>&1 | FileCheck %s --check-prefix=SHAPES
// SHAPES: {{^}}llmc: error[diagnosed]: {{.*}}"y"{{.*}}: expected values of one shape in the sharding group 0, got tensor<8xf32> and tensor<4xf32>{{$}}
// RUN: not %{import} %t/region.mlir %{mesh} 2>&1 | FileCheck %s --check-prefix=REGION
// REGION: {{^}}llmc: error[unsupported]: {{.*}}region.mlir:5:{{[0-9]+}}: expected 'sdy.sharding_group' outside of manual regions, got one inside{{$}}

//--- rows.toml
[[layout]]
input = "x"
dims = [["tensor", "?"], ["?"]]

//--- group.mlir
// Groups with a member in common are one.
// CHECK: func.func public @loss(
// CHECK-NOT: sdy
// CHECK: dist.constraint %arg1 to {{.*}} {dist.group = 3 : i64}
// CHECK: dist.constraint %arg0 to {{.*}} {dist.group = 3 : i64}
// CHECK: %[[SUM:.*]] = stablehlo.multiply
// CHECK: dist.constraint %[[SUM]] to {{.*}} {dist.group = 3 : i64}
// CHECK-NOT: dist.constraint
func.func public @main(%x: tensor<8x8xf32> loc("x"), %y: tensor<8x8xf32> loc("y")) -> tensor<8x8xf32> {
  sdy.sharding_group %x group_id=3 : tensor<8x8xf32>
  sdy.sharding_group %y group_id=3 : tensor<8x8xf32>
  %0 = stablehlo.multiply %y, %y : tensor<8x8xf32>
  sdy.sharding_group %y group_id=7 : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=7 : tensor<8x8xf32>
  %1 = stablehlo.add %x, %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

//--- hlo.mlir
// CHECK: dist.constraint %arg0 to {{.*}} {dist.group = 1 : i64}
// CHECK: %[[Y:.*]] = dist.constraint %arg1 to
// CHECK: dist.constraint %[[Y]] to {{.*}} {dist.group = 1 : i64}
func.func public @main(%x: tensor<8x8xf32> loc("x"), %y: tensor<8x8xf32> loc("y")) -> tensor<8x8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {has_side_effect = true, mhlo.sharding = "{unknown shard_as 1}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @Sharding(%y) {has_side_effect = true, mhlo.sharding = "{devices=[2,2]<=[4] shard_like 1}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

//--- barrier.mlir
// CHECK: dist.constraint %arg0 to {{.*}} {dist.direction = "FORWARD"}
// CHECK: dist.constraint %arg1 to {{.*}} {dist.direction = "NONE"}
// CHECK-NOT: sdy
func.func public @main(%x: tensor<8x8xf32> loc("x"), %y: tensor<8x8xf32> loc("y")) -> tensor<8x8xf32> {
  %0 = sdy.propagation_barrier %x allowed_direction=FORWARD : tensor<8x8xf32>
  %1 = sdy.propagation_barrier %y allowed_direction=NONE : tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

//--- shapes.mlir
func.func public @main(%x: tensor<8xf32> loc("x"), %y: tensor<4xf32> loc("y")) -> tensor<8xf32> {
  sdy.sharding_group %x group_id=0 : tensor<8xf32>
  sdy.sharding_group %y group_id=0 : tensor<4xf32>
  return %x : tensor<8xf32>
}

//--- region.mlir
module {
sdy.mesh @mesh = <["data"=2, "tensor"=2]>
func.func public @main(%x: tensor<8xf32> loc("x"), %y: tensor<8xf32> loc("y")) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    sdy.sharding_group %a group_id=0 : tensor<4xf32>
    sdy.return %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
