// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/scan.mlir --set data.inputs.w=1 | FileCheck %s --check-prefix=SCAN
// RUN: %{import} %t/scan.mlir --set data.inputs.w=1 --set training.unroll=true | FileCheck %s --check-prefix=UNROLLED
// RUN: %{import} %t/few.mlir | FileCheck %s --check-prefix=FEW
// RUN: %{import} %t/elements.mlir | FileCheck %s --check-prefix=ELEMENTS
// RUN: %{import} %t/shifted.mlir --set data.inputs.w=1 | FileCheck %s --check-prefix=SHIFTED
// RUN: sed 's/GT, %%i/GE, %%i/' %t/down.mlir > %t/odd.mlir
// RUN: %{import} %t/down.mlir --set data.inputs.w=1 | FileCheck %s --check-prefix=DOWN
// RUN: %{import} %t/odd.mlir --set data.inputs.w=1 | FileCheck %s --check-prefix=ODD
// RUN: sed 's/PREDICATE/%%even/' %t/branch.mlir > %t/known.mlir
// RUN: sed -i 's/PREDICATE/%%runs/' %t/branch.mlir
// RUN: %{import} %t/branch.mlir --set data.inputs.w=1 | FileCheck %s --check-prefix=BRANCH
// RUN: %{import} %t/known.mlir --set data.inputs.w=1 | FileCheck %s --check-prefix=KNOWN
// RUN: %{import} %t/deep.mlir | FileCheck %s --check-prefix=DEEP
// RUN: sed 's/LT, %%k, %%end/LT, %%k, %%i/' %t/inner.mlir > %t/triangle.mlir
// RUN: %{import} %t/triangle.mlir | FileCheck %s --check-prefix=TRIANGLE

// A counted loop whose trips call a library stays one. What is returned as it
// came, and read by rows alone, enters by rows; what is written row by row
// leaves as a stack; what is read from around the loop enters as it is; the
// number of the trip is a row of the numbers.
// SCAN: func.func public @{{.*}}(%[[X:.*]]: tensor<2x4xf32>{{.*}}, %[[W:.*]]: tensor<5x4x4xf32>
// SCAN-DAG: %[[NUMBERS:.*]] = stablehlo.iota dim = 0 : tensor<5xi32>
// SCAN-DAG: %[[AROUND:.*]] = stablehlo.tanh %[[X]]
// SCAN-DAG: %[[SAME:.*]] = dist.enter same %[[AROUND]] of <"loop0", trips = 5>
// SCAN-DAG: %[[I:.*]] = dist.enter row %[[NUMBERS]] of <"loop0", trips = 5> : tensor<5xi32> -> tensor<i32>
// SCAN-DAG: %[[ROW:.*]] = dist.enter row %[[W]] of <"loop0", trips = 5> : tensor<5x4x4xf32> -> tensor<4x4xf32>
// SCAN-DAG: %[[C:.*]] = dist.enter carry %[[X]] of <"loop0", trips = 5> number(2)
// SCAN: %[[Y:.*]] = stablehlo.dot_general %[[C]], %[[ROW]]
// SCAN: %[[Z:.*]] = stablehlo.add %[[Y]], %[[SAME]]
// SCAN: stablehlo.convert %[[I]]
// SCAN: %[[F:.*]] = dist.next %[[C]], %[[Z]]
// SCAN: %[[LAST:.*]] = dist.leave last %[[F]] of <"loop0", trips = 5>
// SCAN: %[[STACK:.*]] = dist.leave stack %{{.*}} of <"loop0", trips = 5> : tensor<2x4xf32> -> tensor<5x2x4xf32>
// SCAN: return %[[LAST]], %[[STACK]]
// SCAN-NOT: stablehlo.while

// UNROLLED-COUNT-5: stablehlo.dot_general
// UNROLLED-NOT: dist.enter

// Three trips are unrolled, and so is what is element-wise alone: it becomes
// one kernel.
// FEW-COUNT-3: stablehlo.dot_general
// FEW-NOT: dist.enter
// ELEMENTS-COUNT-6: stablehlo.tanh
// ELEMENTS-NOT: dist.enter

