// RUN: llmc-opt %s --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-raise=norm=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.
// REMARK-COUNT-5: rows of mean 0 and variance 1
// REMARK-COUNT-4: rows of mean square 1
// REMARK-NOT: norm

// The centred rows are printed twice, and divided by the root.
// CHECK-LABEL: func.func @two_passes
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.layer_norm %arg0 {dims = 1 : i64, epsilon = 9.9999997{{.*}}E-6 : f64} : (tensor<4x6x8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @two_passes(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %az = stablehlo.constant dense<0.0> : tensor<f32>
  %as = stablehlo.reduce(%x init: %az) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %ak = stablehlo.broadcast_in_dim %as, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %an = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %m = stablehlo.divide %ak, %an : tensor<4x6x1xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x6x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %mb2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %c2 = stablehlo.subtract %x, %mb2 : tensor<4x6x8xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.sqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.divide %c2, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @a function(@two_passes)

// `jnp.var`, which is NaN where it divides by 0; the scale is multiplied first.
// CHECK-LABEL: func.func @variance
// CHECK: %[[Y:.*]], %{{.*}} = nn.layer_norm %arg0
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %{{.*}}, %[[Y]]
// CHECK-NEXT: return %[[P]]
func.func @variance(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %az = stablehlo.constant dense<0.0> : tensor<f32>
  %as = stablehlo.reduce(%x init: %az) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %ak = stablehlo.broadcast_in_dim %as, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %an = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %m = stablehlo.divide %ak, %an : tensor<4x6x1xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x6x8xf32>
  %q = chlo.square %c : tensor<4x6x8xf32> -> tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zf = stablehlo.convert %zero : (tensor<i32>) -> tensor<f32>
  %eight = stablehlo.constant dense<8.0> : tensor<f32>
  %count = stablehlo.subtract %eight, %zf : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<4x6x1xf32>
  %some = stablehlo.compare GT, %count, %bz, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %w = stablehlo.select %some, %v, %nan : tensor<i1>, tensor<4x6x1xf32>
  %mb2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %c2 = stablehlo.subtract %x, %mb2 : tensor<4x6x8xf32>
  %sc = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<4x6x8xf32>
  %p = stablehlo.multiply %sc, %c2 : tensor<4x6x8xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %w, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %p, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @b function(@variance)

// As flax: the mean square minus the square of the mean, and the scale joins the root.
// CHECK-LABEL: func.func @difference_of_means
// CHECK: %[[Y:.*]], %{{.*}} = nn.layer_norm %arg0
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[Y]], %{{.*}}
// CHECK-NEXT: return %[[P]]
func.func @difference_of_means(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %az = stablehlo.constant dense<0.0> : tensor<f32>
  %as = stablehlo.reduce(%x init: %az) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %an = stablehlo.constant dense<8.0> : tensor<4x6xf32>
  %m = stablehlo.divide %as, %an : tensor<4x6xf32>
  %q = chlo.square %x : tensor<4x6x8xf32> -> tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6xf32>
  %m2 = stablehlo.divide %bs, %bn : tensor<4x6xf32>
  %mm = stablehlo.multiply %m, %m : tensor<4x6xf32>
  %d = stablehlo.subtract %m2, %mm : tensor<4x6xf32>
  %low = stablehlo.constant dense<0.0> : tensor<4x6xf32>
  %v = stablehlo.maximum %low, %d : tensor<4x6xf32>
  %mk = stablehlo.reshape %m : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %vk = stablehlo.reshape %v : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %mb = stablehlo.broadcast_in_dim %mk, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x6x8xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %vk, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %sc = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<4x6x8xf32>
  %rs = stablehlo.multiply %rb, %sc : tensor<4x6x8xf32>
  %r = stablehlo.multiply %c, %rs : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @c function(@difference_of_means)

// A mean by a factor, a power as square and as root, no epsilon.
// CHECK-LABEL: func.func @factor_of_size
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.layer_norm %arg0 {dims = 1 : i64, epsilon = 0.000000e+00 : f64}
// CHECK-NEXT: return %[[Y]]
func.func @factor_of_size(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %inv = stablehlo.constant dense<0.125> : tensor<4x6xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %m = stablehlo.multiply %inv, %s : tensor<4x6xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x6x8xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4x6x8xf32>
  %q = stablehlo.power %c, %two : tensor<4x6x8xf32>
  %s2 = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %v = stablehlo.multiply %s2, %inv : tensor<4x6xf32>
  %half = stablehlo.constant dense<-0.5> : tensor<4x6xf32>
  %root = stablehlo.power %v, %half : tensor<4x6xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %rb, %c : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @d function(@factor_of_size)

// The last two dimensions.
// CHECK-LABEL: func.func @two_dims
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.layer_norm %arg0 {dims = 2 : i64, epsilon = 0.000000e+00 : f64} : (tensor<4x6x8xf32>) -> (tensor<4x6x8xf32>, tensor<4xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @two_dims(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<48.0> : tensor<4xf32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4xf32>
  %m = stablehlo.divide %s, %n : tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x6x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x6x8xf32>
  %s2 = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4xf32>
  %v = stablehlo.divide %s2, %n : tensor<4xf32>
  %root = stablehlo.rsqrt %v : tensor<4xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0] : (tensor<4xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %c, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @e function(@two_dims)

// Of rows as they are, with one over the root.
// CHECK-LABEL: func.func @rms
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.rms_norm %arg0 {dims = 1 : i64, epsilon = 9.9999997{{.*}}E-6 : f64} : (tensor<4x6x8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @rms(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %two = stablehlo.constant dense<2.0> : tensor<4x6x8xf32>
  %q = stablehlo.power %x, %two : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.sqrt %ve : tensor<4x6x1xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x6x1xf32>
  %inv = stablehlo.divide %one, %root : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %inv, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %x, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @f function(@rms)

// Inside of a model of bf16.
// CHECK-LABEL: func.func @rms_in_f32
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg0
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.rms_norm %[[W]]
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[Y]] : (tensor<4x6x8xf32>) -> tensor<4x6x8xbf16>
// CHECK-NEXT: return %[[N]]
func.func @rms_in_f32(%x: tensor<4x6x8xbf16> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xbf16> {dist.port = #dist.port<output "y">}) {
  %w = stablehlo.convert %x : (tensor<4x6x8xbf16>) -> tensor<4x6x8xf32>
  %q = stablehlo.multiply %w, %w : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %p = stablehlo.multiply %w, %rb : tensor<4x6x8xf32>
  %r = stablehlo.convert %p : (tensor<4x6x8xf32>) -> tensor<4x6x8xbf16>
  return %r : tensor<4x6x8xbf16>
}
dist.entry @g function(@rms_in_f32)

// Rows minus something else than their mean are rows as they are.
// CHECK-LABEL: func.func @rms_of_centred
// CHECK: %[[C:.*]] = stablehlo.subtract
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.rms_norm %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @rms_of_centred(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %sc = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %sc : tensor<4x6x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %c, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @h function(@rms_of_centred)

// Both factors of the rows and of the root stay.
// CHECK-LABEL: func.func @two_scales
// CHECK: %[[Y:.*]], %{{.*}} = nn.rms_norm %arg0
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[Y]]
// CHECK-NEXT: %[[Q:.*]] = stablehlo.multiply %[[P]]
// CHECK-NEXT: return %[[Q]]
func.func @two_scales(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %sc = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<8xf32>) -> tensor<4x6x8xf32>
  %q = stablehlo.multiply %x, %x : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %rs = stablehlo.multiply %sc, %rb : tensor<4x6x8xf32>
  %p = stablehlo.multiply %x, %sc : tensor<4x6x8xf32>
  %r = stablehlo.multiply %p, %rs : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @i function(@two_scales)
