// Modules that have their derivative: which arguments are what, and why.
// RUN: split-file %s %t
// DEFINE: %{file} = step
// DEFINE: %{import} = llmc compile %t/%{file}.mlir --compile-to=import -o - --config %t/common.toml

// A step: donated arguments, results computed from gradients. The momentum has the name of the parameter, the counter has none
// of a parameter; what is returned unchanged or not at all is constant; scalars of our names are hyper values.
// RUN: %{import} | FileCheck %t/step.mlir
// RUN: llmc compile %t/step.mlir -o %t/plan --config %t/common.toml | FileCheck %t/step.mlir --check-prefix=WHY
// Without donation it may as well be gradients that are scaled; the configuration says what it is.
// REDEFINE: %{file} = kept
// RUN: sed 's/tf.aliasing_output = [0-9] : i32//g' %t/step.mlir > %t/kept.mlir
// RUN: not %{import} 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: {{^}}llmc: error[diagnosed]: {{.*}}expected to know whether result 0 ('result[0]['w']') is a gradient or a new state of 'params.w', got what is computed from gradients without donated arguments (set training.module = "gradients" or "step", or donate the states of a step (donate_argnums)){{$}}
// RUN: %{import} --set training.module=step | FileCheck %t/step.mlir

// Initial values: of all states from a file, or by a pattern; "*" is about parameters and constants.
// REDEFINE: %{file} = step
// RUN: %{import} --config %t/values.toml | FileCheck %s --check-prefix=VALUES
// VALUES-DAG: dist.state @w {{.*}}source = #dist.draw<normal
// VALUES-DAG: dist.state @fixed {{.*}}source = #dist.draw<normal
// VALUES-DAG: dist.state @m.w {{.*}}source = #dist.draw<ones>
// VALUES-DAG: dist.state @count$ {{.*}}source = #dist.draw<zeros>
// RUN: not %{import} --config %t/some.toml 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: {{^}}llmc: error[usage]: expected an {{\[\[init\]\]}} pattern for constant 'fixed', got none that matches (add {{\[\[init\]\]}} match = "*" draw = "normal", or give --weights)

// Keys that the text leaves no choice of; a rate is one that the text takes.
// RUN: not %{import} --set optimizer.name=sgd 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// OPTIMIZER: {{^}}llmc: error[usage]: --set optimizer.name: expected no 'optimizer.name', which is part of the text, for a module that returns a whole step{{$}}
// RUN: %{import} --set optimizer.lr=0.5 | FileCheck %s --check-prefix=RATE
// RATE: dist.hyper @lr : tensor<f32> = <warmup_constant, base = 5.000000e-01

// Loss and gradients; what is computed without derivatives replaces a state in each microbatch.
// REDEFINE: %{file} = gradients
// RUN: %{import} | FileCheck %t/gradients.mlir
// RUN: llmc compile %t/gradients.mlir -o %t/plan --config %t/common.toml | FileCheck %t/gradients.mlir --check-prefix=WHY
// RUN: not %{import} --set training.recompute=all 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RECOMPUTE: {{^}}llmc: error[usage]: --set training.recompute: expected no 'training.recompute', which is part of the text, for a module that returns gradients{{$}}
// With a donated argument they may be meant as new states.
// REDEFINE: %{file} = donated
// RUN: sed 's/tensor<4xf32> loc("params/tensor<4xf32> {jax.buffer_donor = true} loc("params/' %t/gradients.mlir > %t/donated.mlir
// RUN: not %{import} 2>&1 | FileCheck %s --check-prefix=DONATED
// DONATED: got a gradient with donated arguments
// RUN: %{import} --set training.module=gradients | FileCheck %t/gradients.mlir
// A module without backward ops is a loss, unless it is said to be a step.
// REDEFINE: %{file} = loss
// RUN: sed 's/transpose(jvp())/jvp()/g' %t/gradients.mlir > %t/loss.mlir
// RUN: %{import} --set 'training.drop=["*"]' | FileCheck %s --check-prefix=LOSS
// LOSS: dist.state @w {{.*}}role = carried

