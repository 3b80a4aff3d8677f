// RUN: split-file %s %t
// RUN: not llmc-opt %t/user.mlir --llmc-check-rules -o /dev/null 2>&1 | FileCheck %t/user.mlir
// RUN: sed 's/schedule(<1f1b>)/schedule(<1f1b>) {derivative_of_text}/' %t/user.mlir | llmc-opt --llmc-check-rules -o /dev/null
// RUN: not llmc-opt %t/jitted.mlir --llmc-check-rules -o /dev/null 2>&1 | FileCheck %t/jitted.mlir
// RUN: not llmc-opt %t/forged.mlir --llmc-check-rules -o /dev/null 2>&1 | FileCheck %t/forged.mlir
// RUN: llmc-opt %t/factored.mlir --llmc-check-rules -o /dev/null
// RUN: sed 's/slogdet/mine/g' %t/factored.mlir | not llmc-opt --llmc-check-rules -o /dev/null 2>&1 | FileCheck %t/factored.mlir
// RUN: llmc-opt %t/known.mlir --llmc-check-rules -o /dev/null
// RUN: llmc-opt %t/inactive.mlir --llmc-check-rules -o /dev/null
// RUN: not llmc-opt %t/fused.mlir --llmc-check-rules -o /dev/null 2>&1 | FileCheck %t/fused.mlir
// RUN: not llmc-opt %t/cut.mlir --llmc-check-rules -o /dev/null 2>&1 | FileCheck %t/cut.mlir
// RUN: llmc-opt %t/declared.mlir --llmc-check-rules -o /dev/null

// What `jax.jit(f).lower(p).as_text(debug_info=True)` prints, cut down.

//--- user.mlir
// A user's function, called at model.py:11; its ops have its own frame inside.
// Two ops of it are active, and the broadcast between is not.
// CHECK: clip.py:7:9: error: expected functions without a derivative rule of their own, got 'clip' with a custom_vjp, which the text has lost (and 1 more ops of such functions); write it without the rule, or set training.derivative = "of the text" if the derivative of its ops is meant
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<f32> loc("custom_vjp_call:"("jit(f)/custom_vjp_call"(callsite("f"("model.py":11:3) at "main"("model.py":20:1)))))
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("jit(f)/mul"(callsite("clip"("clip.py":7:9) at callsite("f"("model.py":11:3) at "main"("model.py":20:1)))))
  %1 = stablehlo.multiply %w, %0 : tensor<4xf32> loc("jit(f)/mul"(callsite("clip"("clip.py":7:9) at callsite("f"("model.py":11:3) at "main"("model.py":20:1)))))
  %2 = stablehlo.add %1, %0 : tensor<4xf32> loc("jit(f)/mul"(callsite("clip"("clip.py":7:9) at callsite("f"("model.py":11:3) at "main"("model.py":20:1)))))
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- jitted.mlir
// A function of JAX's own: no frames but the caller's, and its name is that of
// the innermost jitted function.
// CHECK: model.py:11:3: error: expected functions without a derivative rule of their own, got 'dawsn' with a custom_jvp, which the text has lost; write
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32> loc("jit(f)/jit(dawsn)/custom_jvp_call"("f"("model.py":11:3)))
  %1 = stablehlo.multiply %w, %c : tensor<4xf32> loc("jit(f)/jit(dawsn)/mul"("f"("model.py":11:3)))
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- factored.mlir
// The rule of slogdet is the derivative of its ops, by its name. What reads the sign, which has no derivative, stands outside, by
// its path: the constant has no frames.
// CHECK: expected functions without a derivative rule of their own, got 'mine' with a custom_jvp, which the text has lost; write
dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<0.0> : tensor<f32> loc("jit(f)/jit(slogdet)/custom_jvp_call")
  %p = stablehlo.compare EQ, %w, %c : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("jit(f)/jit(slogdet)/eq")
  %0 = stablehlo.select %p, %c, %w : tensor<i1>, tensor<f32> loc("jit(f)/jit(slogdet)/select_n")
  %s = stablehlo.convert %p : (tensor<i1>) -> tensor<f32> loc("jit(f)/jit(slogdet)/convert")
  %1 = stablehlo.multiply %s, %0 : tensor<f32> loc("jit(f)/mul"("f"("model.py":11:3)))
  return %1 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- forged.mlir
// The ops of logit, in a function of the user's with a rule of its own.
// CHECK: mine.py:2:3: error: expected functions without a derivative rule of their own, got 'mine' with a custom_jvp
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32> loc("jit(f)/custom_jvp_call"("f"("model.py":11:3)))
  %0 = stablehlo.subtract %c, %w : tensor<4xf32> loc("jit(f)/sub"(callsite("mine"("mine.py":2:3) at "f"("model.py":11:3))))
  %1 = stablehlo.divide %w, %0 : tensor<4xf32> loc("jit(f)/div"(callsite("mine"("mine.py":2:3) at "f"("model.py":11:3))))
  %2 = stablehlo.log %1 : tensor<4xf32> loc("jit(f)/log"(callsite("mine"("mine.py":2:3) at "f"("model.py":11:3))))
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- known.mlir
// logit as JAX prints it is in the table.
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<1.0> : tensor<f32> loc("jit(f)/custom_jvp_call"("f"("model.py":11:3)))
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("jit(f)/sub"("f"("model.py":11:3)))
  %0 = stablehlo.subtract %b, %w : tensor<4xf32> loc("jit(f)/sub"("f"("model.py":11:3)))
  %1 = stablehlo.divide %w, %0 : tensor<4xf32> loc("jit(f)/div"("f"("model.py":11:3)))
  %2 = stablehlo.log %1 : tensor<4xf32> loc("jit(f)/log"("f"("model.py":11:3)))
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- inactive.mlir
// No derivative flows through the function: it scales an input. What multiplies
// its result by a parameter stands outside of it, in a line of the caller.
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32> loc("jit(f)/custom_jvp_call"("f"("model.py":11:3)))
  %0 = stablehlo.multiply %x, %c : tensor<4xf32> loc("jit(f)/mul"(callsite("scale"("clip.py":7:9) at "f"("model.py":11:3))))
  %1 = stablehlo.multiply %w, %0 : tensor<4xf32> loc("jit(f)/mul"("f"("model.py":12:3)))
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- fused.mlir
// An op that came of two has the frames of both, one after the other: it is in
// the function where the call has the same.
// CHECK: clip.py:7:9: error: expected functions without a derivative rule of their own, got 'clip' with a custom_jvp, which the text has lost; write
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32> loc("jit(f)/custom_jvp_call"(fused["f"("model.py":11:3), "main"("model.py":20:1)]))
  %1 = stablehlo.multiply %w, %c : tensor<4xf32> loc("jit(f)/mul"(fused["clip"("clip.py":7:9), "f"("model.py":11:3), "main"("model.py":20:1)]))
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- cut.mlir
// The list of the op's frames is as long as that of the call, one further in:
// its outer end is cut off.
// CHECK: clip.py:7:9: error: expected functions without a derivative rule of their own, got 'clip' with a custom_jvp, which the text has lost; write
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32> loc("jit(f)/custom_jvp_call"(callsite("f"("model.py":11:3) at "main"("model.py":20:1))))
  %1 = stablehlo.multiply %w, %c : tensor<4xf32> loc("jit(f)/mul"(callsite("clip"("clip.py":7:9) at "f"("model.py":11:3))))
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- declared.mlir
// A forward function without a body has no ops to check.
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func private @loss(tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>})
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
