// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/region.mlir | FileCheck %s --check-prefix=REGION
// RUN: %{import} %t/region.mlir --mesh data=1,tensor=1 | FileCheck %s --check-prefix=ONE
// RUN: %{import} %t/nested.mlir | FileCheck %s --check-prefix=NESTED
// RUN: %{import} %t/loop.mlir | FileCheck %s --check-prefix=LOOP
// RUN: %{import} %t/again.mlir | FileCheck %s --check-prefix=AGAIN
// RUN: not %{import} %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not %{import} %t/meshes.mlir 2>&1 | FileCheck %s --check-prefix=MESHES
// RUN: not %{import} %t/ids.mlir 2>&1 | FileCheck %s --check-prefix=IDS
// RUN: not %{import} %t/devices.mlir 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not %{import} %t/bytes.mlir 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not %{import} %t/body.mlir 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: not %{import} %t/start.mlir 2>&1 | FileCheck %s --check-prefix=START
// RUN: not %{import} %t/padding.mlir 2>&1 | FileCheck %s --check-prefix=PADDING
// RUN: not %{import} %t/groups.mlir 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not %{import} %t/some.mlir 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: not %{import} %t/parts.mlir 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not %{import} %t/kind.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not %{import} %t/replicas.mlir 2>&1 | FileCheck %s --check-prefix=REPLICAS
// RUN: not %{import} %t/pairs.mlir 2>&1 | FileCheck %s --check-prefix=PAIRS
// RUN: not %{import} %t/gspmd.mlir 2>&1 | FileCheck %s --check-prefix=GSPMD

// An operand gets a dim for each axis that splits it, major to minor; what the
// text says of other dims becomes hints. What varies nowhere stays as it is, and
// a result that is said to vary is repeated.
// REGION-DAG: #[[IN:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}, {}, {}]>
// REGION-DAG: #[[OUT:.*]] = #dist.layout<@mesh, [{"tensor", "data"}, {}]>
// REGION-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// REGION: func.func public @loss(%[[X:.*]]: tensor<8x3xf32>
// REGION-NEXT: %[[A:.*]] = stablehlo.reshape %[[X]] : (tensor<8x3xf32>) -> tensor<4x2x1x3xf32>
// REGION-NEXT: %[[B:.*]] = stablehlo.transpose %[[A]], dims = [1, 0, 2, 3] : {{.*}} -> tensor<2x4x1x3xf32>
// REGION-NEXT: %[[C:.*]] = dist.constraint %[[B]] to #[[IN]] hint
// REGION-NEXT: %[[D:.*]] = dist.constraint %[[X]] to #[[WHOLE]] hint
// REGION-NEXT: %[[E:.*]] = stablehlo.tanh %[[D]] : tensor<8x3xf32>
// REGION-NEXT: %[[F:.*]] = stablehlo.sine %[[C]] : tensor<2x4x1x3xf32>
// REGION-NEXT: %[[G:.*]] = stablehlo.transpose %[[F]], dims = [1, 0, 2, 3]
// REGION-NEXT: %[[H:.*]] = stablehlo.reshape %[[G]] : {{.*}} -> tensor<8x3xf32>
// REGION-NEXT: %[[I:.*]] = dist.constraint %[[H]] to #[[OUT]] hint
// REGION-NEXT: %[[J:.*]] = stablehlo.broadcast_in_dim %[[E]], dims = [1, 2] : (tensor<8x3xf32>) -> tensor<2x8x3xf32>
// REGION-NEXT: %[[K:.*]] = stablehlo.reshape %[[J]] : (tensor<2x8x3xf32>) -> tensor<16x3xf32>
// REGION-NEXT: %[[L:.*]] = dist.constraint %[[K]]
// REGION-NEXT: return %[[I]], %[[L]]
// ONE-NOT: dist.constraint
// ONE: return

// The inner region's axis joins the outer one's, whose dim it keeps.
// NESTED: func.func public @loss(%[[X:.*]]: tensor<8x16xf32>
// NESTED-NEXT: %[[A:.*]] = stablehlo.reshape %[[X]] : (tensor<8x16xf32>) -> tensor<2x4x16xf32>
// NESTED-NEXT: %[[B:.*]] = dist.constraint %[[A]]
// NESTED-NEXT: %[[C:.*]] = stablehlo.reshape %[[B]] : (tensor<2x4x16xf32>) -> tensor<2x4x4x4xf32>
// NESTED-NEXT: %[[D:.*]] = stablehlo.transpose %[[C]], dims = [0, 2, 1, 3]
// NESTED-NEXT: %[[E:.*]] = dist.constraint %[[D]]
// NESTED: %[[F:.*]] = stablehlo.reduce(%[[E]] init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1] : {{.*}} -> tensor<4x4xf32>
// NESTED: %[[G:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = [1, 2] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
// NESTED-NEXT: %[[H:.*]] = stablehlo.reshape %[[G]] : (tensor<2x4x4xf32>) -> tensor<8x4xf32>
// NESTED-NEXT: %[[I:.*]] = dist.constraint %[[H]]
// NESTED-NEXT: return %[[I]]

