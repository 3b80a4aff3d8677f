// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: sed 's/CONDITION/%%both/' %t/few.mlir > %t/both.mlir
// RUN: sed 's/CONDITION/%%forms/' %t/few.mlir > %t/forms.mlir
// RUN: sed 's/CONDITION/%%least/' %t/few.mlir > %t/least.mlir
// RUN: sed 's/CONDITION/%%integers/' %t/few.mlir > %t/integers.mlir
// RUN: sed 's/CONDITION/%%either/' %t/few.mlir > %t/either.mlir
// RUN: sed 's/CONDITION/%%chosen/' %t/few.mlir > %t/chosen.mlir
// RUN: sed 's/CONDITION/%%small/' %t/few.mlir > %t/alone.mlir
// RUN: %{import} %t/both.mlir | FileCheck %s --check-prefix=BOTH
// RUN: %{import} %t/forms.mlir | FileCheck %s --check-prefix=FORMS
// RUN: %{import} %t/least.mlir | FileCheck %s --check-prefix=LEAST
// RUN: %{import} %t/integers.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/either.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/chosen.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/alone.mlir | FileCheck %s --check-prefix=OPEN
// RUN: %{import} %t/kept.mlir --set data.inputs.w=1 | FileCheck %s --check-prefix=KEPT
// RUN: %{import} %t/inner.mlir | FileCheck %s --check-prefix=INNER

// As many trips as the part that counts allows, of which each takes place where
// the one before has, and the rest of the condition holds of what it got. Then
// it computes on what it got, else on what the loop began with. The counter is
// carried for its result alone.
// BOTH: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// BOTH-DAG: %[[ON:.*]] = stablehlo.constant dense<true>
// BOTH-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
// BOTH: %[[SMALL0:.*]] = stablehlo.compare LT
// BOTH: %[[NOW0:.*]] = stablehlo.and %[[ON]], %[[SMALL0]]
// BOTH: %[[IN0:.*]] = stablehlo.select %[[NOW0]], %[[X]], %[[X]]
// BOTH: %[[F0:.*]] = stablehlo.tanh %[[IN0]]
// BOTH-DAG: %[[Y0:.*]] = stablehlo.select %[[NOW0]], %[[F0]], %[[X]]
// BOTH-DAG: %[[END0:.*]] = stablehlo.select %[[NOW0]], %{{.*}}, %[[ZERO]] : tensor<i1>, tensor<i32>
// BOTH: %[[SMALL1:.*]] = stablehlo.compare LT
// BOTH: %[[NOW1:.*]] = stablehlo.and %[[NOW0]], %[[SMALL1]]
// BOTH: %[[IN1:.*]] = stablehlo.select %[[NOW1]], %[[Y0]], %[[X]]
// BOTH: %[[F1:.*]] = stablehlo.tanh %[[IN1]]
// BOTH-DAG: %[[Y1:.*]] = stablehlo.select %[[NOW1]], %[[F1]], %[[Y0]]
// BOTH-DAG: %[[END1:.*]] = stablehlo.select %[[NOW1]], %{{.*}}, %[[END0]]
// BOTH-NOT: stablehlo.tanh
// BOTH: return %[[Y1]], %[[END1]]

// Conjunctions in each other, as other shapes and as numbers.
// FORMS-COUNT-2: stablehlo.tanh
// FORMS-NOT: stablehlo.tanh

// Of several parts that count the least is the bound, and the others hold.
// LEAST-COUNT-1: stablehlo.tanh
// LEAST-NOT: stablehlo.tanh

// Bits of numbers are no conjunction of their flags. What bounds one of two
// conditions bounds no loop: only its condition ends it.
// OPEN: dist.enter carry %{{.*}} of <"loop0", conditional = true> number(0) : tensor<i1> -> tensor<i1>

// Kept where the loop of all trips would be: the layer is a row of the stack,
// as the counter goes on. Of rows that are written each is chosen, and they
// leave as a stack.
// KEPT: %[[OLD:.*]] = dist.enter row %{{.*}} of <"loop0", trips = 5> : tensor<5x4xf32> -> tensor<4xf32>
// KEPT: dist.leave stack %{{.*}} of <"loop0", trips = 5> : tensor<4xf32> -> tensor<5x4xf32>
// KEPT-NOT: dynamic_update_slice