// Rows from the last to the first are those of the reversed stack, and what is
// written in their place is reversed again.
// SHIFTED: %[[BACK:.*]] = stablehlo.reverse %{{.*}}, dims = [0] : tensor<5x2x4xf32>
// SHIFTED: dist.enter row %[[BACK]] of <"loop0", trips = 5> : tensor<5x2x4xf32> -> tensor<2x4xf32>
// SHIFTED-COUNT-2: stablehlo.dot_general
// SHIFTED-NOT: stablehlo.dot_general
// SHIFTED: %[[ALL:.*]] = dist.leave stack %{{.*}} of <"loop0", trips = 5> : tensor<2x4xf32> -> tensor<5x2x4xf32>
// SHIFTED: %[[WRITTEN:.*]] = stablehlo.reverse %[[ALL]], dims = [0]
// SHIFTED: return %[[WRITTEN]]

// Down from 8 by twos: the rows 8, 6, 4 and 2 of nine, which are read from the
// last one on; what is written lies between rows that stay.
// DOWN-DAG: %[[EVEN:.*]] = stablehlo.slice %{{.*}} [2:9:2, 0:4, 0:4]
// DOWN-DAG: %[[TURNED:.*]] = stablehlo.reverse %[[EVEN]], dims = [0]
// DOWN-DAG: dist.enter row %[[TURNED]] of <"loop0", trips = 4>
// DOWN-DAG: %[[FACTOR:.*]] = stablehlo.constant dense<-2> : tensor<4xi32>
// DOWN-DAG: %[[SCALED:.*]] = stablehlo.multiply %{{.*}}, %[[FACTOR]] : tensor<4xi32>
// DOWN-DAG: %[[FROM:.*]] = stablehlo.constant dense<8> : tensor<4xi32>
// DOWN-DAG: %[[COUNTER:.*]] = stablehlo.add %[[SCALED]], %[[FROM]] : tensor<4xi32>
// DOWN-DAG: dist.enter row %[[COUNTER]]
// DOWN: %[[LAST:.*]] = stablehlo.constant dense<0> : tensor<i32>
// DOWN: dist.leave stack
// DOWN: stablehlo.pad {{.*}} low = [2, 0, 0], high = [0, 0, 0], interior = [1, 0, 0]
// DOWN: %[[ROWS:.*]] = stablehlo.select
// DOWN: return %{{.*}}, %[[ROWS]], %[[LAST]]
// ODD: dist.leave stack {{.*}} of <"loop0", trips = 5>

// All branches of a runtime choice, in each trip; a choice that follows from the
// number of the trip is taken in each copy.
// BRANCH: dist.enter carry
// BRANCH-COUNT-2: stablehlo.dot_general
// BRANCH-NOT: stablehlo.dot_general
// BRANCH: stablehlo.select
// BRANCH: dist.leave last
// KNOWN-COUNT-6: stablehlo.dot_general
// KNOWN-NOT: stablehlo.dot_general
// KNOWN-NOT: dist.enter

// The counter of the outer loop gives the inner one its trips: the outer one is
// unrolled, and the inner one where it has enough of them.
// TRIANGLE-COUNT-7: stablehlo.dot_general
// TRIANGLE: dist.leave last {{.*}} trips = 4>
// TRIANGLE: stablehlo.dot_general
// TRIANGLE: dist.leave last {{.*}} trips = 5>
// TRIANGLE-NOT: stablehlo.dot_general

// A loop and one inside it are kept, the inner one in the trips of the outer one.
// DEEP: %[[C:.*]] = dist.enter carry %{{.*}} of <"loop0", trips = 4> number(1)
// DEEP: %[[D:.*]] = dist.enter carry %[[C]] of <"loop1", trips = 50, in = <"loop0", trips = 4>> number(1)
// DEEP: %[[Y:.*]] = stablehlo.dot_general %[[D]], %[[D]]
// DEEP-NOT: stablehlo.dot_general
// DEEP: %[[N:.*]] = dist.next %[[D]], %[[Y]]
// DEEP: %[[L:.*]] = dist.leave last %[[N]] of <"loop1", trips = 50, in = <"loop0", trips = 4>>
// DEEP: %[[F:.*]] = dist.next %[[C]], %[[L]]
// DEEP: dist.leave last %[[F]] of <"loop0", trips = 4>

