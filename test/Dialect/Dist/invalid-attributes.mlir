// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected zeros, ones, constant, uniform, normal or truncated_normal, got 'gamma'}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<gamma>}

// -----

// expected-error @+1 {{expected 1 to 2 numbers for 'normal', got 0}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<normal>}

// -----

// expected-error @+1 {{expected finite numbers, got INF}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<constant, 0x7FF0000000000000>}

// -----

// expected-error @+1 {{expected a deviation of at least 0, got -1}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<normal, -1.0>}

// -----

// expected-error @+1 {{expected bounds in ascending order, got}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<uniform, 1.0, 0.0>}

// -----

// expected-error @+1 {{expected the path of a file, got ""}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"", 0, 16>}

// -----

// expected-error @+1 {{expected offset and bytes of at least 0, got -1 and 16}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"f", -1, 16>}

// -----

// expected-error @+1 {{expected an integer or float type, got 'index'}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"f", 0, 16, index>}

// -----

// expected-error @+1 {{expected step, seed, external, constant, warmup_constant, warmup_linear or warmup_cosine, got 'cosine'}}
dist.hyper @lr : tensor<f32> = <cosine>

// -----

// expected-error @+1 {{expected base, last, warmup or total, got 'first'}}
dist.hyper @lr : tensor<f32> = <constant, first = 1.0>

// -----

// expected-error @+1 {{expected warmup and total of at least 0, got -1 and 0}}
dist.hyper @lr : tensor<f32> = <warmup_linear, base = 1.0, warmup = -1>

// -----

// expected-error @+1 {{expected finite numbers, got INF}}
dist.hyper @lr : tensor<f32> = <constant, base = 0x7FF0000000000000>

// -----

dist.state @w : tensor<4xf32> {role = parameter}
// expected-error @+1 {{expected 1 offsets for state @w, got 2}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0, 0]>]

// -----

// expected-error @+1 {{expected offsets of at least 0, got -1}}
dist.buffer @b of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{}]>, [-1]>]

// -----

func.func private @f()
// expected-error @+1 {{expected a number of blocks for 'every' alone, got 0 for 'every'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) recompute(<every>)

// -----

func.func private @f()
// expected-error @+1 {{expected no option of a schedule but 'chunks' from 1 to 1024, got "chunks" = 0 : i64}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe with {chunks = 0}>)

// -----

func.func private @f()
// expected-error @+1 {{expected the name of a schedule, got ""}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<"">)

// -----

func.func private @f()
// expected-error @+1 {{expected a row of 2 cells, got 1}}
dist.entry @t function(@f) table(<["F0.0 .", "."]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'F0'}}
dist.entry @t function(@f) table(<["F0"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'X0.0'}}
dist.entry @t function(@f) table(<["X0.0"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'F2147483648.0'}}
dist.entry @t function(@f) table(<["F2147483648.0"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'F0.2147483648'}}
dist.entry @t function(@f) table(<["F0.2147483648"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'F0.-1'}}
dist.entry @t function(@f) table(<["F0.-1"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'F+1.0'}}
dist.entry @t function(@f) table(<["F+1.0"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'F0.x'}}
dist.entry @t function(@f) table(<["F0.x"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'U0.0'}}
dist.entry @t function(@f) table(<["U0.0"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected a cell such as 'F0.1', 'U' or '.', got 'UU'}}
dist.entry @t function(@f) table(<["UU"]>)

// -----

// The largest chunk and microbatch.
func.func private @f()
dist.entry @t function(@f) table(<["F2147483647.2147483647 U"]>)

// -----

func.func private @f()
// expected-error @+1 {{expected rows of at least one cell, got 0 cells in 0 slots}}
dist.entry @t function(@f) table(<[]>)

// -----

// expected-error @+1 {{expected a chunk unless the phase is update, got -1 for 'forward'}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = forward, at = [0]>]) transfers([]) table(<["."]>)

// -----

// expected-error @+1 {{expected a pipeline coordinate of program @f}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = []>]) transfers([]) table(<["."]>)

// -----

// expected-error @+1 {{expected ascending coordinates from 0 on, got 0}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [1, 0]>]) transfers([]) table(<["."]>)

// -----

// expected-error @+1 {{expected the name of a source, got ""}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"">>})

// -----

// expected-error @+1 {{expected an offset in [0, 2^62), got -1}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", offset = -1>>})

// -----

// expected-error @+1 {{expected an offset in [0, 2^62), got 4611686018427387904}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", offset = 4611686018427387904>>})

// -----

// expected-error @+1 {{expected an integer type that is stored, of tokens alone, got 'f32' of tokens}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", dtype = f32>>})

// -----

// expected-error @+1 {{expected an integer type that is stored, of tokens alone, got 'i7' of tokens}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", dtype = i7>>})

// -----

// expected-error @+1 {{expected an integer type that is stored, of tokens alone, got 'ui8' of array}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", kind = array, dtype = ui8>>})

// -----

// expected-error @+1 {{expected the name of a tensor, of an array alone, got "t" of tokens}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", tensor = "t">>})

// -----

// expected-error @+1 {{expected the name of a tensor, of an array alone, got "" of array}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", kind = array, tensor = "">>})
