// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected parameter, optimizer, carried or constant, got 'weight'}}
dist.state @w : tensor<4xf32> {role = weight}

// -----

// expected-error @+1 {{expected one each of 'of', 'row', 'source' and 'optimizer', got 'init'}}
dist.state @w : tensor<4xf32> {role = parameter, init = 0}

// -----

// expected-error @+1 {{'dist.state' op expected numbers in a static shape without encoding, got 'tensor<?xf32>'}}
dist.state @w : tensor<?xf32> {role = parameter}

// -----

// expected-error @+1 {{'dist.state' op expected `of` on optimizer states alone, got it on role 'parameter'}}
dist.state @w : tensor<4xf32> {role = parameter, of = @w}

// -----

// expected-error @+1 {{'dist.state' op expected `of = @parameter` of an optimizer state}}
dist.state @w : tensor<4xf32> {role = optimizer}

// -----

// expected-error @+1 {{'dist.state' op expected parameter @w in the module, got none}}
dist.state @m : tensor<4xf32> {role = optimizer, of = @w}

// -----

// expected-error @+1 {{'dist.state' op expected a #dist.draw or #dist.file as source, got 1 : i64}}
dist.state @w : tensor<4xf32> {role = parameter, source = 1}

// -----

// expected-error @+1 {{'dist.state' op expected float elements for a random source, got 'i32'}}
dist.state @w : tensor<4xi32> {role = carried, source = #dist.draw<normal, 1.0>}

// -----

// expected-error @+1 {{'dist.state' op expected a source of 16 bytes, got 8}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"f", 0, 8>}

// -----

// expected-error @+1 {{'dist.state' op expected layouts of 1 dims in its row, got 2}}
dist.state @w : tensor<4xf32> {role = parameter, row = #dist.row<use = <@mesh, [{}, {}]>>}

// -----

// expected-error @+1 {{'dist.state' op expected integer or float types in its row, got 'index'}}
dist.state @w : tensor<4xf32> {role = parameter, row = #dist.row<stored = index>}

// -----

// expected-error @+1 {{'dist.state' op expected state @w in the module, got none}}
dist.state @w.0 part of @w box([0] [4]) : tensor<4xf32> {role = parameter}

// -----

dist.state @w : tensor<8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected a box of the part's shape}}
dist.state @w.0 part of @w box([0] [2]) : tensor<4xf32> {role = parameter}

// -----

dist.state @w : tensor<8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op is a part and takes initial values from its whole, got source #dist.draw<zeros>}}
dist.state @w.0 part of @w box([0] [4]) : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}

// -----

// expected-note @+1 {{whole state is defined here}}
dist.state @w : tensor<8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected a box inside 'tensor<8xf32>', got offset 6 and size 4}}
dist.state @w.0 part of @w box([6] [4]) : tensor<4xf32> {role = parameter}

// -----

// expected-note @+1 {{whole state is defined here}}
dist.state @w : tensor<8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected role 'parameter' of its whole, got 'constant'}}
dist.state @w.0 part of @w box([0] [4]) : tensor<4xf32> {role = constant}

// -----

// expected-note @+1 {{whole state is defined here}}
dist.state @w : tensor<8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected rank and element type of 'tensor<8xf32>', got 'tensor<4xf64>'}}
dist.state @w.0 part of @w box([0] [4]) : tensor<4xf64> {role = parameter}

// -----

dist.state @w : tensor<8xf32> {role = parameter}
// expected-note @+1 {{whole state is defined here}}
dist.state @w.0 part of @w box([0] [4]) : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected a whole state, got part w.0}}
dist.state @w.0.0 part of @w.0 box([0] [2]) : tensor<2xf32> {role = parameter}

// -----

// expected-error @+1 {{'dist.state' op expected a box on parts alone}}
"dist.state"() {sym_name = "w", type = tensor<4xf32>, role = #dist<role parameter>, box_sizes = array<i64: 4>} : () -> ()

// -----

// expected-error @+1 {{'dist.buffer' op expected at least one box}}
dist.buffer @b of @b : tensor<4xf32> holds []

// -----

dist.mesh @mesh = <"x"=2>
// expected-error @+1 {{'dist.buffer' op expected state @w in the module, got none}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected rank and element type of state @w, 'tensor<4xf32>', got 'tensor<4xf64>'}}
dist.buffer @b of @w : tensor<4xf64> holds [#dist.box<@w, <@mesh, [{}]>, [0]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected the box of @w inside 'tensor<4xf32>', got offset 3 and size 2}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{"x"}]>, [3]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected boxes apart, got those of @w and @w overlapping}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{"x"}]>, [0]>, #dist.box<@w, <@mesh, [{"x"}]>, [1]>]

// -----

dist.mesh @mesh = <"x"=3>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected dim 0 of size 4 to be divisible by axis "x" of size 3, which meets an extent of 4}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{"x"}]>, [0]>]

// -----

dist.mesh @mesh = <"x"=3>
dist.state @w : tensor<4x4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected a layout of 2 dims, got 1}}
dist.buffer @b of @w : tensor<4x4xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0]>]

// -----

// expected-error @+1 {{'dist.hyper' op expected a tensor of rank 0 of a float or signless integer, got 'tensor<1xf32>'}}
dist.hyper @lr : tensor<1xf32> = <external>

// -----

// expected-error @+1 {{'dist.hyper' op expected a float for rule 'constant', got 'i32'}}
dist.hyper @lr : tensor<i32> = <constant, base = 1.0>

// -----

// expected-error @+1 {{'dist.mesh' op expected axes of the mesh in 'machine', got "y"}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 1.0>], axes = {y = "a"}>

// -----

// expected-error @+1 {{'dist.execution' op expected at least 1 thread, got 0}}
dist.execution seed(1) threads(0)

// -----

dist.execution seed(1) threads(1)
// expected-error @+1 {{'dist.execution' op expected once in a module}}
dist.execution seed(2) threads(1)

// -----

// expected-error @+1 {{'dist.state' op expected a layout of optimizer states in the row of a parameter alone}}
dist.state @w : tensor<4xf32> {role = carried, row = #dist.row<optimizer = <@mesh, [{}]>>}

// -----

dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4xf32> {role = parameter}
dist.state @v : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected boxes of @w or its parts, got @v}}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@v, #dist.layout<@mesh, [{}]>, [0]>]
