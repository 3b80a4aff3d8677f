// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/reductions.mlir | FileCheck %s --check-prefix=REDUCE
// RUN: %{import} %t/movement.mlir | FileCheck %s --check-prefix=MOVE
// RUN: %{import} %t/permutes.mlir | FileCheck %s --check-prefix=PERMUTE
// RUN: %{import} %t/channels.mlir | FileCheck %s --check-prefix=CHANNEL

// The mesh is 2 x 4, and what a device has varies along both axes. A sum is over
// the dims of its group's axes; one that is scattered is cut for them. A sum of
// what does not vary is a multiple, an extreme the value itself.
// REDUCE: func.func public @{{.*}}(%[[X:.*]]: tensor<8x16xf32>
// REDUCE: %[[A:.*]] = stablehlo.reshape %[[X]] : (tensor<8x16xf32>) -> tensor<2x4x4x4xf32>
// REDUCE: %[[B:.*]] = stablehlo.transpose %[[A]], dims = [0, 2, 1, 3]
// REDUCE: %[[D:.*]] = dist.constraint %[[B]] to #[[BOTH:.*]] hint : tensor<2x4x4x4xf32>
// REDUCE: %[[SUM:.*]] = stablehlo.reduce(%[[D]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : {{.*}} -> tensor<2x4x4xf32>
// REDUCE: %[[MAX:.*]] = stablehlo.reduce(%[[D]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [0, 1] : {{.*}} -> tensor<4x4xf32>
// REDUCE: %[[FOUR:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<2x4x4xf32>
// REDUCE: %[[TIMES:.*]] = stablehlo.multiply %[[SUM]], %[[FOUR]]
// REDUCE: %[[ALL:.*]] = stablehlo.reduce(%[[D]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] : {{.*}} -> tensor<4x4x4xf32>
// REDUCE: %[[CUT:.*]] = stablehlo.reshape %[[ALL]] : (tensor<4x4x4xf32>) -> tensor<4x2x2x4xf32>
// REDUCE: %[[OWN:.*]] = stablehlo.transpose %[[CUT]], dims = [1, 0, 2, 3] : {{.*}} -> tensor<2x4x2x4xf32>
// REDUCE: dist.constraint %[[OWN]] to {{.*}} hint

//--- reductions.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8x16xf32> loc("x")) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x16xf32>) {
  %0:4 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {"tensor"}]>] out_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {"tensor"}]>] manual_axes={"data", "tensor"} (%a: tensor<4x4xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.add %p, %q : tensor<f32>
      %6 = sdy.sharding_constraint %5 <@mesh, []> : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = "stablehlo.reduce_scatter"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<2x4xf32>
    sdy.return %1, %7, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>
  } : (tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x16xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x16xf32>
}

// A gather makes the axes the major part of a dim, in the order of the group;
// an all-to-all does so for the senders, and cuts a dim for the receivers.
// MOVE: func.func public @{{.*}}(%[[X:.*]]: tensor<8x16xf32>
// MOVE: %[[D:.*]] = dist.constraint %{{.*}} to #[[BOTH:.*]] hint : tensor<2x4x4x4xf32>
// MOVE: %[[T:.*]] = stablehlo.transpose %[[D]], dims = [2, 1, 0, 3] : (tensor<2x4x4x4xf32>) -> tensor<4x4x2x4xf32>
// MOVE: %[[R:.*]] = stablehlo.reshape %[[T]] : (tensor<4x4x2x4xf32>) -> tensor<4x32xf32>
// MOVE: dist.constraint %[[R]] to #[[WHOLE:.*]] hint
// MOVE: %[[C:.*]] = stablehlo.reshape %[[D]] : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4x1xf32>
// MOVE: %[[E:.*]] = stablehlo.transpose %[[C]], dims = [0, 3, 1, 2, 4] : {{.*}} -> tensor<2x4x4x4x1xf32>
// MOVE: %[[F:.*]] = stablehlo.reshape %[[E]] : (tensor<2x4x4x4x1xf32>) -> tensor<2x4x16x1xf32>
// MOVE: dist.constraint %[[F]] to {{.*}} hint
// The first device's value is chosen, and added to zeros of the others.
// MOVE: stablehlo.iota dim = 0 : tensor<4xi32>
// MOVE: stablehlo.compare EQ
// MOVE: %[[S:.*]] = stablehlo.select %{{.*}}, %[[D]], %{{.*}} : tensor<2x4x4x4xi1>, tensor<2x4x4x4xf32>
// MOVE: stablehlo.reduce(%[[S]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : {{.*}} -> tensor<2x4x4xf32>

