// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --set data.inputs.w=0
// RUN: %{import} %t/carried.mlir | FileCheck %s --check-prefix=CARRIED
// RUN: %{import} %t/outside.mlir | FileCheck %s --check-prefix=OUTSIDE
// RUN: %{import} %t/disagree.mlir | FileCheck %s --check-prefix=DISAGREE
// RUN: %{import} %t/carried.mlir --set training.unroll=true | FileCheck %s --check-prefix=UNROLLED

// A counted loop in a region stays one. A stack has its rows before the leading dims in the loop, after them
// outside. A carried value has a dim for each axis along which it varies in some trip: %s begins as zeros and varies
// along both axes, since a trip adds what does; %t is 1, and then what %s was in the trip before; %u varies along no
// axis, since it is a sum over them. The device's number is none of the loop.
// CARRIED: func.func public @{{.*}}(%{{.*}}: tensor<8x4xf32> {{.*}}, %{{.*}}: tensor<5x4x4xf32>
// CARRIED-DAG: %[[W:.*]] = stablehlo.transpose %{{.*}}, dims = [1, 0, 2, 3] : (tensor<4x5x4x1xf32>) -> tensor<5x4x4x1xf32>
// CARRIED-DAG: %[[Z:.*]] = stablehlo.broadcast_in_dim %{{.*}} -> tensor<2x4x4x1xf32>
// CARRIED-DAG: %[[ONE:.*]] = stablehlo.broadcast_in_dim %{{.*}} -> tensor<2x4x4x1xf32>
// CARRIED-DAG: %[[ROW:.*]] = dist.enter row %[[W]] of <"loop0", trips = 5> : tensor<5x4x4x1xf32> -> tensor<4x4x1xf32>
// CARRIED-DAG: %[[S:.*]] = dist.enter carry %[[Z]] of <"loop0", trips = 5> number(1) : tensor<2x4x4x1xf32> -> tensor<2x4x4x1xf32>
// CARRIED-DAG: %[[T:.*]] = dist.enter carry %{{.*}} of <"loop0", trips = 5> number(2) : tensor<2x4x4x1xf32> -> tensor<2x4x4x1xf32>
// CARRIED-DAG: %[[U:.*]] = dist.enter carry %{{.*}} of <"loop0", trips = 5> number(3) : tensor<f32> -> tensor<f32>
// CARRIED: %[[D:.*]] = stablehlo.dot_general %{{.*}}, %{{.*}} : (tensor<2x4x4xf32>, tensor<4x4x1xf32>) -> tensor<2x4x4x1xf32>
// CARRIED: %[[P:.*]] = stablehlo.reduce(%[[T]] {{.*}} across dimensions = [2, 3] : (tensor<2x4x4x1xf32>, tensor<f32>) -> tensor<2x4xf32>
// CARRIED: %[[ALL:.*]] = stablehlo.reduce(%[[P]] {{.*}} across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
// CARRIED: %[[TOTAL:.*]] = stablehlo.add %[[U]], %[[ALL]]
// CARRIED: %[[LAST:.*]] = dist.next %[[S]], %{{.*}} : tensor<2x4x4x1xf32>
// CARRIED: dist.leave last %[[LAST]] of <"loop0", trips = 5>
// CARRIED: dist.next %[[T]], %[[S]] : tensor<2x4x4x1xf32>
// CARRIED: dist.next %[[U]], %[[TOTAL]] : tensor<f32>
// CARRIED: %[[ROWS:.*]] = dist.leave stack %{{.*}} of <"loop0", trips = 5> : tensor<2x4x4x1xf32> -> tensor<5x2x4x4x1xf32>
// CARRIED: stablehlo.transpose %[[ROWS]], dims = [1, 2, 0, 3, 4] : (tensor<5x2x4x4x1xf32>) -> tensor<2x4x5x4x1xf32>
// CARRIED-NOT: dist.enter
// UNROLLED-NOT: dist.enter
// UNROLLED: return

// A region in each trip: what the loop carries outside of it has no leading dims.
// OUTSIDE: %[[C:.*]] = dist.enter carry %{{.*}} of <"loop0", trips = 4> number(1) : tensor<8x4xf32> -> tensor<8x4xf32>
// OUTSIDE: %[[A:.*]] = stablehlo.reshape %[[C]] : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
// OUTSIDE: stablehlo.dot_general %{{.*}} : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
// OUTSIDE: %[[B:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x4x4xf32>) -> tensor<8x4xf32>
// OUTSIDE: dist.next %[[C]], %{{.*}} : tensor<8x4xf32>

