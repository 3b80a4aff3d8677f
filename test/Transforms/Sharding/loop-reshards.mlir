// RUN: llmc compile --compile-to=materialized %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --mesh data=2 -o - | FileCheck %s

// A stack of weights that rests in parts is gathered row by row, in the trips
// of the loop and again in those of the backward.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[ROW:.*]] = dist.enter row %{{.*}} of <"loop0", trips = 6>
// CHECK: %[[WHOLE:.*]] = dist.all_gather %[[ROW]] dim 0 over ["data"]
// CHECK: stablehlo.dot_general %{{.*}}, %[[WHOLE]]
// CHECK: %[[BACK:.*]] = dist.enter row %{{.*}} of <"loop0", trips = 6, reversed = true>
// CHECK: dist.all_gather %[[BACK]] dim 0 over ["data"]
// CHECK-NOT: dist.all_gather
// CHECK: return
