// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/places.mlir | FileCheck %s --check-prefix=PLACES
// RUN: %{import} %t/tables.mlir | FileCheck %s --check-prefix=TABLES

// JAX takes the place on an axis from the device's number, by division and
// remainder; it varies along this axis alone. Multiples of places are sums of
// places, which split as the axis does.
// PLACES: func.func public @loss
// PLACES: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<2xui32>
// PLACES: stablehlo.convert %[[I]] : (tensor<2xui32>) -> tensor<2xf32>
// PLACES: %[[A:.*]] = stablehlo.iota dim = 0 : tensor<2x4xui32>
// PLACES: %[[FOUR:.*]] = stablehlo.constant dense<4> : tensor<2x4xui32>
// PLACES: %[[B:.*]] = stablehlo.multiply %[[A]], %[[FOUR]]
// PLACES: %[[C:.*]] = stablehlo.iota dim = 1 : tensor<2x4xui32>
// PLACES: %[[D:.*]] = stablehlo.add %[[B]], %[[C]]
// PLACES: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<2x4xui32>
// PLACES: %[[E:.*]] = stablehlo.add %[[D]], %[[ONE]]
// PLACES: stablehlo.convert %[[E]] : (tensor<2x4xui32>) -> tensor<2x4xf32>

//--- places.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<8xf32> loc("x")) -> (tensor<2xf32>, tensor<8xf32>) {
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data", "tensor"}]>] out_shardings=[<@mesh, [{"data"}]>, <@mesh, [{"data", "tensor"}]>] manual_axes={"data", "tensor"} (%a: tensor<1xf32>) {
    %1 = stablehlo.partition_id : tensor<ui32>
    %four = stablehlo.constant dense<4> : tensor<ui32>
    %two = stablehlo.constant dense<2> : tensor<ui32>
    %one = stablehlo.constant dense<1> : tensor<ui32>
    %2 = stablehlo.divide %1, %four : tensor<ui32>
    %3 = stablehlo.remainder %2, %two : tensor<ui32>
    %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<f32>
    %5 = stablehlo.reshape %4 : (tensor<f32>) -> tensor<1xf32>
    %6 = stablehlo.add %1, %one : tensor<ui32>
    %7 = stablehlo.convert %6 : (tensor<ui32>) -> tensor<f32>
    %8 = stablehlo.reshape %7 : (tensor<f32>) -> tensor<1xf32>
    sdy.return %5, %8 : tensor<1xf32>, tensor<1xf32>
  } : (tensor<8xf32>) -> (tensor<2xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<8xf32>
}

// What is no sum of multiples is a table of the axes on which it depends; what
// is the same on all devices is a constant, and its box a slice.
// TABLES: func.func public @loss
// TABLES: stablehlo.slice %{{.*}} [0:2, 0:4, 3:4]
// TABLES: stablehlo.constant dense<[1, 2, 3, 0]> : tensor<4xi32>
// TABLES: stablehlo.constant dense<[true, false, false, false]> : tensor<4xi1>
// TABLES-NOT: dynamic_slice

//--- tables.mlir
sdy.mesh @mesh = <["data"=2, "tensor"=4]>
func.func public @main(%x: tensor<64xf32> loc("x")) -> (tensor<4xi32>, tensor<4xi1>, tensor<8xf32>) {
  %0:3 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data", "tensor"}]>] out_shardings=[<@mesh, [{"tensor"}]>, <@mesh, [{"tensor"}]>, <@mesh, [{"data", "tensor"}]>] manual_axes={"data", "tensor"} (%a: tensor<8xf32>) {
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %3 = stablehlo.add %2, %one : tensor<i32>
    %4 = stablehlo.remainder %3, %four : tensor<i32>
    %5 = stablehlo.reshape %4 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.compare EQ, %4, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.reshape %6 : (tensor<i1>) -> tensor<1xi1>
    %8 = stablehlo.subtract %4, %4 : tensor<i32>
    %9 = stablehlo.add %8, %three : tensor<i32>
    %10 = stablehlo.dynamic_slice %a, %9, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    sdy.return %5, %7, %10 : tensor<1xi32>, tensor<1xi1>, tensor<1xf32>
  } : (tensor<64xf32>) -> (tensor<4xi32>, tensor<4xi1>, tensor<8xf32>)
  return %0#0, %0#1, %0#2 : tensor<4xi32>, tensor<4xi1>, tensor<8xf32>
}
