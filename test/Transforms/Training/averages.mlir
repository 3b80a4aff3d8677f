// RUN: split-file %s %t
// RUN: llmc-opt %t/average.mlir --llmc-build-update | FileCheck %t/average.mlir
// RUN: llmc-opt %t/sizes.mlir --llmc-build-update | FileCheck %t/sizes.mlir
// RUN: not llmc-opt %t/name.mlir --llmc-build-update 2>&1 | FileCheck %t/name.mlir
// RUN: not llmc-opt %t/mark.mlir 2>&1 | FileCheck %t/mark.mlir

//--- average.mlir
// Gradients are cut element by element; the average of a parameter of bf16 is of
// f32, and begins from the parameter before the first step.
// CHECK: dist.state @p.average : tensor<3xf32> {role = optimizer, of = @p
// CHECK: dist.state @train.averaged : tensor<i32> {role = carried
// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: %[[P:[^:]*]]: tensor<3xbf16> {{[^,]*}}, %[[A:[^:]*]]: tensor<3xf32> {{[^,]*}}, %[[G:[^:]*]]: tensor<3xbf16>
// CHECK-SAME: %[[BEGUN:[^:]*]]: tensor<i32> {dist.port = #dist.port<carried @train.averaged>}
// CHECK: %[[LOW:.*]] = stablehlo.minimum
// CHECK: %[[CUT:.*]] = stablehlo.maximum %[[LOW]],
// CHECK: %[[NEW:.*]] = stablehlo.subtract %[[P]], %[[CUT]]
// CHECK: %[[FIRST:.*]] = stablehlo.compare EQ, %[[BEGUN]],
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[P]]
// CHECK: %[[OLD:.*]] = stablehlo.select %[[FIRST]], %[[WIDE]], %[[A]]
// CHECK: %[[KEPT:.*]] = stablehlo.multiply %{{.*}}, %[[OLD]]
// CHECK: %[[TO:.*]] = stablehlo.convert %[[NEW]]
// CHECK: %[[ADDED:.*]] = stablehlo.multiply %{{.*}}, %[[TO]]
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[KEPT]], %[[ADDED]]
// CHECK: return %[[NEW]], %[[NEXT]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} :
dist.state @p : tensor<3xbf16> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%p: tensor<3xbf16> {dist.port = #dist.port<parameter @p>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%p: tensor<3xbf16> {dist.port = #dist.port<parameter @p>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3xbf16> {dist.port = #dist.port<gradient @p>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %p : tensor<f32>, tensor<f32>, tensor<3xbf16>
}
func.func private @optimizer(%p: tensor<1xbf16> {dist.port = #dist.port<parameter>}, %g: tensor<1xbf16> {dist.port = #dist.port<gradient>}) -> (tensor<1xbf16> {dist.port = #dist.port<parameter>}) {
  %1 = stablehlo.subtract %p, %g : tensor<1xbf16>
  return %1 : tensor<1xbf16>
}
dist.training @train forward(@loss) optimizer(@optimizer) microbatches(1) schedule(<1f1b>) {dist.clip_value = 0.5 : f64, dist.average = 0.75 : f64}

//--- sizes.mlir
// Sizes of the function stand for the parameter's; on an element, a sum and a size
// are of all.
// CHECK: dist.state @w.r : tensor<4xf32>
// CHECK-LABEL: func.func private @train.update
// CHECK-DAG: stablehlo.constant {{.*}}dense<7> : tensor<i32>
// CHECK-DAG: stablehlo.dot_general {{.*}} : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x4xf32>
// CHECK-DAG: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] {{.*}} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-DAG: stablehlo.constant {{.*}}dense<30> : tensor<i32>
// CHECK-DAG: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0, 1, 2] {{.*}} : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<f32>
dist.state @w : tensor<4x7xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @v : tensor<2x3x5xf32> {role = parameter, source = #dist.draw<ones>, optimizer = @elements}
func.func @loss(%w: tensor<4x7xf32> {dist.port = #dist.port<parameter @w>}, %v: tensor<2x3x5xf32> {dist.port = #dist.port<parameter @v>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%w: tensor<4x7xf32> {dist.port = #dist.port<parameter @w>}, %v: tensor<2x3x5xf32> {dist.port = #dist.port<parameter @v>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x7xf32> {dist.port = #dist.port<gradient @w>}, tensor<2x3x5xf32> {dist.port = #dist.port<gradient @v>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %w, %v : tensor<f32>, tensor<f32>, tensor<4x7xf32>, tensor<2x3x5xf32>
}
func.func private @matrix(%p: tensor<2x3xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2x3xf32> {dist.port = #dist.port<gradient>}, %r: tensor<2xf32> {dist.port = #dist.port<moment "r">})
    -> (tensor<2x3xf32> {dist.port = #dist.port<parameter>}, tensor<2xf32> {dist.port = #dist.port<moment "r">}) attributes {dist.sizes = "any"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.get_dimension_size %p, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %a = stablehlo.dot_general %g, %g, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %m = stablehlo.divide %s, %b : tensor<2xf32>
  %q = stablehlo.add %m, %r : tensor<2xf32>
  %c = stablehlo.broadcast_in_dim %q, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.subtract %p, %c : tensor<2x3xf32>
  return %1, %q : tensor<2x3xf32>, tensor<2xf32>
}
func.func private @elements(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.get_dimension_size %p, dim = 0 : (tensor<1xf32>) -> tensor<i32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %s = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %m = stablehlo.divide %s, %f : tensor<f32>
  %b = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.subtract %p, %b : tensor<1xf32>
  return %1 : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@matrix) microbatches(1) schedule(<1f1b>)

//--- name.mlir
// CHECK: error: expected no moment "average" of an optimizer beside averages, got one
dist.state @p : tensor<3xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%p: tensor<3xf32> {dist.port = #dist.port<parameter @p>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%p: tensor<3xf32> {dist.port = #dist.port<parameter @p>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3xf32> {dist.port = #dist.port<gradient @p>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %p : tensor<f32>, tensor<f32>, tensor<3xf32>
}
func.func private @optimizer(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %a: tensor<1xf32> {dist.port = #dist.port<moment "average">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "average">}) {
  return %p, %a : tensor<1xf32>, tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer) microbatches(1) schedule(<1f1b>) {dist.average = 0.75 : f64}

//--- mark.mlir
// CHECK: error: 'func.func' op expected "any", "wide" or "tall" for 'dist.sizes', got "long"
func.func private @f() attributes {dist.sizes = "long"}
