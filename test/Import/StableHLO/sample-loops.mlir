// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: sed 's/dense<0>/dense<[0, 1, 0]>/' %t/each.mlir > %t/starts.mlir
// RUN: sed 's/%%last = stablehlo.constant dense<2>/%%last = stablehlo.constant dense<3>/' %t/each.mlir > %t/other.mlir
// RUN: sed 's/return %%a, %%b/return %%a, %%f/' %t/each.mlir > %t/goes-on.mlir
// RUN: sed 's/return %%a, %%b/return %%next, %%b/' %t/each.mlir > %t/counts-on.mlir
// RUN: sed 's/stablehlo.reduce(%%y /stablehlo.reduce(%%turned /' %t/each.mlir > %t/reads.mlir
// RUN: sed 's/stablehlo.tanh %%y/stablehlo.tanh %%turned/' %t/each.mlir > %t/becomes.mlir
// RUN: %{import} %t/each.mlir | FileCheck %s --check-prefix=EACH
// RUN: %{import} %t/starts.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/other.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/goes-on.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/counts-on.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/reads.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/becomes.mlir | FileCheck %s --check-prefix=OPEN

// As many trips as one sample can have. A sample that has ended stays what it is, and the trip computes on what it began with.
// EACH: func.func public @{{.*}}(%[[X:.*]]: tensor<3x2xf32>
// EACH: %[[ON0:.*]] = stablehlo.and %{{.*}} : tensor<3xi1>
// EACH: %[[ALL0:.*]] = stablehlo.broadcast_in_dim %[[ON0]], dims = [0] : (tensor<3xi1>) -> tensor<3x2xi1>
// EACH: %[[IN0:.*]] = stablehlo.select %[[ALL0]], %[[X]], %[[X]]
// EACH: %[[F0:.*]] = stablehlo.tanh %[[IN0]]
// EACH: %[[Y0:.*]] = stablehlo.select %{{.*}}, %[[F0]], %[[X]]
// EACH: %[[ON1:.*]] = stablehlo.and %{{.*}} : tensor<3xi1>
// EACH: %[[ALL1:.*]] = stablehlo.broadcast_in_dim %[[ON1]], dims = [0]
// EACH: %[[IN1:.*]] = stablehlo.select %[[ALL1]], %[[Y0]], %[[X]]
// EACH: %[[F1:.*]] = stablehlo.tanh %[[IN1]]
// EACH: %[[Y1:.*]] = stablehlo.select %{{.*}}, %[[F1]], %[[Y0]]
// EACH-NOT: stablehlo.tanh
// EACH: return %[[Y1]], %{{.*}}

// No bound are counters that begin at different numbers, a body that goes on by another condition, values and counters that
// go on where their sample has ended, and samples that read each other, in the condition or in what they become.
// OPEN: dist.enter carry %{{.*}} of <"loop0", conditional = true> number(0) : tensor<i1> -> tensor<i1>

//--- each.mlir
func.func public @main(%x: tensor<3x2xf32> loc("x")) -> (tensor<3x2xf32>, tensor<3xi32>) {
  %starts = stablehlo.constant dense<0> : tensor<3xi32>
  %0:2 = stablehlo.while(%i = %starts, %y = %x) : tensor<3xi32>, tensor<3x2xf32>
  cond {
    %end = stablehlo.constant dense<2> : tensor<3xi32>
    %limit = stablehlo.constant dense<9.0> : tensor<3xf32>
    %least = stablehlo.constant dense<-9.0> : tensor<f32>
    %turned = stablehlo.reverse %y, dims = [0] : tensor<3x2xf32>
    %size = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
    %small = stablehlo.compare LT, %size, %limit, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %counts = stablehlo.compare LT, %i, %end, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %on = stablehlo.and %counts, %small : tensor<3xi1>
    %no = stablehlo.constant dense<false> : tensor<i1>
    %any = stablehlo.reduce(%on init: %no) applies stablehlo.or across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %any : tensor<i1>
  } do {
    %last = stablehlo.constant dense<2> : tensor<3xi32>
    %limit = stablehlo.constant dense<9.0> : tensor<3xf32>
    %least = stablehlo.constant dense<-9.0> : tensor<f32>
    %turned = stablehlo.reverse %y, dims = [0] : tensor<3x2xf32>
    %size = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
    %small = stablehlo.compare LT, %size, %limit, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %counts = stablehlo.compare LT, %i, %last, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %on = stablehlo.and %counts, %small : tensor<3xi1>
    %one = stablehlo.constant dense<1> : tensor<3xi32>
    %next = stablehlo.add %i, %one : tensor<3xi32>
    %f = stablehlo.tanh %y : tensor<3x2xf32>
    %all = stablehlo.broadcast_in_dim %on, dims = [0] : (tensor<3xi1>) -> tensor<3x2xi1>
    %a = stablehlo.select %on, %next, %i : tensor<3xi1>, tensor<3xi32>
    %b = stablehlo.select %all, %f, %y : tensor<3x2xi1>, tensor<3x2xf32>
    stablehlo.return %a, %b : tensor<3xi32>, tensor<3x2xf32>
  }
  return %0#1, %0#0 : tensor<3x2xf32>, tensor<3xi32>
}