// A region in a loop: each trip has one, and its number is known in it.
// LOOP: func.func public @loss(%[[X:.*]]: tensor<8xf32>
// LOOP: %[[A:.*]] = stablehlo.reshape %[[X]] : (tensor<8xf32>) -> tensor<2x4xf32>
// LOOP: stablehlo.slice %{{.*}} [0:2, 0:1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
// LOOP: stablehlo.slice %{{.*}} [0:2, 1:2] : (tensor<2x4xf32>) -> tensor<2x1xf32>
// LOOP-NOT: dynamic_slice

// What leaves a region as it enters the next one is there already, with the dims that it had; it is put together where
// something else reads it, and where it enters in another way.
// AGAIN: %[[A:.*]] = stablehlo.tanh %{{.*}} : tensor<2x4xf32>
// AGAIN: %[[W:.*]] = stablehlo.reshape %[[A]] : (tensor<2x4xf32>) -> tensor<8xf32>
// AGAIN: %[[P:.*]] = dist.constraint %[[W]]
// AGAIN: %[[B:.*]] = dist.constraint %[[A]]
// AGAIN: %[[C:.*]] = dist.constraint %[[P]]
// AGAIN: stablehlo.sine %[[B]] : tensor<2x4xf32>
// AGAIN: stablehlo.cosine %[[C]] : tensor<8xf32>

// OUTSIDE: {{^}}llmc: error[unsupported]: {{.*}}outside.mlir:2:8: expected 'stablehlo.partition_id' in a manual region (jax.shard_map), whose mesh says what devices are, got it outside{{$}}
// MESHES: {{^}}llmc: error[unsupported]: {{.*}}meshes.mlir:7:8: expected one mesh in all manual regions, got two with different axes{{$}}
// IDS: {{^}}llmc: error[unsupported]: {{.*}}ids.mlir:3:8: expected devices in the order of the mesh in a manual region, got device ids{{$}}
// DEVICES: {{^}}llmc: error[unsupported]: {{.*}}devices.mlir:3:8: expected a mesh of at most 65536 devices in a manual region, got more{{$}}
// BYTES: {{^}}llmc: error[diagnosed]: {{.*}}bytes.mlir:5:10: 'stablehlo.broadcast_in_dim' op expected tensors of less than 2^63 bytes on 65536 devices, got 'tensor<281474976710656xf32>' on each{{$}}
// BODY: {{^}}llmc: error[unsupported]: {{.*}}body.mlir:6:10: 'stablehlo.reduce' op expected a body that uses no value which varies along the devices of a manual region, got one that does{{$}}
// START: {{^}}llmc: error[unsupported]: {{.*}}start.mlir:6:10: 'stablehlo.reduce' op expected a reduction that starts from the same value on all devices of a manual region, got one that varies{{$}}
// PADDING: {{^}}llmc: error[unsupported]: {{.*}}padding.mlir:6:10: 'stablehlo.pad' op expected padding that is the same on all devices of a manual region, got one that varies (pad with zeros, and choose by jnp.where){{$}}
// GROUPS: {{^}}llmc: error[unsupported]: {{.*}}groups.mlir:4:10: 'stablehlo.all_gather' op expected groups of devices along whole axes of the mesh, got dense<{{.*}}> : tensor<2x2xi64> (give the mesh an axis for them in place of axis_index_groups){{$}}
// SOME: {{^}}llmc: error[unsupported]: {{.*}}some.mlir:4:10: 'stablehlo.all_gather' op expected groups of one size with each of the 4 devices of the mesh, got dense<{{.*}}> : tensor<1x2xi64>{{$}}
// PARTS: {{^}}llmc: error[diagnosed]: {{.*}}parts.mlir:4:10: 'stablehlo.all_gather' op expected a number of parts for the 4 devices of a group, 16, got 8{{$}}
// KIND: {{^}}llmc: error[unsupported]: {{.*}}kind.mlir:4:10: 'stablehlo.all_reduce' op expected values that one add, multiply, maximum, minimum, and or or combines, got a body of stablehlo.subtract stablehlo.return{{$}}
// REPLICAS: {{^}}llmc: error[unsupported]: {{.*}}replicas.mlir:5:10: 'stablehlo.partition_id' op expected a module of 1 replica, got 2{{$}}
// PAIRS: {{^}}llmc: error[diagnosed]: {{.*}}pairs.mlir:4:10: 'stablehlo.collective_permute' op expected numbers of devices below 4 in 'source_target_pairs', got 4{{$}}
// GSPMD: {{^}}llmc: error[unsupported]: {{.*}}gspmd.mlir:2:8: expected '@SPMDFullToShardShape' and '@SPMDShardToFullShape' around one call of a function, as jax.shard_map prints them, got '@SPMDFullToShardShape' elsewhere{{$}}

