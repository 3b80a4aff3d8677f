// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --set 'mesh.axes=["data", "tensor"]' --compile-to=import -o -
// DEFINE: %{plain} = grep -v "^#loc"
// DEFINE: %{mesh} = --mesh data=2,tensor=4

// What jax.export stores without the dialect of Shardy is the program of the text that has it.
// RUN: %{import} %t/stored.mlir %{mesh} | %{plain} > %t/stored.out
// RUN: %{import} %t/plain.mlir %{mesh} | %{plain} > %t/plain.out
// RUN: diff %t/stored.out %t/plain.out
// RUN: FileCheck %t/plain.mlir < %t/plain.out

// Older texts: the strings of a region stand at its call, each value has its own boundary, and each quote has a backslash before it.
// RUN: %{import} %t/older.mlir %{mesh} | %{plain} > %t/older.out
// RUN: %{import} %t/newer.mlir %{mesh} | %{plain} | diff - %t/older.out
// RUN: FileCheck %t/newer.mlir < %t/older.out

// On one device annotations say nothing, and a region is what all its devices compute.
// RUN: %{import} %t/older.mlir | FileCheck %s --check-prefix=ONE
// ONE-NOT: {{dist.constraint|custom_call|sdy[.]}}
// ONE: stablehlo.reshape %arg0 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>

// RUN: for text in string mesh some axes stays mark result; do not %{import} %t/$text.mlir %{mesh}; done 2>&1 | grep '^llmc: ' | FileCheck %s --check-prefix=REFUSED
// REFUSED: {{^}}llmc: error[malformed]: "x": expected 'xla.sdy.sharding' as Shardy writes it, got '#sdy.sharding<@mesh, [{"data"}'{{$}}
// REFUSED-NEXT: {{^}}llmc: error[malformed]: {{.*}}mesh.mlir:1:1: expected meshes in 'xla.sdy.meshes', got another attribute of the name 'mesh'{{$}}
// REFUSED-NEXT: {{^}}llmc: error[unsupported]: {{.*}}some.mlir:4:{{[0-9]+}}: expected '@xla.sdy.GlobalToLocalShape' of each operand and '@xla.sdy.LocalToGlobalShape' of each result around a call, with shardings and the same manual axes, as jax.export writes them, got a call with some of them{{$}}
// REFUSED-NEXT: {{^}}llmc: error[unsupported]: {{.*}}axes.mlir:4:{{[0-9]+}}: expected '@xla.sdy.GlobalToLocalShape' of each operand and
// REFUSED-NEXT: {{^}}llmc: error[unsupported]: {{.*}}stays.mlir:3:{{[0-9]+}}: expected '@xla.sdy.GlobalToLocalShape' and '@xla.sdy.LocalToGlobalShape' around one call of a function, as jax.export writes them, got '@xla.sdy.GlobalToLocalShape' elsewhere{{$}}
// REFUSED-NEXT: {{^}}llmc: error[malformed]: {{.*}}mark.mlir:3:{{[0-9]+}}: expected one operand and a number as 'xla.sdy.allowed_direction' of '@xla.sdy.PropagationBarrier', got others{{$}}
// REFUSED-NEXT: {{^}}llmc: error[malformed]: {{.*}}result.mlir:3:{{[0-9]+}}: expected one operand, a result of its type and one sharding of '@Sharding', got others{{$}}

//--- plain.mlir
// CHECK: #[[ROWS:.*]] = #dist.layout<@mesh, [{"data"}, {?}]>
// CHECK-NOT: {{sdy|custom_call|mhlo}}
// CHECK: func.func public @loss({{.*}}layout = #[[ROWS]]>}
// CHECK-NOT: {{sdy|custom_call|mhlo}}
// CHECK: dist.constraint %{{.*}} to {{.*}} {dist.direction = "FORWARD"}
// CHECK-NOT: {{sdy|custom_call|mhlo}}
// CHECK: dist.group = 5
// CHECK-NOT: {{sdy|custom_call|mhlo}}
module {
  sdy.mesh @mesh = <["data"=2, "tensor"=4]>
  func.func public @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>} loc("x")) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tensor":(1)2}, {?}]>}) {
    %0 = sdy.propagation_barrier %x allowed_direction=FORWARD : tensor<16x8xf32>
    %1 = stablehlo.sine %0 : tensor<16x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {?}]> : tensor<16x8xf32>
    %3 = stablehlo.tanh %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"tensor"}, {}]>]>} : tensor<16x8xf32>
    sdy.sharding_group %3 group_id=5 : tensor<16x8xf32>
    %4 = stablehlo.add %3, %2 : tensor<16x8xf32>
    sdy.sharding_group %4 group_id=5 : tensor<16x8xf32>
    return %4 : tensor<16x8xf32>
  }
}

