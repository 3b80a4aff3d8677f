// RUN: llmc-opt %s --split-input-file --llmc-sum-loss --llmc-differentiate | FileCheck %s
// What is one of JAX's functions, and what looks alike and has the derivative of its ops.

// The second argument of logaddexp stands in three places: three constants of
// one value, or broadcasts of such, are the same,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: backward
// CHECK-NOT: stablehlo.compare GE
// CHECK: return
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %a = stablehlo.constant dense<0.0> : tensor<4xf32>
  %b = stablehlo.constant dense<0.0> : tensor<4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %c : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: backward
// CHECK-NOT: stablehlo.compare GE
// CHECK: return
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %j = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %c = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %c : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// and an input is itself.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: backward
// CHECK-NOT: stablehlo.compare GE
// CHECK: return
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%o: tensor<4xf32> {dist.port = #dist.port<input "o">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %max = stablehlo.maximum %w, %o : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %o : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %o : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// Constants of two values are not,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.compare GE, {{.*}}backward
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %a = stablehlo.constant dense<0.0> : tensor<4xf32>
  %b = stablehlo.constant dense<0.0> : tensor<4xf32>
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %c : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.compare GE, {{.*}}backward
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %j = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %c = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %c : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.compare GE, {{.*}}backward
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %j = stablehlo.constant dense<0.0> : tensor<f32>
  %k = stablehlo.constant dense<0.0> : tensor<4x1xf32>
  %a = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %c = stablehlo.reshape %k : (tensor<4x1xf32>) -> tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %c : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// nor a constant and an input, nor two inputs,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.compare GE, {{.*}}backward
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%o: tensor<4xf32> {dist.port = #dist.port<input "o">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %a = stablehlo.constant dense<0.0> : tensor<4xf32>
  %b = stablehlo.constant dense<0.0> : tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %o : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.compare GE, {{.*}}backward
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%o: tensor<4xf32> {dist.port = #dist.port<input "o">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %b = stablehlo.constant dense<0.0> : tensor<4xf32>
  %max = stablehlo.maximum %w, %o : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %b : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.compare GE, {{.*}}backward
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%o: tensor<4xf32> {dist.port = #dist.port<input "o">}, %p: tensor<4xf32> {dist.port = #dist.port<input "p">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %max = stablehlo.maximum %w, %o : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %o : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %p : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// nor what is computed twice.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.compare GE, {{.*}}backward
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%o: tensor<4xf32> {dist.port = #dist.port<input "o">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %a = stablehlo.tanh %o : tensor<4xf32>
  %b = stablehlo.tanh %o : tensor<4xf32>
  %c = stablehlo.tanh %o : tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %s0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %s1 = stablehlo.compare NE, %s0, %s0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s2 = stablehlo.add %w, %c : tensor<4xf32>
  %s3 = stablehlo.abs %s0 : tensor<4xf32>
  %s4 = stablehlo.negate %s3 : tensor<4xf32>
  %s5 = stablehlo.exponential %s4 : tensor<4xf32>
  %s6 = stablehlo.log_plus_one %s5 : tensor<4xf32>
  %s7 = stablehlo.add %max, %s6 : tensor<4xf32>
  %y = stablehlo.select %s1, %s2, %s7 : tensor<4xi1>, tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// A function goes by its own name.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: dense<5.000000e-01>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %a = stablehlo.constant dense<0.0> : tensor<4xf32>
  %y = stablehlo.maximum %w, %a {dist.jax_function = "relu6"} : tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK-NOT: dense<5.0
// CHECK: return
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %a = stablehlo.constant dense<0.0> : tensor<4xf32>
  %y = stablehlo.maximum %w, %a {dist.jax_function = "relu"} : tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// What people write by hand is known where a location says that it has a rule,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[Y:.*]] = stablehlo.log
// CHECK: %[[P:.*]] = stablehlo.multiply %arg0, %
// CHECK: stablehlo.divide %{{.*}}, %[[P]]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %o = stablehlo.constant dense<1.0> : tensor<4xf32> loc("jit(f)/custom_jvp_call"("f"("model.py":11:3)))
  %d = stablehlo.subtract %o, %w : tensor<4xf32>
  %q = stablehlo.divide %w, %d : tensor<4xf32>
  %y = stablehlo.log %q : tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[Q:.*]] = stablehlo.divide %arg0,
// CHECK: %[[Y:.*]] = stablehlo.log %[[Q]]
// CHECK: stablehlo.divide %{{.*}}, %[[Q]]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %o = stablehlo.constant dense<1.0> : tensor<4xf32>
  %d = stablehlo.subtract %o, %w : tensor<4xf32>
  %q = stablehlo.divide %w, %d : tensor<4xf32>
  %y = stablehlo.log %q : tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// and with the number of the function for all elements.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[Q:.*]] = stablehlo.divide %arg0,
// CHECK: %[[Y:.*]] = stablehlo.log %[[Q]]
// CHECK: stablehlo.divide %{{.*}}, %[[Q]]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %o = stablehlo.constant dense<[1.0, 1.0, 1.0, 2.0]> : tensor<4xf32> loc("jit(f)/custom_jvp_call"("f"("model.py":11:3)))
  %d = stablehlo.subtract %o, %w : tensor<4xf32>
  %q = stablehlo.divide %w, %d : tensor<4xf32>
  %y = stablehlo.log %q : tensor<4xf32>
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%y init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
