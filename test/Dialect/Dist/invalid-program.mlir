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

// -----

// expected-error @+1 {{expected one each of 'of', 'row', 'source' and 'optimizer', got 'of'}}
dist.state @m : tensor<4xf32> {role = optimizer, of = @w, of = @v}

// -----

// expected-error @+1 {{expected one each of 'of', 'row', 'source' and 'optimizer', got 'row'}}
dist.state @w : tensor<4xf32> {role = parameter, row = #dist.row<stored = f32>, row = #dist.row<stored = f32>}

// -----

// expected-error @+1 {{expected one each of 'of', 'row', 'source' and 'optimizer', got 'source'}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>, source = #dist.draw<ones>}

// -----

// expected-error @+1 {{expected one each of 'of', 'row', 'source' and 'optimizer', got 'optimizer'}}
dist.state @w : tensor<4xf32> {role = parameter, optimizer = @f, optimizer = @g}

// -----

// expected-error @+1 {{'dist.state' op expected numbers in a static shape without encoding, got 'tensor<4xf32, #dist.layout<@mesh, [{}]>>'}}
dist.state @w : tensor<4xf32, #dist.layout<@mesh, [{}]>> {role = parameter}

// -----

// expected-error @+1 {{'dist.state' op expected numbers in a static shape without encoding, got 'tensor<4xcomplex<f32>>'}}
dist.state @w : tensor<4xcomplex<f32>> {role = parameter}

// -----

dist.state @c : tensor<4xf32> {role = carried}
// expected-error @+1 {{'dist.state' op expected parameter @c in the module, got none}}
dist.state @m : tensor<4xf32> {role = optimizer, of = @c}

// -----

// expected-error @+1 {{'dist.state' op expected float elements for a random source, got 'i32'}}
dist.state @w : tensor<4xi32> {role = carried, source = #dist.draw<uniform, 0.0, 1.0>}

// -----

// The bytes are those of the file's type, or of the state's: an i1 takes a whole one.
dist.state @a : tensor<4xf32> {role = parameter, source = #dist.file<"f", 0, 8, bf16>}
dist.state @b : tensor<4xi1> {role = carried, source = #dist.file<"f", 0, 4>}
dist.state @c : tensor<4xi32> {role = carried, source = #dist.draw<constant, 3.0>}
// expected-error @+1 {{'dist.state' op expected a source of 8 bytes, got 16}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"f", 0, 16, f16>}

// -----

// expected-error @+1 {{'dist.state' op expected layouts of 2 dims in its row, got 1}}
dist.state @w : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {}]>, optimizer = <@mesh, [{}]>>}

// -----

// expected-error @+1 {{'dist.state' op expected layouts of 2 dims in its row, got 1}}
dist.state @w : tensor<4x4xf32> {role = parameter, row = #dist.row<gradient = <@mesh, [{}]>>}

// -----

// expected-error @+1 {{'dist.state' op expected integer or float types in its row, got 'index'}}
dist.state @w : tensor<4xf32> {role = parameter, row = #dist.row<stored = f32, accumulate = index>}

// -----

dist.state @w : tensor<8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected a box of the part's shape}}
dist.state @w.0 part of @w box([0, 0] [4]) : tensor<4xf32> {role = parameter}

// -----

// expected-error @+1 {{'dist.state' op expected a box on parts alone}}
"dist.state"() {sym_name = "w", type = tensor<4xf32>, role = #dist<role parameter>, box_offsets = array<i64: 0>} : () -> ()

// -----

// expected-error @+1 {{'dist.state' op expected a box of the part's shape}}
"dist.state"() {sym_name = "w.0", type = tensor<4xf32>, role = #dist<role parameter>, part_of = @w, box_sizes = array<i64: 4>} : () -> ()

// -----

// expected-note @+1 {{whole state is defined here}}
dist.state @w : tensor<8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected rank and element type of 'tensor<8xf32>', got 'tensor<4x1xf32>'}}
dist.state @w.0 part of @w box([0, 0] [4, 1]) : tensor<4x1xf32> {role = parameter}

// -----

// expected-note @+1 {{whole state is defined here}}
dist.state @w : tensor<8x8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected a box inside 'tensor<8x8xf32>', got offset -1 and size 4}}
dist.state @w.0 part of @w box([0, -1] [4, 4]) : tensor<4x4xf32> {role = parameter}

// -----

// expected-note @+1 {{whole state is defined here}}
dist.state @w : tensor<8x8xf32> {role = parameter}
// expected-error @+1 {{'dist.state' op expected a box inside 'tensor<8x8xf32>', got offset 9 and size 0}}
dist.state @w.0 part of @w box([0, 9] [4, 0]) : tensor<4x0xf32> {role = parameter}

// -----

// The last boxes inside a state.
dist.state @w : tensor<8x8xf32> {role = parameter}
dist.state @w.0 part of @w box([4, 0] [4, 8]) : tensor<4x8xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 8] [4, 0]) : tensor<4x0xf32> {role = parameter}

// -----

// expected-error @+1 {{'dist.buffer' op expected numbers in a static shape without encoding, got 'tensor<?xf32>'}}
dist.buffer @b of @b : tensor<?xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected state @v in the module, got none}}
dist.buffer @b of @w : tensor<8xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0]>, #dist.box<@v, <@mesh, [{}]>, [4]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected rank and element type of state @w, 'tensor<4xf32>', got 'tensor<4x1xf32>'}}
dist.buffer @b of @w : tensor<4x1xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0]>]