// Names that several arguments have: by what is computed from them place by place, or the configuration.
// REDEFINE: %{file} = pairs
// RUN: %{import} | FileCheck %t/pairs.mlir
// REDEFINE: %{file} = swapped
// RUN: sed 's/return .new, .mom/return %mom, %new/' %t/pairs.mlir > %t/swapped.mlir
// RUN: not %{import} 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: {{^}}llmc: error[diagnosed]: {{.*}}expected to know to which argument result 0 ('result[0]['w']') belongs, got several of its name and type or several results of 'a.w' and 'b.w' (say it in [training.results]: "0.w" = "a.w"){{$}}
// RUN: %{import} --set training.results.0=b --set training.results.1=a | FileCheck %t/pairs.mlir --check-prefix=GIVEN
// RUN: not %{import} --set training.results.5=a 2>&1 | FileCheck %s --check-prefix=NOPATH
// NOPATH: {{^}}llmc: error[usage]: --set training.results.5: expected 'training.results.5' to name a result, got none of that path (there are 0.w, 1.w, 2){{$}}
// RUN: not %{import} --set training.results.0=c 2>&1 | FileCheck %s --check-prefix=NOARGUMENT
// NOARGUMENT: {{^}}llmc: error[usage]: --set training.results.0: expected 'training.results.0' to lead to an argument of the type of 'result[0]['w']', got 'c.w'; did you mean 'a.w'?{{$}}
// RUN: not %{import} --set training.results.1=loss --set training.results.2=loss 2>&1 | FileCheck %s --check-prefix=NOTLOSS
// NOTLOSS: {{^}}llmc: error[usage]: --set training.results.1: expected 'training.results.1' to lead to an argument of the type of 'result[1]['w']', got 'loss.w'{{$}}

// Leaves without names: a new value tells which, also that of a scalar that is donated for the loss.
// REDEFINE: %{file} = leaves
// RUN: %{import} | FileCheck %t/leaves.mlir

// No loss, and an argument that is nothing.
// REDEFINE: %{file} = noloss
// RUN: not %{import} 2>&1 | FileCheck %s --check-prefix=NOLOSS
// NOLOSS: {{^}}llmc: error[diagnosed]: {{.*}}expected a result that is the loss, a float scalar, got none (return the loss of a step beside its new states){{$}}
// REDEFINE: %{file} = left
// RUN: sed "s/opt\['unused'\]/mask/" %t/step.mlir > %t/left.mlir
// RUN: not %{import} 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: {{^}}llmc: error[diagnosed]: "mask": argument 5 ('mask') expected to be an input of [data.inputs], a state that a result replaces or a hyper value (lr, t, step or seed), got tensor<2xf32> that is none (a state that no step changes gets its value by {{\[\[}}init]] match = "mask" or from --weights){{$}}

//--- common.toml
[data]
inputs = {x = 0}

[[init]]
match = "*"

//--- values.toml
[data]
inputs = {x = 0}

[[init]]
match = "m.*"
draw = "ones"

[[init]]
match = "*"

//--- some.toml
[data]
inputs = {x = 0}

[[init]]
match = "*w"