// The bound of an inner loop may be known in a trip of the outer one alone.
// INNER-COUNT-3: stablehlo.tanh
// INNER-NOT: stablehlo.tanh

//--- few.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %limit = stablehlo.constant dense<9.0> : tensor<f32>
    %first = stablehlo.slice %y [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %scalar = stablehlo.reshape %first : (tensor<1xf32>) -> tensor<f32>
    %counts = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %fewer = stablehlo.compare NE, %i, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %small = stablehlo.compare LT, %scalar, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %both = stablehlo.and %counts, %small : tensor<i1>
    %least = stablehlo.and %both, %fewer : tensor<i1>
    %either = stablehlo.or %counts, %small : tensor<i1>
    %chosen = stablehlo.select %small, %counts, %small : tensor<i1>, tensor<i1>
    %n = stablehlo.not %small : tensor<i1>
    %m = stablehlo.not %n : tensor<i1>
    %wide = stablehlo.reshape %both : (tensor<i1>) -> tensor<1xi1>
    %wider = stablehlo.reshape %m : (tensor<i1>) -> tensor<1xi1>
    %nested = stablehlo.and %wider, %wide : tensor<1xi1>
    %number = stablehlo.convert %nested : (tensor<1xi1>) -> tensor<1xi32>
    %narrow = stablehlo.reshape %number : (tensor<1xi32>) -> tensor<i32>
    %flag = stablehlo.compare NE, %narrow, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %false = stablehlo.constant dense<false> : tensor<i1>
    %no = stablehlo.broadcast_in_dim %false, dims = [] : (tensor<i1>) -> tensor<i1>
    %same = stablehlo.compare NE, %flag, %no, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %converted = stablehlo.convert %same : tensor<i1>
    %forms = stablehlo.and %small, %converted : tensor<i1>
    %a = stablehlo.convert %counts : (tensor<i1>) -> tensor<i32>
    %b = stablehlo.convert %scalar : (tensor<f32>) -> tensor<i32>
    %bits = stablehlo.and %a, %b : tensor<i32>
    %integers = stablehlo.compare NE, %bits, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return CONDITION : tensor<i1>
  } do {
    %z = stablehlo.tanh %y : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %z : tensor<i32>, tensor<4xf32>
  }
  return %0#1, %0#0 : tensor<4xf32>, tensor<i32>
}

//--- kept.mlir
func.func public @main(%x: tensor<4xf32> loc("x"), %w: tensor<5x4x4xf32> loc("w")) -> tensor<5x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %rows = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<5x4xf32>
  %0:3 = stablehlo.while(%i = %zero, %y = %x, %ys = %rows) : tensor<i32>, tensor<4xf32>, tensor<5x4xf32>
  cond {
    %end = stablehlo.constant dense<5> : tensor<i32>
    %limit = stablehlo.constant dense<9.0> : tensor<f32>
    %first = stablehlo.slice %y [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %scalar = stablehlo.reshape %first : (tensor<1xf32>) -> tensor<f32>
    %counts = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %small = stablehlo.compare LT, %scalar, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %p = stablehlo.and %counts, %small : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<5x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %z = stablehlo.dot_general %y, %row, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    %zs = stablehlo.reshape %z : (tensor<4xf32>) -> tensor<1x4xf32>
    %all = stablehlo.dynamic_update_slice %ys, %zs, %i, %none : (tensor<5x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %z, %all : tensor<i32>, tensor<4xf32>, tensor<5x4xf32>
  }
  return %0#2 : tensor<5x4xf32>
}

//--- inner.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %zero, %z = %y) : tensor<i32>, tensor<4xf32>
    cond {
      %limit = stablehlo.constant dense<9.0> : tensor<f32>
      %first = stablehlo.slice %z [0:1] : (tensor<4xf32>) -> tensor<1xf32>
      %scalar = stablehlo.reshape %first : (tensor<1xf32>) -> tensor<f32>
      %small = stablehlo.compare LT, %scalar, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %counts = stablehlo.compare LT, %j, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %p = stablehlo.and %small, %counts : tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %2 = stablehlo.tanh %z : tensor<4xf32>
      %3 = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<4xf32>
    }
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %1#1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