// A loop that each device ends for itself: the flags of all are carried, the loop goes on as long as one is set, and a
// device that has ended keeps what it ended with.
// DISAGREE: %[[C:.*]] = stablehlo.compare GT, {{.*}} -> tensor<2xi1>
// DISAGREE: %[[ANY:.*]] = stablehlo.reduce(%[[C]] {{.*}} stablehlo.or across dimensions = [0]
// DISAGREE: %[[ON:.*]] = dist.enter carry %[[ANY]] of <"loop0", conditional = true> number(0) : tensor<i1> -> tensor<i1>
// DISAGREE: %[[F:.*]] = dist.enter carry %[[C]] of <"loop0", conditional = true> number(3) : tensor<2xi1> -> tensor<2xi1>
// DISAGREE: %[[S:.*]] = dist.enter carry %{{.*}} number(1) : tensor<2x4xf32> -> tensor<2x4xf32>
// DISAGREE: %[[N:.*]] = dist.enter carry %{{.*}} number(2) : tensor<2xf32> -> tensor<2xf32>
// DISAGREE: %[[HALF:.*]] = stablehlo.multiply %[[S]], %
// DISAGREE: %[[NEXT:.*]] = stablehlo.compare GT, {{.*}} -> tensor<2xi1>
// DISAGREE: %[[BOTH:.*]] = stablehlo.and %[[F]], %[[NEXT]]
// DISAGREE: %[[AGAIN:.*]] = stablehlo.reduce(%[[BOTH]] {{.*}} stablehlo.or across dimensions = [0]
// DISAGREE: dist.next %[[ON]], %[[AGAIN]] : tensor<i1>
// DISAGREE: dist.next %[[F]], %[[BOTH]] : tensor<2xi1>
// DISAGREE: %[[IN:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = [0]
// DISAGREE: %[[KEPT:.*]] = stablehlo.select %[[IN]], %[[HALF]], %[[S]]
// DISAGREE: dist.next %[[S]], %[[KEPT]] : tensor<2x4xf32>
// DISAGREE: dist.next %[[N]], %{{.*}} : tensor<2xf32>

//--- carried.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8x4xf32> loc("x"), %w: tensor<5x4x4xf32> loc("w")) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<5x8x4xf32>) {
  %0:4 = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}, {}, {"tensor"}]>] out_shardings=[<@mesh, [{"data"}, {"tensor"}]>, <@mesh, [{"data"}, {"tensor"}]>, <@mesh, []>, <@mesh, [{}, {"data"}, {"tensor"}]>] manual_axes={"data", "tensor"} (%a: tensor<4x4xf32>, %b: tensor<5x4x1xf32>) {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<4x1xf32>
    %one = stablehlo.constant dense<1.0> : tensor<4x1xf32>
    %e = stablehlo.constant dense<0.0> : tensor<5x4x1xf32>
    %1:5 = stablehlo.while(%n = %i, %s = %z, %t = %one, %u = %zero, %k = %e) : tensor<i32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<f32>, tensor<5x4x1xf32>
    cond {
      %five = stablehlo.constant dense<5> : tensor<i32>
      %2 = stablehlo.compare LT, %n, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %number = stablehlo.partition_id : tensor<ui32>
      %place = stablehlo.convert %number : (tensor<ui32>) -> tensor<f32>
      %q = stablehlo.dynamic_slice %b, %n, %i, %i, sizes = [1, 4, 1] : (tensor<5x4x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x1xf32>
      %r = stablehlo.reshape %q : (tensor<1x4x1xf32>) -> tensor<4x1xf32>
      %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
      %m = stablehlo.broadcast_in_dim %place, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
      %f = stablehlo.multiply %d, %m : tensor<4x1xf32>
      %g = stablehlo.add %s, %f : tensor<4x1xf32>
      %own = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
      %sum = "stablehlo.all_reduce"(%own) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%p0: tensor<f32>, %p1: tensor<f32>):
        %p2 = stablehlo.add %p0, %p1 : tensor<f32>
        stablehlo.return %p2 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %h = stablehlo.add %u, %sum : tensor<f32>
      %row = stablehlo.reshape %f : (tensor<4x1xf32>) -> tensor<1x4x1xf32>
      %put = stablehlo.dynamic_update_slice %k, %row, %n, %i, %i : (tensor<5x4x1xf32>, tensor<1x4x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x4x1xf32>
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %n, %c1 : tensor<i32>
      stablehlo.return %next, %g, %s, %h, %put : tensor<i32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<f32>, tensor<5x4x1xf32>
    }
    sdy.return %1#1, %1#2, %1#3, %1#4 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<f32>, tensor<5x4x1xf32>
  } : (tensor<8x4xf32>, tensor<5x4x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<5x8x4xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<5x8x4xf32>
}

//--- outside.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<8x4xf32> loc("x"), %w: tensor<4x4xf32> loc("w")) -> tensor<8x4xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%n = %i, %s = %x) : tensor<i32>, tensor<8x4xf32>
  cond {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = sdy.manual_computation(%s, %w) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data"} (%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
      %4 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %4 : tensor<4x4xf32>
    } : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<8x4xf32>
  }
  return %0#1 : tensor<8x4xf32>
}

//--- disagree.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<8xf32> loc("x"), %w: tensor<8xf32> loc("w")) -> (tensor<8xf32>, tensor<2xf32>) {
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>, <@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1:2 = stablehlo.while(%s = %a, %n = %zero) : tensor<4xf32>, tensor<f32>
    cond {
      %2 = stablehlo.reduce(%s init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %3 = stablehlo.constant dense<0.5> : tensor<f32>
      %4 = stablehlo.compare GT, %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %half = stablehlo.constant dense<0.5> : tensor<4xf32>
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %2 = stablehlo.multiply %s, %half : tensor<4xf32>
      %3 = stablehlo.add %n, %one : tensor<f32>
      stablehlo.return %2, %3 : tensor<4xf32>, tensor<f32>
    }
    %5 = stablehlo.reshape %1#1 : (tensor<f32>) -> tensor<1xf32>
    sdy.return %1#0, %5 : tensor<4xf32>, tensor<1xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<2xf32>
}
