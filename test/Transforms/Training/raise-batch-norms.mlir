// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise=norm=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | grep '] norm |' | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.
// REMARK-COUNT-7: features of mean 0 and variance 1 over the batch
// REMARK-NEXT: no norm: the root has other uses
// REMARK-NEXT: no norm: the rows or their squares have other uses
// REMARK-NEXT: no norm: what is divided is not what the root is of
// REMARK-NEXT: no norm: its rows are neither of the last dimensions nor of all but one
// REMARK-NOT: norm

// Root and scale meet before the rows do.
// CHECK-LABEL: func.func @root_and_scale(
// CHECK-NEXT: %[[Y:[^,]*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %arg1, %arg2 {dim = 2 : i64, epsilon = {{.*}} : f64} :
// CHECK-NEXT: return %[[Y]]
func.func @root_and_scale(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}, %s: tensor<8xf32> {dist.port = #dist.port<input "s">}, %t: tensor<8xf32> {dist.port = #dist.port<input "t">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %f = stablehlo.multiply %root, %s : tensor<8xf32>
  %fb = stablehlo.broadcast_in_dim %f, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %z = stablehlo.multiply %c, %fb : tensor<4x2x8xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.add %z, %tb : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}
dist.entry @root_and_scale_entry function(@root_and_scale)

// As a `batch_norm_training` of the text is written out; what else reads mean and variance reads the op's.
// CHECK-LABEL: func.func @statistics(
// CHECK-NEXT: %[[Y:[^,]*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %arg1, %arg2 {dim = 2 : i64, epsilon = {{.*}} : f64} :
// CHECK-NEXT: %[[A:.*]] = stablehlo.negate %[[M]]
// CHECK-NEXT: %[[B:.*]] = stablehlo.negate %[[V]]
// CHECK-NEXT: return %[[Y]], %[[A]], %[[B]]
func.func @statistics(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}, %s: tensor<8xf32> {dist.port = #dist.port<input "s">}, %t: tensor<8xf32> {dist.port = #dist.port<input "t">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}, tensor<8xf32> {dist.port = #dist.port<output "y1">}, tensor<8xf32> {dist.port = #dist.port<output "y2">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %a = stablehlo.negate %mean : tensor<8xf32>
  %b = stablehlo.negate %var : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.sqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %z = stablehlo.divide %c, %rb : tensor<4x2x8xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %w = stablehlo.multiply %sb, %z : tensor<4x2x8xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.add %w, %tb : tensor<4x2x8xf32>
  return %y, %a, %b : tensor<4x2x8xf32>, tensor<8xf32>, tensor<8xf32>
}
dist.entry @statistics_entry function(@statistics)

// As flax writes it: the mean of squares less the square of the mean.
// CHECK-LABEL: func.func @squares(
// CHECK-NEXT: %[[Y:[^,]*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %arg1, %arg2 {dim = 2 : i64, epsilon = {{.*}} : f64, squares} :
// CHECK-NEXT: return %[[Y]]
func.func @squares(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}, %s: tensor<8xf32> {dist.port = #dist.port<input "s">}, %t: tensor<8xf32> {dist.port = #dist.port<input "t">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %xx = stablehlo.multiply %x, %x : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%xx init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %sq = stablehlo.divide %qs, %n : tensor<8xf32>
  %mm = stablehlo.multiply %mean, %mean : tensor<8xf32>
  %d = stablehlo.subtract %sq, %mm : tensor<8xf32>
  %zs = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.maximum %zs, %d : tensor<8xf32>
  %mk = stablehlo.reshape %mean : (tensor<8xf32>) -> tensor<1x1x8xf32>
  %vk = stablehlo.reshape %var : (tensor<8xf32>) -> tensor<1x1x8xf32>
  %mb = stablehlo.broadcast_in_dim %mk, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %ek = stablehlo.constant dense<1.0e-3> : tensor<1x1x8xf32>
  %ve = stablehlo.add %vk, %ek : tensor<1x1x8xf32>
  %root = stablehlo.rsqrt %ve : tensor<1x1x8xf32>
  %sk = stablehlo.reshape %s : (tensor<8xf32>) -> tensor<1x1x8xf32>
  %f = stablehlo.multiply %root, %sk : tensor<1x1x8xf32>
  %fb = stablehlo.broadcast_in_dim %f, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<4x2x8xf32>
  %z = stablehlo.multiply %c, %fb : tensor<4x2x8xf32>
  %tk = stablehlo.reshape %t : (tensor<8xf32>) -> tensor<1x1x8xf32>
  %tb = stablehlo.broadcast_in_dim %tk, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.add %z, %tb : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}
