// The model of docs/walkthrough.md, as an exporter writes it: an embedding E
// tied with the head, one gated block with a fused projection W1,
// cross-entropy. Locations name the values, so that the phases' texts read like
// the page. Everything else is in walkthrough.toml.

func.func public @main(
    %tok: tensor<8xi32> loc("tok"), %tgt: tensor<8xi32> loc("tgt"),
    %E: tensor<10x4xf32> loc("E"), %W1: tensor<4x12xf32> loc("W1"), %W2: tensor<4x4xf32> loc("W2"))
    -> (tensor<f32> {jax.result_info = "result"}) {
  %rows = stablehlo.reshape %tok : (tensor<8xi32>) -> tensor<8x1xi32> loc("rows")
  %x0 = "stablehlo.gather"(%E, %rows) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                                            start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32> loc("x0")
  %y = stablehlo.dot_general %x0, %W1, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x12xf32>) -> tensor<8x12xf32> loc("y")
  %a = stablehlo.slice %y [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32> loc("a")
  %b = stablehlo.slice %y [0:8, 4:8] : (tensor<8x12xf32>) -> tensor<8x4xf32> loc("b")
  %c = stablehlo.slice %y [0:8, 8:12] : (tensor<8x12xf32>) -> tensor<8x4xf32> loc("c")
  %t = stablehlo.tanh %a : tensor<8x4xf32> loc("t")
  %tb = stablehlo.multiply %t, %b : tensor<8x4xf32> loc("tb")
  %h = stablehlo.add %tb, %c : tensor<8x4xf32> loc("h")
  %u = stablehlo.dot_general %h, %W2, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("u")
  %x1 = stablehlo.add %x0, %u : tensor<8x4xf32> loc("x1")
  %lg = stablehlo.dot_general %x1, %E, contracting_dims = [1] x [1]
      : (tensor<8x4xf32>, tensor<10x4xf32>) -> tensor<8x10xf32> loc("lg")
  %ex = stablehlo.exponential %lg : tensor<8x10xf32> loc("ex")
  %zero = stablehlo.constant dense<0.0> : tensor<f32> loc("zero")
  %se = stablehlo.reduce(%ex init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<8x10xf32>, tensor<f32>) -> tensor<8xf32> loc("se")
  %lse = stablehlo.log %se : tensor<8xf32> loc("lse")
  %lses = stablehlo.broadcast_in_dim %lse, dims = [0] : (tensor<8xf32>) -> tensor<8x10xf32> loc("lses")
  %lp = stablehlo.subtract %lg, %lses : tensor<8x10xf32> loc("lp")
  %i = stablehlo.iota dim = 0 : tensor<8xi32> loc("i")
  %i1 = stablehlo.reshape %i : (tensor<8xi32>) -> tensor<8x1xi32> loc("i1")
  %t1 = stablehlo.reshape %tgt : (tensor<8xi32>) -> tensor<8x1xi32> loc("t1")
  %it = stablehlo.concatenate %i1, %t1, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32> loc("it")
  %pick = "stablehlo.gather"(%lp, %it) <{
      dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
                                            index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 1>}> : (tensor<8x10xf32>, tensor<8x2xi32>) -> tensor<8xf32> loc("pick")
  %l = stablehlo.negate %pick : tensor<8xf32> loc("l")
  %ls = stablehlo.reduce(%l init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<8xf32>, tensor<f32>) -> tensor<f32> loc("ls")
  %n = stablehlo.constant dense<8.0> : tensor<f32> loc("n")
  %mean = stablehlo.divide %ls, %n : tensor<f32> loc("mean")
  return %mean : tensor<f32>
}
