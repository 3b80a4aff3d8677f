// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/trips.mlir | FileCheck %s --check-prefix=TRIPS
// RUN: %{import} %t/none.mlir | FileCheck %s --check-prefix=NONE
// RUN: %{import} %t/triangle.mlir | FileCheck %s --check-prefix=TRIANGLE
// RUN: %{import} %t/swap.mlir | FileCheck %s --check-prefix=SWAP
// RUN: %{import} %t/inner.mlir | FileCheck %s --check-prefix=INNER
// RUN: %{import} %t/stack.mlir | FileCheck %s --check-prefix=STACK
// RUN: %{import} %t/budget.mlir --set training.unroll=true | FileCheck %s --check-prefix=MOST
// RUN: not %{import} %t/endless.mlir 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: sed s/13107/13108/ %t/budget.mlir > %t/over.mlir
// RUN: not %{import} %t/over.mlir --set training.unroll=true 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: not %{import} %t/nest.mlir --set training.unroll=true 2>&1 | FileCheck %s --check-prefix=NEST

// A loop of three trips, whose body is a function; locations stay. What counts
// trips leaves nothing.
// TRIPS: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// TRIPS-NEXT: %[[A:.*]] = stablehlo.tanh %[[X]] : tensor<4xf32> loc(#[[TANH:.*]])
// TRIPS-NEXT: %[[B:.*]] = stablehlo.tanh %[[A]] : tensor<4xf32> loc(#[[TANH]])
// TRIPS-NEXT: %[[C:.*]] = stablehlo.tanh %[[B]] : tensor<4xf32> loc(#[[TANH]])
// TRIPS-NEXT: %[[LAST:.*]] = stablehlo.constant dense<3> : tensor<i32>
// TRIPS-NEXT: return %[[C]], %[[LAST]]
// TRIPS: #[[TANH]] = loc("layer/tanh"

// A loop without a trip returns what goes in.
// NONE: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// NONE-NEXT: return %[[X]]

// The inner loop has as many trips as the outer counter says: 0 + 1 + 2.
// TRIANGLE-COUNT-3: stablehlo.tanh
// TRIANGLE-NOT: stablehlo.tanh
// TRIANGLE-NOT: stablehlo.while

// Values change places in each trip: after three they have changed.
// SWAP: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// SWAP-NEXT: %[[Y:.*]] = stablehlo.negate %[[X]]
// SWAP-NEXT: return %[[Y]], %[[X]]

// What a branch returns may count trips, and calls may stand in regions.
// INNER: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// INNER-NEXT: %[[A:.*]] = stablehlo.negate %[[X]]
// INNER-NEXT: %[[B:.*]] = stablehlo.tanh %[[A]]
// INNER-NEXT: %[[C:.*]] = stablehlo.negate %[[B]]
// INNER-NEXT: return %[[C]]

// A stack that is written row by row, from the last one on, is one
// concatenation; a loop that reads the rows reads what was written.
// STACK: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// STACK-NEXT: %[[C:.*]] = stablehlo.tanh %[[X]]
// STACK-NEXT: %[[R2:.*]] = stablehlo.reshape %[[C]] : (tensor<4xf32>) -> tensor<1x4xf32>
// STACK-NEXT: %[[B:.*]] = stablehlo.tanh %[[C]]
// STACK-NEXT: %[[R1:.*]] = stablehlo.reshape %[[B]]
// STACK-NEXT: %[[A:.*]] = stablehlo.tanh %[[B]]
// STACK-NEXT: %[[R0:.*]] = stablehlo.reshape %[[A]]
// STACK-NEXT: %[[YS:.*]] = stablehlo.concatenate %[[R0]], %[[R1]], %[[R2]], dim = 0
// STACK-NEXT: %[[S1:.*]] = stablehlo.add %[[X]], %[[A]]
// STACK-NEXT: %[[S2:.*]] = stablehlo.add %[[S1]], %[[B]]
// STACK-NEXT: %[[S3:.*]] = stablehlo.add %[[S2]], %[[C]]
// STACK-NEXT: return %[[S3]], %[[YS]]

