// RUN: llmc-opt %s --llmc-widen | FileCheck %s
// RUN: sed 's/precision = f64/precision = f32/' %s | llmc-opt --llmc-widen | FileCheck %s --check-prefix=KEEP

// A recipe in f64 widens all; a file whose type is given keeps that one, and
// numbers of f64 are what they were.
// CHECK: dist.hyper @lr : tensor<f64> = <constant, base = 1.000000e-01>
// CHECK: dist.state @w : tensor<2xf64> {role = parameter, source = #dist.file<"w.safetensors", 8, 4, bf16>}
// CHECK: func.func @loss(%{{.*}}: tensor<2xf64>
// CHECK: stablehlo.constant dense<1.000000e-01> : tensor<f64>
// CHECK: stablehlo.constant dense<0.10000000149011612> : tensor<f64>
// A recipe in f32 widens nothing.
// KEEP: dist.state @w : tensor<2xf32> {role = parameter, source = #dist.file<"w.safetensors", 8, 4, bf16>}
// KEEP: stablehlo.constant dense<1.000000e-01> : tensor<f64>
// KEEP: stablehlo.constant dense<1.000000e-01> : tensor<f32>
dist.hyper @lr : tensor<f64> = <constant, base = 0.1>
dist.state @w : tensor<2xf32> {role = parameter, source = #dist.file<"w.safetensors", 8, 4, bf16>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %d = stablehlo.constant dense<0.1> : tensor<f64>
  %n = stablehlo.convert %d : (tensor<f64>) -> tensor<f32>
  %c = stablehlo.constant dense<0.1> : tensor<f32>
  %s = stablehlo.reduce(%w init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.multiply %s, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>) {precision = f64}
