// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --set 'mesh.axes=["data", "tensor"]' --compile-to=import -o -
// DEFINE: %{mesh} = --mesh data=2,tensor=4

// A region is the one that Shardy's text says, on the mesh and on one device.
// RUN: %{import} %t/region.mlir %{mesh} > %t/region.out
// RUN: FileCheck %t/region.mlir < %t/region.out
// RUN: %{import} %t/region.sdy.mlir %{mesh} | FileCheck %t/region.mlir
// RUN: %{import} %t/region.mlir | FileCheck %s --check-prefix=ONE
// ONE: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
// ONE-NEXT: stablehlo.tanh %[[X]]

// A region of one axis in a region of another; their axes together are all.
// RUN: %{import} %t/nested.mlir %{mesh} | FileCheck %t/nested.mlir

// A region of a part of an axis is none.
// RUN: not %{import} %t/nested.mlir --mesh data=8 2>&1 | FileCheck %s --check-prefix=PART
// PART: {{^}}llmc: error[usage]: expected a mesh whose axes cut the devices as '{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}' does, got "data"=8, "tensor"=1 (axes of sizes 2, 4 by [mesh] axes and --mesh would do, in this order){{$}}

// Operands that lie nowhere in particular; no operand, and a result of no use.
// RUN: %{import} %t/none.mlir %{mesh} | FileCheck %t/none.mlir
// RUN: %{import} %t/none.mlir | FileCheck %t/none.mlir

// RUN: not %{import} %t/some.mlir %{mesh} 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: {{^}}llmc: error[unsupported]: {{.*}}some.mlir:4:{{[0-9]+}}: expected '@SPMDFullToShardShape' of each operand and '@SPMDShardToFullShape' of each result around a call, as jax.shard_map prints them, got a call with some of them{{$}}
// RUN: not %{import} %t/stays.mlir %{mesh} 2>&1 | FileCheck %s --check-prefix=STAYS
// STAYS: {{^}}llmc: error[unsupported]: {{.*}}stays.mlir:4:{{[0-9]+}}: expected '@SPMDFullToShardShape' of each operand and
// RUN: not %{import} %t/axes.mlir %{mesh} 2>&1 | FileCheck %s --check-prefix=AXES
// AXES: {{^}}llmc: error[unsupported]: {{.*}}axes.mlir:6:{{[0-9]+}}: expected the same manual axes of all operands and results of a region, got '{devices=[1,2,4]<=[8] last_tile_dims={manual, replicated}}' in '{replicated}' and others{{$}}
// RUN: not %{import} %t/shape.mlir %{mesh} 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: {{^}}llmc: error[malformed]: {{.*}}shape.mlir:4:{{[0-9]+}}: 'sdy.manual_computation' op operand #0 expected 'tensor<4xf32>' of each device, got 'tensor<2xf32>'{{$}}
// RUN: not %{import} %t/partitions.mlir 2>&1 --mesh data=2 | FileCheck %s --check-prefix=PARTITIONS
// PARTITIONS: {{^}}llmc: error[usage]: expected a mesh of 4 devices beside the pipeline axis, as the sharding '{manual}' has, got "data"=2, "tensor"=1 (axes of sizes 4 by [mesh] axes and --mesh would do, in this order){{$}}

//--- region.mlir
// CHECK: func.func public @loss(%arg0: tensor<8x8xf32>
// CHECK-NOT: custom_call
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
// CHECK: %[[T:.*]] = stablehlo.tanh
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[T]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK-NOT: custom_call
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<4x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = call @shmap_body(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %4 : tensor<4x8xf32>
  }
  func.func private @shmap_body(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.tanh %a : tensor<4x8xf32>
    %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%b: tensor<f32>, %c: tensor<f32>):
      %2 = stablehlo.add %b, %c : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}

//--- region.sdy.mlir
module {
  sdy.mesh @mesh = <["data"=2, "tensor"=4]>
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<4x8xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data", "tensor"} (%a: tensor<4x8xf32>) {
      %1 = stablehlo.tanh %a : tensor<4x8xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%b: tensor<f32>, %c: tensor<f32>):
        %3 = stablehlo.add %b, %c : tensor<f32>
        stablehlo.return %3 : tensor<f32>
      }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      sdy.return %2 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

//--- nested.mlir
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
// CHECK: %[[Y:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x4x8xf32>) -> tensor<2x4x4x2xf32>
// CHECK-NOT: custom_call
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<8x8xf32> loc("x")) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = call @outer(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
  func.func private @outer(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<4x8xf32>) -> tensor<4x2xf32>
    %2 = call @inner(%1) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"} : (tensor<4x2xf32>) -> tensor<4x8xf32>
    return %4 : tensor<4x8xf32>
  }
  func.func private @inner(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.tanh %a : tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}

//--- none.mlir
// CHECK: stablehlo.tanh %{{.*}} : tensor<8xf32>
// CHECK-NOT: custom_call
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0:2 = call @body() : () -> (tensor<8xf32>, tensor<8xf32>)
  %1 = stablehlo.custom_call @Sharding(%0#0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = stablehlo.add %x, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
func.func private @body() -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<0.5> : tensor<8xf32>
  %0 = stablehlo.tanh %c : tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}

//--- some.mlir
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = call @body(%1, %x) : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
func.func private @body(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

//--- stays.mlir
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = call @body(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @body(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

//--- axes.mlir
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{devices=[1,2,4]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = call @body(%1, %3) : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}
func.func private @body(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

//--- shape.mlir
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
  %2 = call @body(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<2xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
func.func private @body(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

//--- partitions.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = call @body(%1) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
  func.func private @body(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