//--- region.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8x3xf32> loc("x")) -> (tensor<8x3xf32>, tensor<16x3xf32>) {
  %0:2 = sdy.manual_computation(%x, %x) in_shardings=[<@mesh, [{"tensor", "data"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"tensor", "data"}, {}]>, <@mesh, [{"data"}, {}]>] manual_axes={"data", "tensor"} (%a: tensor<1x3xf32>, %b: tensor<8x3xf32>) {
    %1 = stablehlo.tanh %b : tensor<8x3xf32>
    %2 = stablehlo.sine %a : tensor<1x3xf32>
    sdy.return %2, %1 : tensor<1x3xf32>, tensor<8x3xf32>
  } : (tensor<8x3xf32>, tensor<8x3xf32>) -> (tensor<8x3xf32>, tensor<16x3xf32>)
  return %0#0, %0#1 : tensor<8x3xf32>, tensor<16x3xf32>
}

//--- nested.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8x16xf32> loc("x")) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"data"} (%a: tensor<4x16xf32>) {
    %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}, {"tensor", ?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"tensor"} (%b: tensor<4x4xf32>) {
      %2 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %5 = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %2 : tensor<4x4xf32>
    } : (tensor<4x16xf32>) -> tensor<4x4xf32>
    %4 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={} (%b: tensor<4x4xf32>) {
      sdy.return %b : tensor<4x4xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %4 : tensor<4x4xf32>
  } : (tensor<8x16xf32>) -> tensor<4x4xf32>
  %6 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{"data", ?}, {?}]>] manual_axes={"data"} (%b: tensor<4x4xf32>) {
    sdy.return %b : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return %6 : tensor<8x4xf32>
}

//--- loop.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<2xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %y = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0:2 = stablehlo.while(%n = %i, %s = %y) : tensor<i32>, tensor<2xf32>
  cond {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.compare LT, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = sdy.manual_computation(%x, %n) in_shardings=[<@mesh, [{"data"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>, %b: tensor<i32>) {
      %4 = stablehlo.dynamic_slice %a, %b, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
      sdy.return %4 : tensor<1xf32>
    } : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %n, %one : tensor<i32>
    %3 = stablehlo.add %s, %1 : tensor<2xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}

//--- again.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    %1 = stablehlo.tanh %a : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2:2 = sdy.manual_computation(%0, %0) in_shardings=[<@mesh, [{"data"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"data"}]>, <@mesh, [{}]>] manual_axes={"data"} (%a: tensor<4xf32>, %b: tensor<8xf32>) {
    %3 = stablehlo.sine %a : tensor<4xf32>
    %4 = stablehlo.cosine %b : tensor<8xf32>
    sdy.return %3, %4 : tensor<4xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %2#0, %2#1 : tensor<8xf32>, tensor<8xf32>
}

//--- outside.mlir
func.func public @main(%x: tensor<f32> loc("x")) -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

//--- meshes.mlir
sdy.mesh @mesh = <["data"=2]>
sdy.mesh @other = <["data"=4]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    sdy.return %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@other, [{"data"}]>] out_shardings=[<@other, [{"data"}]>] manual_axes={"data"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

//--- ids.mlir
sdy.mesh @mesh = <["data"=2], device_ids=[1, 0]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    sdy.return %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- devices.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=65536]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    sdy.return %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- bytes.mlir
sdy.mesh @mesh = <["data"=65536]>
func.func public @main(%x: tensor<65536xf32> loc("x")) -> tensor<1xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%a: tensor<1xf32>) {
    %b = stablehlo.tanh %a : tensor<1xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<1xf32>) -> tensor<281474976710656xf32>
    %2 = stablehlo.slice %1 [0:1] : (tensor<281474976710656xf32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<65536xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- body.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.reduce(%a init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%p: tensor<f32>, %q: tensor<f32>) {
      %4 = stablehlo.multiply %q, %s : tensor<f32>
      %5 = stablehlo.add %p, %4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }
    %2 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- start.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    %1 = stablehlo.slice %a [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
    %3 = stablehlo.reduce(%a init: %2) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %4 = stablehlo.reshape %3 : (tensor<f32>) -> tensor<1xf32>
    sdy.return %4 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- padding.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<10xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    %1 = stablehlo.slice %a [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
    %3 = stablehlo.pad %a, %2, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
    sdy.return %3 : tensor<5xf32>
  } : (tensor<8xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

//--- groups.mlir
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<2xf32>) {
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

//--- some.mlir
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<2xf32>) {
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

//--- parts.mlir
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<16xf32> loc("x")) -> tensor<32xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

//--- kind.mlir
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%a: tensor<2xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.subtract %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- replicas.mlir
module attributes {mhlo.num_replicas = 2 : i32} {
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<2xf32>) {
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %4 = stablehlo.add %a, %3 : tensor<2xf32>
    sdy.return %4 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

//--- pairs.mlir
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<2xf32>) {
    %1 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 4]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- gspmd.mlir
func.func public @main(%x: tensor<8xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