//--- movement.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8x16xf32> loc("x")) -> (tensor<4x32xf32>, tensor<32x4xf32>, tensor<8x4xf32>) {
  %0:3 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {"tensor"}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {"tensor"}]>, <@mesh, [{"data"}, {}]>] manual_axes={"data", "tensor"} (%a: tensor<4x4xf32>) {
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4, 1, 5, 2, 6, 3, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<4x32xf32>
    %2 = "stablehlo.all_to_all"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x4xf32>) -> tensor<16x1xf32>
    %3 = "stablehlo.collective_broadcast"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %1, %2, %3 : tensor<4x32xf32>, tensor<16x1xf32>, tensor<4x4xf32>
  } : (tensor<8x16xf32>) -> (tensor<4x32xf32>, tensor<32x4xf32>, tensor<8x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x32xf32>, tensor<32x4xf32>, tensor<8x4xf32>
}

// Along one axis the rows of its dim move; over both they are one dim. A
// permutation that moves nothing is none, and one without senders is zero.
// PERMUTE: %[[D:.*]] = dist.constraint %{{.*}} to #[[BOTH:.*]] hint : tensor<2x4x4x4xf32>
// PERMUTE: %[[R:.*]] = dist.route %[[D]] dim 1 from [3, 0, 1, 2] : tensor<2x4x4x4xf32>
// PERMUTE: dist.constraint %[[R]]
// PERMUTE: %[[Q:.*]] = stablehlo.reshape %[[D]] : (tensor<2x4x4x4xf32>) -> tensor<8x4x4xf32>
// PERMUTE: %[[S:.*]] = dist.route %[[Q]] dim 0 from [5, -1, -1, -1, -1, 2, -1, -1] : tensor<8x4x4xf32>
// PERMUTE: stablehlo.reshape %[[S]] : (tensor<8x4x4xf32>) -> tensor<2x4x4x4xf32>
// PERMUTE: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x4xf32>
// PERMUTE-NOT: dist.route
// PERMUTE: return

//--- permutes.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8x16xf32> loc("x")) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x4xf32>) {
  %0:4 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {"tensor"}]>] out_shardings=[<@mesh, [{"data"}, {"tensor"}]>, <@mesh, [{"data"}, {"tensor"}]>, <@mesh, [{"data"}, {"tensor"}]>, <@mesh, [{}, {}]>] manual_axes={"data", "tensor"} (%a: tensor<4x4xf32>) {
    %1 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]> : tensor<8x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[2, 5], [5, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "stablehlo.collective_permute"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]> : tensor<8x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %1, %2, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  } : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x4xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x4xf32>
}

// Groups of the only replica are one device without a channel, all of them with
// a channel that does not count devices.
// CHANNEL: %[[D:.*]] = dist.constraint %{{.*}} to #[[BOTH:.*]] hint : tensor<2x4x4x4xf32>
// CHANNEL-NOT: across dimensions = [1]
// CHANNEL: stablehlo.reduce(%[[D]] init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1]
// CHANNEL-NOT: stablehlo.reduce

//--- channels.mlir
module attributes {mhlo.num_replicas = 1 : i32} {
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8x16xf32> loc("x")) -> (tensor<8x16xf32>, tensor<4x4xf32>, tensor<8x16xf32>) {
  %0:3 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {"tensor"}]>] out_shardings=[<@mesh, [{"data"}, {"tensor"}]>, <@mesh, [{}, {}]>, <@mesh, [{"data"}, {"tensor"}]>] manual_axes={"data", "tensor"} (%a: tensor<4x4xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %5 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, split_dimension = 1 : i64}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = stablehlo.replica_id : tensor<ui32>
    %f = stablehlo.convert %r : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %4 = stablehlo.add %3, %b : tensor<4x4xf32>
    sdy.return %1, %2, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  } : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<4x4xf32>, tensor<8x16xf32>)
  return %0#0, %0#1, %0#2 : tensor<8x16xf32>, tensor<4x4xf32>, tensor<8x16xf32>
}
}
