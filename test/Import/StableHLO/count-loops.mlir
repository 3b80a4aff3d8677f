// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --set data.inputs.w=1
// RUN: %{import} %t/down.mlir | FileCheck %s --check-prefix=DOWN
// RUN: %{import} %t/other.mlir | FileCheck %s --check-prefix=DOWN
// RUN: %{import} %t/up.mlir | FileCheck %s --check-prefix=UP
// RUN: %{import} %t/beyond.mlir | FileCheck %s --check-prefix=BEYOND
// RUN: %{import} %t/never.mlir | FileCheck %s --check-prefix=NEVER
// RUN: not %{import} %t/skip.mlir 2>&1 | FileCheck %s --check-prefix=SKIP

// A counter may go down by twos from any number: rows 8, 6, 4 and 2, and the
// numbers that the text computes from them. So it may be compared for being unequal.
// DOWN: dist.enter row %{{.*}} of <"loop0", trips = 4> : tensor<4x4x4xf32> -> tensor<4x4xf32>
// DOWN: stablehlo.dot_general
// DOWN-NOT: stablehlo.dot_general

// A counter that is compared from the other side, and with its end.
// UP: dist.enter carry %{{.*}} of <"loop0", trips = 5>
// UP: stablehlo.dot_general
// UP-NOT: stablehlo.dot_general

// Row 5 of 5 does not exist, and is moved to row 4: no row for each trip.
// BEYOND: trips = 4>
// BEYOND: stablehlo.dynamic_slice
// BEYOND: stablehlo.dot_general
// BEYOND-NOT: stablehlo.dot_general

// A condition that never holds leaves nothing of the loop; one that steps over
// its end holds for ever.
// NEVER-NOT: stablehlo.dot_general
// SKIP: error[unsupported]: {{.*}} expected a loop that unrolls to at most 65536 ops, got more

//--- down.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<9x4x4xf32> loc("w")) -> tensor<4x4xf32> {
  %first = stablehlo.constant dense<8> : tensor<i32>
  %0:2 = stablehlo.while(%i = %first, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<1> : tensor<i32>
    %p = stablehlo.compare GT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %by = stablehlo.constant dense<-2> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<9x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %by : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- up.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<9x4x4xf32> loc("w")) -> tensor<4x4xf32> {
  %first = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %first, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<7> : tensor<i32>
    %p = stablehlo.compare GE, %end, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %by = stablehlo.constant dense<1> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<9x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %by : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- beyond.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<5x4x4xf32> loc("w")) -> tensor<4x4xf32> {
  %first = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%i = %first, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %by = stablehlo.constant dense<1> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<5x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %by : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- other.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<9x4x4xf32> loc("w")) -> tensor<4x4xf32> {
  %first = stablehlo.constant dense<8> : tensor<i32>
  %0:2 = stablehlo.while(%i = %first, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare NE, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %by = stablehlo.constant dense<-2> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<9x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %by : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- skip.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<9x4x4xf32> loc("w")) -> tensor<4x4xf32> {
  %first = stablehlo.constant dense<8> : tensor<i32>
  %0:2 = stablehlo.while(%i = %first, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<-1> : tensor<i32>
    %p = stablehlo.compare NE, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %by = stablehlo.constant dense<-2> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<9x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %by : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
//--- never.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %w: tensor<9x4x4xf32> loc("w")) -> tensor<4x4xf32> {
  %first = stablehlo.constant dense<8> : tensor<i32>
  %0:2 = stablehlo.while(%i = %first, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<1> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %by = stablehlo.constant dense<-2> : tensor<i32>
    %box = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 4, 4] : (tensor<9x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %row = stablehlo.reshape %box : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %y = stablehlo.dot_general %c, %row, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %i, %by : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}