// 13107 trips of five ops, the condition and the trip included, are within the
// bound.
// MOST-COUNT-26214: stablehlo.tanh
// MOST-NOT: stablehlo.tanh

// ENDLESS: {{^}}llmc: error[unsupported]: {{.*}}endless.mlir:3:8: 'stablehlo.while' op expected a loop that unrolls to at most 65536 ops, got more in trip 65537: shorten it, or compute its trips side by side as one batch{{$}}
// OVER: {{^}}llmc: error[unsupported]: {{.*}}over.mlir:{{.*}}: 'stablehlo.while' op expected a loop that unrolls to at most 65536 ops, got more in trip 13108: {{.*}}
// Trips of loops inside count; the loop outside is refused.
// NEST: {{^}}llmc: error[unsupported]: {{.*}}nest.mlir:4:10: 'stablehlo.while' op expected a loop that unrolls to at most 65536 ops, got more in trip 82: {{.*}}

//--- trips.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = func.call @layer(%y) : (tensor<4xf32>) -> tensor<4xf32> loc("layer")
    %one = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1, %0#0 : tensor<4xf32>, tensor<i32>
}
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32> loc("tanh")
  return %0 : tensor<4xf32>
}

//--- none.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.while(%y = %x) : tensor<4xf32>
  cond {
    stablehlo.return %false : tensor<i1>
  } do {
    %1 = stablehlo.tanh %y : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

//--- triangle.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %zero, %z = %y) : tensor<i32>, tensor<4xf32>
    cond {
      %3 = stablehlo.compare LT, %j, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.tanh %z : tensor<4xf32>
      %4 = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<4xf32>
    }
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1#1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

//--- swap.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %n = stablehlo.negate %x : tensor<4xf32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %n) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %b, %a : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
}

//--- inner.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%k = %zero, %i = %zero, %y = %x) : tensor<i32>, tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LE, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:3 = "stablehlo.case"(%k) ({
      %2 = stablehlo.negate %y : tensor<4xf32>
      stablehlo.return %i, %one, %2 : tensor<i32>, tensor<i32>, tensor<4xf32>
    }, {
      %2 = func.call @other(%y) : (tensor<4xf32>) -> tensor<4xf32>
      %3 = stablehlo.add %i, %two : tensor<i32>
      stablehlo.return %3, %zero, %2 : tensor<i32>, tensor<i32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<4xf32>)
    %4 = stablehlo.convert %1#0 : (tensor<i32>) -> tensor<i64>
    %5 = stablehlo.convert %4 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.add %5, %1#1 : tensor<i32>
    stablehlo.return %1#1, %6, %1#2 : tensor<i32>, tensor<i32>, tensor<4xf32>
  }
  return %0#2 : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- stack.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %0:3 = stablehlo.while(%i = %zero, %y = %x, %ys = %empty) : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %three, %i : tensor<i32>
    %2 = stablehlo.subtract %1, %one : tensor<i32>
    %3 = stablehlo.tanh %y : tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %5 = stablehlo.dynamic_update_slice %ys, %4, %2, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %3, %5 : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>
  }
  %10:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %11 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %11 : tensor<i1>
  } do {
    %11 = stablehlo.dynamic_slice %0#2, %i, %zero, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x4xf32>) -> tensor<4xf32>
    %13 = stablehlo.add %s, %12 : tensor<4xf32>
    %14 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %14, %13 : tensor<i32>, tensor<4xf32>
  }
  return %10#1, %0#2 : tensor<4xf32>, tensor<3x4xf32>
}

//--- budget.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %most = stablehlo.constant dense<13107> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.tanh %y : tensor<4xf32>
    %2 = stablehlo.tanh %1 : tensor<4xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

//--- endless.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%y = %x) : tensor<4xf32>
  cond {
    stablehlo.return %true : tensor<i1>
  } do {
    stablehlo.return %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

//--- nest.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %many = stablehlo.constant dense<200> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %many, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1:2 = stablehlo.while(%j = %zero, %z = %y) : tensor<i32>, tensor<4xf32>
    cond {
      %3 = stablehlo.compare LT, %j, %many, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.tanh %z : tensor<4xf32>
      %4 = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<4xf32>
    }
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1#1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
