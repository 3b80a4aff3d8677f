//===- Passes.td - Phase 1: from a loss to a training step -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the order in which `buildTrainingPipeline` runs them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_PASSES_TD
#define LLMC_TRANSFORMS_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenPass : Pass<"llmc-widen", "::mlir::ModuleOp"> {
  let summary = "Compute in f64 what the text computes in f32";
  let description = [{
    Where a `dist.training` says `precision = f64` (or `force` is given), every
    f32, f16 and bf16 of the module becomes f64: values, constants, states, hyper values,
    optimizers. Constants keep their value; a state whose source is a file
    keeps the file's element type. An op on the bits of its floats
    (`bitcast_convert`) keeps its types, between conversions. For checks of gradients.

    ```mlir
    %0 = stablehlo.add %x, %c : tensor<4xf32>   ->   stablehlo.add %x, %c : tensor<4xf64>
    ```
  }];
  let options = [Option<"force", "force", "bool", "false", "widen whatever the recipes say">];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def CheckRulesPass : Pass<"llmc-check-rules", "::mlir::ModuleOp"> {
  let summary = "Refuse functions whose own derivative the text has lost";
  let description = [{
    A function with a `custom_jvp` or `custom_vjp` is printed as its ops, and its
    rule is lost. Constants of its body have a location that says so. Where the
    derivative of a recipe's loss flows through such a body it is refused with the
    function's name, unless it is one of JAX's own in the table JaxFunctions.mlir or the
    recipe says `derivative = "of the text"`.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def BoundInputsPass : Pass<"llmc-bound-inputs", "::mlir::ModuleOp"> {
  let summary = "Say which integers an input may have";
  let description = [{
    Where a function takes the integers of an input that a source feeds for places
    of a dimension (`IndexOpInterface`), its `#dist.data` gets the least number of
    places as limit. Runs read nothing else into the input. A limit that is there
    stays. What enters the trips of a loop, as it is, row by row or carried, is
    the value that it is of; in a loop that its condition ends nothing is known.

    ```mlir
    %arg1: tensor<8x32xi32> {dist.port = #dist.port<input "tokens", data = <"corpus">>}
    %0 = "stablehlo.gather"(%arg0, %arg1) … (tensor<256x64xf32>, tensor<8x32xi32>) …
    // becomes  data = <"corpus", limit = 256>
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def CloseRegionsPass : Pass<"llmc-close-regions", "::mlir::ModuleOp"> {
  let summary = "Regions of reductions and scatters use no value from outside";
  let description = [{
    All later phases look at operands alone, so a body takes in what it uses:
    constants are cloned into it, what it computes of one element and values from
    outside is computed before, for all elements, and what is left of a reduction
    becomes an operand that each step returns unchanged.

    ```mlir
    %r = stablehlo.reduce(%x init: %0) … reducer(%p: …, %e: …) {
      %1 = stablehlo.maximum %e, %c
      %2 = stablehlo.add %p, %1 …
    // becomes
    %m = stablehlo.maximum %x, %c_broadcast
    %r = stablehlo.reduce(%m init: %0) applies stablehlo.add …
    ```
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect"];
}

def NormalizePass : Pass<"llmc-normalize", "::mlir::ModuleOp"> {
  let summary = "Reductions and scatters start from their neutral element";
  let description = [{
    A reduction that is split over devices would count its initial value once
    for each part. So the value is combined with the result instead:

    ```mlir
    %r = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
    // becomes
    %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    %r = stablehlo.add %s, %broadcast_of_c
    ```
    A scatter's operand likewise, where updates are added, multiplied or compared.
    What reduces by another function is left alone, with a remark.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect"];
}

def RaisePass : Pass<"llmc-raise", "::mlir::ModuleOp"> {
  let summary = "Recognise what a forward graph has lost";
  let description = [{
    `cross-entropy`: log-softmax of x (or log-sum-exp), of which one class is
    picked for each row by a gather or a one-hot product, becomes
    `nn.softmax_cross_entropy`; the rest of the text (fix of negative labels,
    mask of labels out of range) stays as it is.

    `attention`: two contractions with a softmax between them, and what is added to
    the scores or masks them, become `nn.attention`. Heads may be in one dim or in
    two, and keys and values repeated for groups of heads. What is causal is
    recognised by its arithmetic or as a table, and is no operand any more. Weights
    that bits of threefry drop, as `jax.random` and ONNX files draw them, are so by
    key and counter.

    `softmax-shift`: the value that is subtracted from x before `exp` cancels in
    softmax, log-softmax and log-sum-exp, and so no derivative flows through it.
    Its op gets the mark `dist.stop_gradient`, which `llmc-differentiate` reads.
    JAX's `stop_gradient` leaves no trace in the text.

    `sigmoid`: 1 / (1 + exp(-x)) in its spellings becomes `stablehlo.logistic`, whose
    derivative is finite where exp(-x) is infinite.

    `norm`: (x - mean) / sqrt(variance + epsilon) over the last dimensions, in its
    spellings, becomes `nn.layer_norm`; x / sqrt(mean(x^2) + epsilon) becomes
    `nn.rms_norm`. Scale and bias stay as ops of their own. Over all dimensions but
    one it becomes `nn.batch_norm`, with scale and bias, and what reads mean and
    variance reads the op's.

    `activation`: x/2 * (1 + erf(x / sqrt 2)), with erfc too, and its approximation by
    tanh become `nn.gelu`, x times its logistic function becomes `nn.silu`.

    `rotary`: x * cos + (-b, a) * sin, where a and b are the halves of the last
    dimension of x, and (a * cos - b * sin, b * cos + a * sin) become `nn.rotary`,
    and so does the second of some elements alone.

    `softmax`: what is left of softmax and log-softmax along one dimension becomes
    `nn.softmax` and `nn.log_softmax`, where the shift is the maximum.

    `log-sum-exp`: log(sum(exp(x - m))) + m along any dimensions becomes
    `nn.log_sum_exp` where m is the maximum, or 0 where that is infinite.

    Each recognition checks shapes, dimensions and all uses of what is inside; what
    looks similar but fails a check stays as it is, with a remark.
  }];
  let options = [
    Option<"crossEntropy", "cross-entropy", "bool", "true", "recognise softmax cross-entropy">,
    Option<"attention", "attention", "bool", "true", "recognise attention">,
    Option<"rotary", "rotary", "bool", "true", "recognise rotary embeddings">,
    Option<"softmaxShift", "softmax-shift", "bool", "true", "recognise shifts that cancel">,
    Option<"sigmoid", "sigmoid", "bool", "true", "recognise the logistic function">,
    Option<"norm", "norm", "bool", "true", "recognise layer norms, RMS norms and batch norms">,
    Option<"activation", "activation", "bool", "true", "recognise GELU and SiLU">,
    Option<"softmax", "softmax", "bool", "true", "recognise softmax and log-softmax">,
    Option<"logSumExp", "log-sum-exp", "bool", "true", "recognise log-sum-exps">
  ];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::nn::NNDialect"];
}

def HoistInvariantsPass : Pass<"llmc-hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "Compute once what is equal in all trips of a loop";
  let description = [{
    An op of a trip that reads only what enters the loop as it is moves out of it, and
    its results enter in its place, unless they have more elements than its operands.
    So nothing of it is kept for each trip. Functions that have their derivative stay
    as they are.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def SplitLoopsPass : Pass<"llmc-split-loops", "::mlir::ModuleOp"> {
  let summary = "Cut loops into one for each chunk of the pipeline";
  let description = [{
    With a pipeline of n chunks a loop becomes n loops (or one for each trip), each
    over its part of the trips. Without a pipeline nothing changes.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def FindBlocksPass : Pass<"llmc-find-blocks", "::mlir::ModuleOp"> {
  let summary = "Mark prologue, repeated blocks and epilogue";
  let description = [{
    Gives each op of a forward function its `dist.block`: 0 for the prologue, 1 to n
    for the layers, n + 1 for what stands after them, and so on where layers of
    another kind follow, to the epilogue; 0 everywhere where nothing repeats. Where
    there are loops, each is a block, and so is what stands between them.
    A graph with fewer blocks than the mesh has pipeline stages is cut into as
    many blocks, at places where few bytes cross, with the work in balance.
    Of a function that has its derivative already, what the loss depends on has
    blocks for a pipeline; without one all is block 0.
    A thin layer over `findBlocks` (Solvers/Blocks/BlockFinder.h).
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def SplitContractionsPass : Pass<"llmc-split-contractions", "::mlir::ModuleOp"> {
  let summary = "A slice of a product becomes a product with a slice";
  let description = [{
    Where all uses of a value are slices of one dimension, and it comes by a
    contraction from a state whose row splits that dimension, each slice is
    computed from slices of the states: through bias, reshape and transpose,
    by the ops' sharding rules.

    ```mlir
    %y = stablehlo.dot_general %x, %W ...
    %q = stablehlo.slice %y [0:8, 0:4]
    // becomes
    %w = stablehlo.slice %W [0:8, 0:4]
    %q = stablehlo.dot_general %x, %w ...
    ```
    `llmc-split-states` then stores the state in parts. Rows that do not split
    the dimension keep the one product, which is faster.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect"];
}

def SplitStepPass : Pass<"llmc-split-step", "::mlir::ModuleOp"> {
  let summary = "A step of the text becomes a microbatch and an update";
  let description = [{
    For each `dist.training` without an optimizer, whose forward function returns new
    states: what depends on the batch goes to `@train.microbatch`, up to the values that
    the update takes, and the rest to `@train.update`. A value crosses as the gradient of a
    state that is computed from it place by place, or as the sum of a metric; the fewest
    bytes cross. Makes `@evaluate` and the `dist.step`. A parameter that gets no gradient
    becomes a carried state; optimizer states without a row lie as their parameter's
    row says.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def SumLossPass : Pass<"llmc-sum-loss", "::mlir::ModuleOp"> {
  let summary = "The loss as a sum and a count";
  let description = [{
    For each `dist.training @train forward(@loss)` makes `@train.microbatch`, which
    returns the sum of the loss and the count by which the text divides, and
    `@evaluate`, which returns their quotient as a metric. So sums over microbatches and
    devices are divided once, by the total count, and nothing averages averages.

    ```mlir
    %m = stablehlo.divide %sum, %c : tensor<f32>     // %c = 1024
    return %m                                        -> return %sum, %c
    ```
    The division may be a multiplication by a constant, and scalar ops may stand
    around it. A loss of several means is its own sum, with count 1. With more
    than one microbatch a loss must be linear in means over the batch, or the
    recipe must have `mean_of_microbatches`. Several counts of the data are
    counted first, by the entry `@train.counts`. Where the text has the gradients of the
    loss, the sum is the loss and the count 1.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def DifferentiatePass : Pass<"llmc-differentiate", "::mlir::ModuleOp"> {
  let summary = "Append the derivative to @<training>.microbatch";
  let description = [{
    One reverse sweep over the function, which asks each op for its
    vector-Jacobian product (`DerivativeOpInterface`). Results `gradient`
    are added, one for each parameter. Each op gets its `dist.phase`; a derivative op
    takes the `dist.block` of its forward op and the location
    `fused<"backward">[forward]`.

    A derivative op is `backward_input` when it leads to the cotangent of an activation
    that came from an earlier block, and `backward_weight` otherwise.

    Some of JAX's functions (`relu`, `logaddexp`, …) have a derivative that is not
    that of their ops; where one of them is found (JaxFunctions.mlir) its derivative
    is taken instead.

    A function that returns gradients of the text gets marks alone: what the loss
    depends on is `forward`, all else `backward_weight`.

    All ops without a derivative are reported in one error.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def BuildUpdatePass : Pass<"llmc-build-update", "::mlir::ModuleOp"> {
  let summary = "Make @<training>.update and the dist.step";
  let description = [{
    Divides gradients by the total count, bounds their global norm, and applies
    the optimizer's function to each parameter. The function states its arguments by
    ports: `parameter`, `gradient`, `moment "m"` (a state of the optimizer, made
    here with zeros) and `hyper @lr`. Written on tensors of
    one element it is applied to each element; written on the parameter's shape
    it is taken as it is.
    Metrics: loss, grad_norm, lr.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def SplitStatesPass : Pass<"llmc-split-states", "::mlir::ModuleOp"> {
  let summary = "A state that is used in parts is stored in parts";
  let description = [{
    A parameter whose row splits a dimension along which each of its uses in
    every program is a slice becomes parts, its optimizer states and its
    gradient too:

    ```mlir
    dist.state @W.0 part of @W box([0, 0] [8, 4]) : tensor<8x4xf32> {role = parameter}
    ```
    The update's element-wise ops are built on each part; sums over the whole
    become sums over the parts. Parts have the row of their whole.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def PairLoopsPass : Pass<"llmc-pair-loops", "::mlir::ModuleOp"> {
  let summary = "A loop that undoes another one is its reversed loop";
  let description = [{
    Of a text that has its derivative: a loop of the backward that reads the
    states of a forward loop, from the last trip to the first, reads them where
    the forward loop makes them, and all other stacks from their last row on:

    ```mlir
    %ys = dist.leave stack %y of <"f", trips = 5>
    %rs = stablehlo.reverse %ys, dims = [0]
    %r = dist.enter row %rs of <"b", trips = 5>
    %g = multiply %c, %r
    %gs = dist.leave stack %g of <"b", trips = 5>
    // ->
    %g = multiply %c, %y
    %gs = dist.leave stack %g of <"f", trips = 5, reversed = true>
    %gs' = stablehlo.reverse %gs, dims = [0]
    ```
    So no stack is copied to be read backwards, and what is kept of a trip is
    chosen as for a derivative of llmc's own. Loops in others are paired after
    these: with one in the same trip of the forward loop, or with one that runs
    again in the trip of the backward loop itself.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect"];
}

def CountFlopsPass : Pass<"llmc-count-flops", "::mlir::ModuleOp"> {
  let summary = "How much a step of the model computes";
  let description = [{
    Steps and entries get the mark `dist.model_flops`: the sum of what their ops say
    (`OpCost::modelFlops`), in each trip of loops and each microbatch. From it a run
    prints how much of `machine.flops` the model uses. There is none where floats of
    eight bits are multiplied, which is done at another rate.

    ```mlir
    // @m multiplies 8x16 by 16x32 forward, and twice as much backward.
    dist.step @train microbatch(@m) update(@u) microbatches(2) ...
    // becomes
    dist.step @train microbatch(@m) update(@u) microbatches(2) ... {dist.model_flops = 4.9152e+04 : f64}
    ```
  }];
}

def NarrowPass : Pass<"llmc-narrow", "::mlir::ModuleOp"> {
  let summary = "Contractions multiply narrow floats";
  let description = [{
    Where a step has the mark `dist.precision`, each op of its microbatch function
    and of entries that has factors (PrecisionOpInterface) multiplies floats of that
    type; one that reads a state with the mark, or makes its gradient, those of the
    state's. Sums, results and all other ops stay wide, and so do states and updates.

    ```mlir
    %y = stablehlo.dot_general %x, %W : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    // becomes
    %xn = stablehlo.convert %x : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    %Wn = stablehlo.convert %W : (tensor<4x6xf32>) -> tensor<4x6xbf16>
    %y = stablehlo.dot_general %xn, %Wn : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xf32>
    ```
    The backward reads the narrow values of the forward. Conversions stand before ops
    that move a value. With floats of eight bits, ops that are linear in each factor
    multiply `nn.quantize` of their factors, with a scale that is a power of two, and
    their result is divided by both scales; others multiply bf16.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect", "::llmc::dist::DistDialect", "::llmc::nn::NNDialect"];
}

def VerifyTrainingPass : Pass<"llmc-verify-training", "::mlir::ModuleOp"> {
  let summary = "Check what holds after phase 1";
  let description = [{
    No `dist.training` and no calls remain; each op of a microbatch function has a block and a phase,
    blocks never feed an earlier block in the forward graph; each op of an
    update has phase `update`; each parameter that is read has a gradient, and
    each state that an update reads is written, constants aside; no mark of this phase's own passes is
    left.
  }];
}

#endif // LLMC_TRANSFORMS_TRAINING_PASSES_TD
