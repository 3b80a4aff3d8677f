// RUN: llmc compile --compile-to=local %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --mesh data=2 -o - | FileCheck %s

// A chunk is cut where its loop begins and ends. What is carried starts in a
// value of the straight part before, also the sum of the bias's gradient, and
// is handed on by the one after.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[START:.*]]:2 = dist.segment chunk(0) phase(forward) ->
// CHECK: dist.fence(
// CHECK: %[[TRIP:.*]]:3 = dist.segment chunk(0) phase(forward) loop(<"loop0", trips = 6>)
// CHECK: %[[X:.*]] = dist.enter carry %[[START]]#0
// CHECK: dist.yield %[[X]], %[[T:.*]], %{{.*}} :
// CHECK: dist.leave last %[[TRIP]]#2
// CHECK: dist.segment chunk(0) phase(forward) ->
// CHECK: dist.fence(
// The backward reads what the same trip of the forward has kept.
// CHECK: %[[BACK:.*]]:2 = dist.segment chunk(0) phase(backward_input) ->
// CHECK: %[[GRADIENTS:.*]]:2 = dist.segment chunk(0) phase(backward_input) loop(<"loop0", trips = 6, reversed = true>)
// CHECK: dist.enter carry %[[BACK]]#0
// CHECK: stablehlo.constant {{.*}}dense<1.000000e+00>
// CHECK: stablehlo.multiply %[[TRIP]]#1, %[[TRIP]]#1
// CHECK: stablehlo.dot_general %[[TRIP]]#0
// CHECK: %[[SUM:.*]] = dist.enter carry %[[BACK]]#1
// CHECK: %[[MORE:.*]] = stablehlo.add %[[SUM]],
// CHECK: dist.next %[[SUM]], %[[MORE]]
// CHECK: %[[STACK:.*]] = dist.leave stack %[[GRADIENTS]]#0
// CHECK: dist.leave last %[[GRADIENTS]]#1
// CHECK: %[[B:.*]] = dist.segment chunk(0) phase(backward_input) -> tensor<4xf32>
// CHECK: return %{{.*}}, %{{.*}}, %[[B]], %[[STACK]]
