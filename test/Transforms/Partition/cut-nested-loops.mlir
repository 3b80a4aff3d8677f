// RUN: llmc compile --compile-to=local %S/../../EndToEnd/Inputs/nested-loops.mlir --config %S/../../EndToEnd/Inputs/nested-loops.toml -o - | FileCheck %s

// A trip is cut where the loop in it begins and ends. What that one carries
// starts anew in each trip, in a value of the part before, and what enters the
// outer one enters each part that reads it.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: %[[U:[^:]*]]: tensor<5x4x4xf32>
// CHECK: %[[START:.*]]:2 = dist.segment chunk(0) phase(forward) ->
// CHECK: %[[FIRST:.*]]:2 = dist.segment chunk(0) phase(forward) loop(<"loop0", trips = 5>)
// CHECK: %[[H:.*]] = dist.enter carry %[[START]]#0 of <"loop0", trips = 5> number(3)
// CHECK: %[[ZERO:.*]] = dist.enter same %{{.*}} of <"loop0", trips = 5> {{.*}}: tensor<2x4xf32>
// CHECK: %[[FENCE:.*]] = dist.fence(%[[ZERO]])
// CHECK: dist.yield %[[H]], %[[FENCE]]
// CHECK: %[[TRIP:.*]]:{{.*}} = dist.segment chunk(0) phase(forward) loop(<"loop1", trips = 6, in = <"loop0", trips = 5>>)
// CHECK-DAG: %[[W:.*]] = dist.enter row %[[U]] of <"loop0", trips = 5>
// CHECK-DAG: dist.enter same %[[W]] of <"loop1", trips = 6, in = <"loop0", trips = 5>>
// CHECK-DAG: dist.enter carry %[[FIRST]]#1 of <"loop1", trips = 6, in = <"loop0", trips = 5>> number(2)
// CHECK-DAG: dist.enter row %[[FIRST]]#0 of <"loop1", trips = 6, in = <"loop0", trips = 5>>
// CHECK: %[[ALL:.*]] = dist.leave stack %[[TRIP]]#{{.*}} of <"loop1", trips = 6, in = <"loop0", trips = 5>>
// What the outer one carries is handed on by its last part.
// CHECK: dist.segment chunk(0) phase(forward) loop(<"loop0", trips = 5>)
// CHECK: %[[AGAIN:.*]] = dist.enter carry %[[START]]#0 of <"loop0", trips = 5> number(3)
// CHECK: dist.next %[[AGAIN]], %[[ALL]]
// The backward has the same parts.
// CHECK: dist.segment chunk(0) phase(backward_input) loop(<"loop0", trips = 5, reversed = true>)
// CHECK: dist.segment chunk(0) phase(backward_input) loop(<"loop1", trips = 6, reversed = true, in = <"loop0", trips = 5, reversed = true>>)
// CHECK: dist.enter row %[[U]] of <"loop0", trips = 5, reversed = true>
// CHECK: dist.segment chunk(0) phase(backward_input) loop(<"loop0", trips = 5, reversed = true>)