//--- stored.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22data\22=2, \22tensor\22=4]>}"}} {
  func.func public @main(%x: tensor<16x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22data\22}, {?}]>"}, mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} loc("x")) -> (tensor<16x8xf32> {mhlo.sharding = "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"}) {
    %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%x) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}} : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %1 = stablehlo.sine %0 : tensor<16x8xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22data\22}, {?}]>]>"}, mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %3 = stablehlo.tanh %2 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22tensor\22}, {}]>]>"}, mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : tensor<16x8xf32>
    stablehlo.custom_call @xla.sdy.ShardingGroup(%3) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "5 : i64"}} : (tensor<16x8xf32>) -> ()
    %4 = stablehlo.add %3, %2 : tensor<16x8xf32>
    stablehlo.custom_call @xla.sdy.ShardingGroup(%4) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "5 : i64"}} : (tensor<16x8xf32>) -> ()
    %5 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%4) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.allowed_direction = "3 : i32"}} : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %6 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%5) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22tensor\22:(1)2}, {?}]>]>"}} : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return %6 : tensor<16x8xf32>
  }
}

//--- newer.mlir
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT: %[[PART:.*]] = dist.constraint %[[X]] to
// CHECK: stablehlo.add %[[PART]], %[[PART]]
// CHECK-NOT: {{custom_call|call @}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22data\22=2, \22tensor\22=4]>}"}} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.tanh %x : tensor<8x8xf32>
    %1:2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x, %0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22data\22}, {}]>, <@mesh, [{}, {\22data\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22data\22, \22tensor\22}>"}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>)
    %2:2 = call @xla.sdy.manual_computation_body(%1#0, %1#1) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>)
    %3:2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2#0, %2#1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22data\22, \22tensor\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{}, {\22data\22}]>, <@mesh, [{\22data\22}, {}]>]>"}} : (tensor<8x4xf32>, tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    %4 = stablehlo.subtract %3#0, %3#1 : tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
  func.func @xla.sdy.manual_computation_body(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
    %0 = stablehlo.add %a, %a : tensor<4x8xf32>
    %1 = stablehlo.multiply %b, %b : tensor<8x4xf32>
    return %1, %0 : tensor<8x4xf32>, tensor<4x8xf32>
  }
}

//--- older.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22data\\\22=2, \\\22tensor\\\22=4]>}"}} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.tanh %x : tensor<8x8xf32>
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %3:2 = call @xla.sdy.manual_computation_body(%1, %2) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22data\\\22}, {}]>, <@mesh, [{}, {\\\22data\\\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22data\\\22, \\\22tensor\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{}, {\\\22data\\\22}]>, <@mesh, [{\\\22data\\\22}, {}]>]>"}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>)
    %4 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%3#0) : (tensor<8x4xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%3#1) : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.subtract %4, %5 : tensor<8x8xf32>
    return %6 : tensor<8x8xf32>
  }
  func.func @xla.sdy.manual_computation_body(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
    %0 = stablehlo.add %a, %a : tensor<4x8xf32>
    %1 = stablehlo.multiply %b, %b : tensor<8x4xf32>
    return %1, %0 : tensor<8x4xf32>, tensor<4x8xf32>
  }
}

//--- string.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22data\22=2, \22tensor\22=4]>}"}} {
  func.func public @main(%x: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22data\22}"}} loc("x")) -> tensor<8x8xf32> {
    return %x : tensor<8x8xf32>
  }
}

//--- mesh.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = 1 : i64}"}} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<8x8xf32> {
    return %x : tensor<8x8xf32>
  }
}

//--- some.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22data\22=2, \22tensor\22=4]>}"}} {
  func.func public @main(%x: tensor<4x8xf32> loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.tanh %x : tensor<4x8xf32>
    %1 = call @body(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22data\22, \22tensor\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22data\22}, {}]>]>"}} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
  func.func private @body(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    return %a : tensor<4x8xf32>
  }
}

//--- axes.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22data\22=2, \22tensor\22=4]>}"}} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22data\22}>", xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22data\22}, {}]>]>"}} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = call @body(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22data\22, \22tensor\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22data\22}, {}]>]>"}} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
  func.func private @body(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    return %a : tensor<4x8xf32>
  }
}

//--- stays.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22data\22=2, \22tensor\22=4]>}"}} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<4x8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22data\22}>", xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22data\22}, {}]>]>"}} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

//--- mark.mlir
module {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%x) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "4 : i32"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

//--- result.mlir
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22data\22=2, \22tensor\22=4]>}"}} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22data\22}, {}]>, <@mesh, [{}, {}]>]>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