// -----

dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected mesh @mesh in the module, got none}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected an axis of the mesh, got "y"}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{"y"}]>, [0]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4x0xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected the box of @w inside 'tensor<4x2xf32>', got offset 3 and size 0}}
dist.buffer @b of @w : tensor<4x2xf32> holds [#dist.box<@w, <@mesh, [{}, {}]>, [0, 3]>]

// -----

// Boxes one after the other, beside each other, and in any order.
dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4x4xf32> {role = parameter}
dist.buffer @b of @w : tensor<4x8xf32> holds [#dist.box<@w, <@mesh, [{"x"}, {}]>, [2, 4]>, #dist.box<@w, <@mesh, [{"x"}, {}]>, [0, 4]>,
                                              #dist.box<@w, <@mesh, [{"x"}, {}]>, [2, 0]>, #dist.box<@w, <@mesh, [{"x"}, {}]>, [0, 0]>]

// -----

dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4x4xf32> {role = parameter}
dist.state @w.0 part of @w box([0, 0] [4, 2]) : tensor<4x2xf32> {role = parameter}
// expected-error @+1 {{'dist.buffer' op expected boxes apart, got those of @w and @w.0 overlapping}}
dist.buffer @b of @w : tensor<8x4xf32> holds [#dist.box<@w, <@mesh, [{"x"}, {}]>, [4, 0]>, #dist.box<@w, <@mesh, [{}, {"x"}]>, [0, 0]>, #dist.box<@w.0, <@mesh, [{"x"}, {}]>, [2, 1]>]

// -----

// expected-error @+1 {{'dist.hyper' op expected a tensor of rank 0 of a float or signless integer, got 'tensor<f32, #dist.layout<@mesh, []>>'}}
dist.hyper @lr : tensor<f32, #dist.layout<@mesh, []>> = <external>

// -----

// expected-error @+1 {{'dist.hyper' op expected a tensor of rank 0 of a float or signless integer, got 'tensor<ui32>'}}
dist.hyper @lr : tensor<ui32> = <external>

// -----

// expected-error @+1 {{'dist.hyper' op expected a float for rule 'warmup_cosine', got 'i32'}}
dist.hyper @lr : tensor<i32> = <warmup_cosine, base = 1.0>

// -----

dist.hyper @n : tensor<i32> = <external>
dist.hyper @s : tensor<i64> = <seed>

// -----

// expected-error @+1 {{'dist.mesh' op expected axes of the mesh in 'machine', got "y"}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 1.0>], axes = {x = "a", y = "a"}>

// -----

dist.execution seed(1) threads(1)
func.func private @between()
// expected-error @+1 {{'dist.execution' op expected once in a module}}
dist.execution seed(1) threads(1)