//--- scan.mlir
func.func public @main(%x: tensor<2x4xf32> loc("x"), %w: tensor<5x4x4xf32> loc("w")) -> (tensor<2x4xf32>, tensor<5x2x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<5x2x4xf32>
  %around = stablehlo.tanh %x : tensor<2x4xf32>
  %0:4 = stablehlo.while(%W = %w, %i = %zero, %c = %x, %ys = %empty) : tensor<5x4x4xf32>, tensor<i32>, tensor<2x4xf32>, tensor<5x2x4xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %box = stablehlo.dynamic_slice %W, %i, %none, %none, sizes = [1, 4, 4] : (tensor<5x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %z = stablehlo.add %y, %around : tensor<2x4xf32>
    %n = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %ns = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %s = stablehlo.multiply %z, %ns : tensor<2x4xf32>
    %u = stablehlo.reshape %s : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %next = stablehlo.dynamic_update_slice %ys, %u, %i, %none, %none : (tensor<5x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %W, %j, %z, %next : tensor<5x4x4xf32>, tensor<i32>, tensor<2x4xf32>, tensor<5x2x4xf32>
  }
  return %0#2, %0#3 : tensor<2x4xf32>, tensor<5x2x4xf32>
}
//--- few.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.dot_general %c, %c, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- elements.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.tanh %c : tensor<4x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- shifted.mlir
func.func public @main(%x: tensor<2x4xf32> loc("x"), %w: tensor<5x2x4xf32> loc("w")) -> tensor<5x2x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %ys = %w) : tensor<i32>, tensor<5x2x4xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %back = stablehlo.subtract %four, %i : tensor<i32>
    %box = stablehlo.dynamic_slice %ys, %back, %none, %none, sizes = [1, 2, 4] : (tensor<5x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %y = stablehlo.dot_general %row, %x, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    %z = stablehlo.dot_general %y, %row, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %u = stablehlo.reshape %z : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %next = stablehlo.dynamic_update_slice %ys, %u, %back, %none, %none : (tensor<5x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<5x2x4xf32>
  }
  return %0#1 : tensor<5x2x4xf32>
}
//--- deep.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<4> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%k = %start, %d = %c) : tensor<i32>, tensor<4x4xf32>
    cond {
      %end = stablehlo.constant dense<50> : tensor<i32>
      %p = stablehlo.compare LT, %k, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %y = stablehlo.dot_general %d, %d, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %l = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %l, %y : tensor<i32>, tensor<4x4xf32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %1#1 : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- inner.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%k = %start, %d = %c) : tensor<i32>, tensor<4x4xf32>
    cond {
      %end = stablehlo.constant dense<4> : tensor<i32>
      %p = stablehlo.compare LT, %k, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %y = stablehlo.dot_general %d, %d, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %l = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %l, %y : tensor<i32>, tensor<4x4xf32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %1#1 : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- down.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<9x4x4xf32> loc("w")) -> (tensor<4x4xf32>, tensor<9x4x4xf32>, tensor<i32>) {
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %0:3 = stablehlo.while(%i = %eight, %c = %x, %ys = %w) : tensor<i32>, tensor<4x4xf32>, tensor<9x4x4xf32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<9x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %n = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %ns = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %s = stablehlo.multiply %y, %ns : tensor<4x4xf32>
    %u = stablehlo.reshape %s : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
    %next = stablehlo.dynamic_update_slice %ys, %u, %i, %none, %none : (tensor<9x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<9x4x4xf32>
    %j = stablehlo.subtract %i, %two : tensor<i32>
    stablehlo.return %j, %y, %next : tensor<i32>, tensor<4x4xf32>, tensor<9x4x4xf32>
  }
  return %0#1, %0#2, %0#0 : tensor<4x4xf32>, tensor<9x4x4xf32>, tensor<i32>
}
//--- branch.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<4x4xf32> loc("w")) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %half = stablehlo.constant dense<3> : tensor<i32>
    %even = stablehlo.compare LT, %i, %half, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %first = stablehlo.slice %c [0:1, 0:1] : (tensor<4x4xf32>) -> tensor<1x1xf32>
    %scalar = stablehlo.reshape %first : (tensor<1x1xf32>) -> tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %runs = stablehlo.compare GT, %scalar, %none, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %y = "stablehlo.if"(PREDICATE) ({
      %a = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %a : tensor<4x4xf32>
    }, {
      %b = stablehlo.dot_general %w, %c, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %b : tensor<4x4xf32>
    }) : (tensor<i1>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