//--- step.mlir
// CHECK-DAG: dist.hyper @lr : tensor<f32>
// CHECK-DAG: dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<normal
// CHECK-DAG: dist.state @fixed : tensor<4xf32> {role = constant, source = #dist.draw<normal
// CHECK-DAG: dist.state @unused : tensor<2xf32> {role = constant, source = #dist.draw<normal
// CHECK-DAG: dist.state @m.w : tensor<4xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
// CHECK-DAG: dist.state @count$ : tensor<i32> {role = carried, source = #dist.draw<zeros>}
// CHECK: func.func public @step.function(
// CHECK-SAME: #dist.port<constant @fixed>
// CHECK-SAME: #dist.port<parameter @w>
// CHECK-SAME: #dist.port<optimizer @m.w>
// CHECK-SAME: #dist.port<carried @count$>
// CHECK-SAME: #dist.port<hyper @lr>
// CHECK-SAME: #dist.port<constant @unused>
// CHECK-SAME: #dist.port<input "x"
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4xf32> {dist.port = #dist.port<output "0.fixed">}, tensor<4xf32> {dist.port = #dist.port<optimizer @m.w>}, tensor<i32> {dist.port = #dist.port<carried @count$>}, tensor<f32> {dist.port = #dist.port<output "size", metric = "size">}, tensor<f32> {dist.port = #dist.port<loss>})
// The entry has the loss without derivatives.
// CHECK: func.func private @forward.function(
// CHECK-NOT: optimizer
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<output "0.fixed">}, tensor<f32> {dist.port = #dist.port<output "size", metric = "size">}, tensor<f32> {dist.port = #dist.port<loss>})
// CHECK: dist.training @train forward(@step.function) microbatches(1)
// CHECK: dist.entry @forward function(@forward.function)

// WHY: module: a whole step (arguments are donated, and results are computed from gradients)
// WHY-NEXT: parameters w: replaced, and the loss depends on them
// WHY-NEXT: optimizer m.w: replaced, with shape and name of a parameter; from zeros
// WHY-NEXT: carried count: replaced; from zeros
// WHY-NEXT: constant fixed, unused: not replaced
// WHY-NEXT: hyper lr: scalars of names that llmc knows
// WHY-NEXT: inputs x: named in [data]
func.func public @main(
    %fixed: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("params['fixed']"), %w: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("params['w']"),
    %m: tensor<4xf32> {tf.aliasing_output = 2 : i32} loc("opt['m']['w']"), %count: tensor<i32> {tf.aliasing_output = 3 : i32} loc("opt['count']"),
    %lr: tensor<f32> loc("lr"), %unused: tensor<2xf32> loc("opt['unused']"), %x: tensor<8x4xf32> loc("x"))
    -> (tensor<4xf32> {jax.result_info = "result[0]['w']"}, tensor<4xf32> {jax.result_info = "result[0]['fixed']"},
        tensor<4xf32> {jax.result_info = "result[1]['m']['w']"}, tensor<i32> {jax.result_info = "result[1]['count']"},
        tensor<f32> {jax.result_info = "result[2]['size']"}, tensor<f32> {jax.result_info = "result[2]['loss']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ws = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32> loc("jit(step)/jvp()/broadcast_in_dim")
  %y = stablehlo.multiply %x, %ws : tensor<8x4xf32> loc("jit(step)/jvp()/mul")
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32> loc("jit(step)/jvp()/reduce_sum")
  %size = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32> loc("jit(step)/jvp()/reduce_sum")
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32> loc("jit(step)/transpose(jvp())/reduce_sum")
  %u = stablehlo.reduce(%unused init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %rate = stablehlo.add %lr, %u : tensor<f32>
  %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %m1 = stablehlo.add %m, %g : tensor<4xf32> loc("jit(step)/add")
  %d = stablehlo.multiply %rates, %m1 : tensor<4xf32> loc("jit(step)/mul")
  %w1 = stablehlo.subtract %w, %d : tensor<4xf32> loc("jit(step)/sub")
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c1 = stablehlo.add %count, %one : tensor<i32> loc("jit(step)/add")
  return %w1, %fixed, %m1, %c1, %size, %loss : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<f32>, tensor<f32>
}

//--- gradients.mlir
// The gradient of an argument that is not there is left out.
// CHECK-DAG: dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<normal
// CHECK-DAG: dist.state @mean : tensor<4xf32> {role = carried, source = #dist.draw<zeros>}
// CHECK: func.func public @loss(
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4xf32> {dist.port = #dist.port<carried @mean>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}, tensor<3xf32> {dist.port = #dist.port<output "1.z">}, tensor<f32> {dist.port = #dist.port<output "size">})
// CHECK: func.func private @forward.function(
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<3xf32> {dist.port = #dist.port<output "1.z">}, tensor<f32> {dist.port = #dist.port<output "size">})
// CHECK: dist.training @train forward(@loss) optimizer(@optimizer.adamw)

// WHY: module: a loss with its gradients (results are made by backward ops)
// WHY-NEXT: parameters w: a gradient is returned
// WHY-NEXT: carried mean: replaced; from zeros
// WHY-NEXT: inputs x: named in [data]
func.func public @main(%w: tensor<4xf32> loc("params['w']"), %mean: tensor<4xf32> loc("stats['mean']"), %x: tensor<8x4xf32> loc("x"))
    -> (tensor<f32> {jax.result_info = "result[0][0]"}, tensor<4xf32> {jax.result_info = "result[0][1]['mean']"},
        tensor<4xf32> {jax.result_info = "result[1]['w']"}, tensor<3xf32> {jax.result_info = "result[1]['z']"},
        tensor<f32> {jax.result_info = "result[0][1]['size']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ws = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32> loc("jit(loss)/jvp()/broadcast_in_dim")
  %y = stablehlo.multiply %x, %ws : tensor<8x4xf32> loc("jit(loss)/jvp()/mul")
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32> loc("jit(loss)/jvp()/reduce_sum")
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32> loc("jit(loss)/jvp()/reduce_sum")
  %new = stablehlo.add %mean, %sum : tensor<4xf32> loc("jit(loss)/add")
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32> loc("jit(loss)/transpose(jvp())/reduce_sum")
  %z = stablehlo.constant dense<0.0> : tensor<3xf32>
  return %loss, %new, %g, %z, %zero : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<f32>
}

//--- pairs.mlir
// Both results may replace both arguments; %new is computed from %a place by place, and %mom from %b.
// CHECK: #dist.port<parameter @a.w>
// CHECK-SAME: #dist.port<optimizer @b.w>
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<parameter @a.w>}, tensor<4xf32> {dist.port = #dist.port<optimizer @b.w>}
// GIVEN: -> (tensor<4xf32> {dist.port = #dist.port<optimizer @b.w>}, tensor<4xf32> {dist.port = #dist.port<parameter @a.w>}
func.func public @main(%a: tensor<4xf32> {jax.buffer_donor = true} loc("a['w']"), %b: tensor<4xf32> {jax.buffer_donor = true} loc("b['w']"), %x: tensor<8x4xf32> loc("x"))
    -> (tensor<4xf32> {jax.result_info = "result[0]['w']"}, tensor<4xf32> {jax.result_info = "result[1]['w']"}, tensor<f32> {jax.result_info = "result[2]"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32> loc("jit(step)/transpose(jvp())/reduce_sum")
  %mom = stablehlo.add %b, %g : tensor<4xf32>
  %s = stablehlo.sine %g : tensor<4xf32>
  %new = stablehlo.subtract %a, %s : tensor<4xf32>
  return %new, %mom, %loss : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}

//--- leaves.mlir
// CHECK: -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<f32> {dist.port = #dist.port<parameter @s>}, tensor<4xf32> {dist.port = #dist.port<carried @u>}, tensor<4xf32> {dist.port = #dist.port<parameter @v>})
func.func public @main(%s: tensor<f32> {tf.aliasing_output = 1 : i32} loc("s"), %u: tensor<4xf32> {tf.aliasing_output = 2 : i32} loc("u"), %v: tensor<4xf32> {tf.aliasing_output = 3 : i32} loc("v"), %x: tensor<8x4xf32> loc("x"))
    -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}, tensor<4xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.multiply %sum, %s : tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32> loc("jit(step)/transpose(jvp())/reduce_sum")
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32> loc("jit(step)/transpose(jvp())/reduce_sum")
  %s1 = stablehlo.subtract %s, %h : tensor<f32>
  %u1 = stablehlo.add %u, %g : tensor<4xf32>
  %v1 = stablehlo.subtract %v, %u1 : tensor<4xf32>
  return %loss, %s1, %u1, %v1 : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

//--- noloss.mlir
func.func public @main(%a: tensor<4xf32> {jax.buffer_donor = true} loc("a['w']"), %x: tensor<8x4xf32> loc("x")) -> (tensor<4xf32> {jax.result_info = "result['w']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32> loc("jit(step)/transpose(jvp())/reduce_sum")
  %p = stablehlo.subtract %a, %g : tensor<4xf32>
  return %p : tensor<4xf32>
}