dist.entry @squares_entry function(@squares)

// Neither scale nor offset.
// CHECK-LABEL: func.func @bare(
// CHECK-DAG: %[[S:.*]] = stablehlo.constant dense<1.0{{.*}}> : tensor<8xf32>
// CHECK-DAG: %[[T:.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<8xf32>
// CHECK: %[[Y:[^,]*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %[[S]], %[[T]] {dim = 2 : i64, epsilon = {{.*}} : f64} :
// CHECK-NEXT: return %[[Y]]
func.func @bare(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.multiply %c, %rb : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}
dist.entry @bare_entry function(@bare)

// The scale is of each place: it stays, and so does the offset after it.
// CHECK-LABEL: func.func @other_scale(
// CHECK: %[[Y:[^,]*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %{{.*}}, %{{.*}} {dim = 2 : i64, epsilon = {{.*}} : f64} :
// CHECK: %[[P:.*]] = stablehlo.multiply %[[Y]],
// CHECK: stablehlo.add %[[P]],
func.func @other_scale(%x: tensor<4x8x8xf32> {dist.port = #dist.port<input "x">}, %s: tensor<8xf32> {dist.port = #dist.port<input "s">}, %t: tensor<8xf32> {dist.port = #dist.port<input "t">}) -> (tensor<4x8x8xf32> {dist.port = #dist.port<output "y0">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x8x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x8x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x8x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x8x8xf32>
  %z = stablehlo.multiply %c, %rb : tensor<4x8x8xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<8xf32>) -> tensor<4x8x8xf32>
  %w = stablehlo.multiply %z, %sb : tensor<4x8x8xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [2] : (tensor<8xf32>) -> tensor<4x8x8xf32>
  %y = stablehlo.add %w, %tb : tensor<4x8x8xf32>
  return %y : tensor<4x8x8xf32>
}
dist.entry @other_scale_entry function(@other_scale)

// The scale is made of the variance, which the text's ops compute for it.
// CHECK-LABEL: func.func @late_scale(
// CHECK: %[[Q:.*]] = stablehlo.sqrt %[[O:.*]] :
// CHECK: %[[Y:[^,]*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %[[Q]], %arg2 {dim = 2 : i64, epsilon = {{.*}} : f64} :
// CHECK: %[[R:.*]] = stablehlo.negate %[[V]]
// CHECK: return %[[Y]], %[[R]]
func.func @late_scale(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}, %s: tensor<8xf32> {dist.port = #dist.port<input "s">}, %t: tensor<8xf32> {dist.port = #dist.port<input "t">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}, tensor<8xf32> {dist.port = #dist.port<output "y1">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %late = stablehlo.sqrt %var : tensor<8xf32>
  %neg = stablehlo.negate %var : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %z = stablehlo.multiply %c, %rb : tensor<4x2x8xf32>
  %sb = stablehlo.broadcast_in_dim %late, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %w = stablehlo.multiply %z, %sb : tensor<4x2x8xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.add %w, %tb : tensor<4x2x8xf32>
  return %y, %neg : tensor<4x2x8xf32>, tensor<8xf32>
}
dist.entry @late_scale_entry function(@late_scale)

// Something else reads the norm before it is scaled.
// CHECK-LABEL: func.func @read_twice(
// CHECK: %[[Y:[^,]*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %arg0, %{{.*}}, %{{.*}} {dim = 2 : i64, epsilon = {{.*}} : f64} :
// CHECK: %[[P:.*]] = stablehlo.multiply %[[Y]],
// CHECK: return %[[P]], %[[Y]]
func.func @read_twice(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}, %s: tensor<8xf32> {dist.port = #dist.port<input "s">}, %t: tensor<8xf32> {dist.port = #dist.port<input "t">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}, tensor<4x2x8xf32> {dist.port = #dist.port<output "y1">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %z = stablehlo.multiply %c, %rb : tensor<4x2x8xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.multiply %z, %sb : tensor<4x2x8xf32>
  return %y, %z : tensor<4x2x8xf32>, tensor<4x2x8xf32>
}
dist.entry @read_twice_entry function(@read_twice)

// Something else reads the root.
// CHECK-LABEL: func.func @root_used(
// CHECK-NOT: nn.
// CHECK: return
func.func @root_used(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}, tensor<8xf32> {dist.port = #dist.port<output "y1">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.multiply %c, %rb : tensor<4x2x8xf32>
  return %y, %root : tensor<4x2x8xf32>, tensor<8xf32>
}
dist.entry @root_used_entry function(@root_used)

// Something else reads x less its mean.
// CHECK-LABEL: func.func @centred_used(
// CHECK-NOT: nn.
// CHECK: return
func.func @centred_used(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}, tensor<4x2x8xf32> {dist.port = #dist.port<output "y1">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %y = stablehlo.multiply %c, %rb : tensor<4x2x8xf32>
  return %y, %c : tensor<4x2x8xf32>, tensor<4x2x8xf32>
}
dist.entry @centred_used_entry function(@centred_used)

// The root is of another tensor's features.
// CHECK-LABEL: func.func @other_rows(
// CHECK-NOT: nn.
// CHECK: return
func.func @other_rows(%x: tensor<4x2x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4x2x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4x2x8xf32> {dist.port = #dist.port<output "y0">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<8xf32>
  %sum = stablehlo.reduce(%o init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %c = stablehlo.subtract %o, %mb : tensor<4x2x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2x8xf32>, tensor<f32>) -> tensor<8xf32>
  %var = stablehlo.divide %qs, %n : tensor<8xf32>
  %ve = stablehlo.add %var, %eps : tensor<8xf32>
  %root = stablehlo.rsqrt %ve : tensor<8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %mx = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<8xf32>) -> tensor<4x2x8xf32>
  %cx = stablehlo.subtract %x, %mx : tensor<4x2x8xf32>
  %y = stablehlo.multiply %cx, %rb : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}
dist.entry @other_rows_entry function(@other_rows)

// Features of each sample alone: an instance norm with its features last.
// CHECK-LABEL: func.func @of_samples(
// CHECK-NOT: nn.
// CHECK: return
func.func @of_samples(%x: tensor<4x2x3x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x2x3x8xf32> {dist.port = #dist.port<output "y0">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<6.0> : tensor<4x8xf32>
  %eps = stablehlo.constant dense<1.0e-3> : tensor<4x8xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x2x3x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %mean = stablehlo.divide %sum, %n : tensor<4x8xf32>
  %mb = stablehlo.broadcast_in_dim %mean, dims = [0, 3] : (tensor<4x8xf32>) -> tensor<4x2x3x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x2x3x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x2x3x8xf32>
  %qs = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<4x2x3x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %var = stablehlo.divide %qs, %n : tensor<4x8xf32>
  %ve = stablehlo.add %var, %eps : tensor<4x8xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 3] : (tensor<4x8xf32>) -> tensor<4x2x3x8xf32>
  %y = stablehlo.multiply %c, %rb : tensor<4x2x3x8xf32>
  return %y : tensor<4x2x3x8xf32>
}
dist.entry @of_samples_entry function(@of_samples)
