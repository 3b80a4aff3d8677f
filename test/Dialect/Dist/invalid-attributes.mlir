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

// expected-error @+1 {{expected an element type that the runtime reads, got 'index'}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"f", 0, 16, index>}

// -----

// expected-error @+1 {{expected an element type that the runtime reads, got 'f4E2M1FN'}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"f", 0, 4, f4E2M1FN>}

// -----

// expected-error @+1 {{expected an element type that the runtime reads, got 'i2'}}
dist.state @w : tensor<4xi32> {role = carried, source = #dist.file<"f", 0, 4, i2>}

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

// expected-error @+1 {{expected a limit of at least 0, got -1}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", limit = -1>>})

// -----

// expected-error @+1 {{expected at most 4096 weights, each from 1 to 1000000}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", weights = [1, 0]>>})

// -----

// expected-error @+1 {{expected a share in [0, 1) that is held out}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", held_out = 1.0 : f64>>})

// -----

// expected-error @+1 {{expected windows of tokens where each comes once}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", kind = array, once = true>>})

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

// -----

// expected-error @+1 {{expected links with names of their own, got "a" twice}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 1.0>, #dist.link<"a", latency = 0.0, bandwidth = 2.0>]>

// -----

// expected-error @+1 {{expected a link class of axis "x" among the links, got "b"}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 1.0>], axes = {x = "b"}>

// -----

// expected-error @+1 {{expected links to be #dist.link, got "a"}}
dist.mesh @mesh = <"x"=2> machine <links = ["a"]>

// -----

// expected-error @+2 {{expected bandwidth to be a finite f64 above 0, got 0.000000e+00 : f64}}
// expected-error @+1 {{failed to parse Dist_MachineAttr parameter 'links'}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 0.0>]>

// -----

// expected-error @+2 {{expected latency to be a finite f64 of at least 0, got -1.000000e+00 : f64}}
// expected-error @+1 {{failed to parse Dist_MachineAttr parameter 'links'}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = -1.0, bandwidth = 1.0>]>

// -----

// expected-error @+1 {{expected flops to be a finite f64 of at least 0, got 1.000000e+00 : f32}}
dist.mesh @mesh = <"x"=2> machine <flops = 1.0 : f32>

// -----

// expected-error @+2 {{expected a link with a name, got ""}}
// expected-error @+1 {{failed to parse Dist_MachineAttr parameter 'links'}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"", latency = 0.0, bandwidth = 1.0>]>

// -----

// expected-error @+1 {{expected 0 to 0 numbers for 'zeros', got 1}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros, 1.0>}

// -----

// expected-error @+1 {{expected 1 to 1 numbers for 'constant', got 2}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<constant, 1.0, 2.0>}

// -----

// expected-error @+1 {{expected 2 to 2 numbers for 'uniform', got 1}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<uniform, 1.0>}

// -----

// expected-error @+1 {{expected 2 to 2 numbers for 'uniform', got 3}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<uniform, 1.0, 2.0, 3.0>}

// -----

// expected-error @+1 {{expected 1 to 2 numbers for 'truncated_normal', got 3}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<truncated_normal, 1.0, 2.0, 3.0>}

// -----

// expected-error @+1 {{expected 1 to 2 numbers for 'truncated_normal', got 0}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<truncated_normal>}

// -----

// expected-error @+1 {{expected finite numbers, got nan}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<normal, 1.0, 0x7FF8000000000000>}

// -----

// expected-error @+1 {{expected a deviation of at least 0, got -5.000000e-01}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<truncated_normal, -0.5>}

// -----

// Numbers that are accepted just so: no deviation, equal bounds, negative numbers where they mean no deviation.
dist.state @a : tensor<4xf32> {role = parameter, source = #dist.draw<normal, 0.0, -1.0>}
dist.state @b : tensor<4xf32> {role = parameter, source = #dist.draw<uniform, -1.0, -1.0>}
dist.state @c : tensor<4xf32> {role = parameter, source = #dist.draw<constant, -1.0>}
dist.state @d : tensor<0xf32> {role = parameter, source = #dist.file<"f", 0, 0>}

// -----

// expected-error @+1 {{expected offset and bytes of at least 0, got 0 and -1}}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.file<"f", 0, -1>}

// -----

// expected-error @+1 {{expected warmup and total of at least 0, got 0 and -1}}
dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 1.0, total = -1>

// -----

// expected-error @+1 {{expected finite numbers, got nan}}
dist.hyper @lr : tensor<f32> = <constant, last = 0x7FF8000000000000>

// -----

// expected-error @+1 {{expected offsets of at least 0, got -2}}
dist.buffer @b of @w : tensor<4x4xf32> holds [#dist.box<@w, <@mesh, [{}, {}]>, [0, -2]>]

// -----

func.func private @f()
// expected-error @+1 {{expected a number of blocks for 'every' alone, got 1 for 'all'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) recompute(<all, 1>)

// -----

func.func private @f()
// expected-error @+1 {{expected a number of blocks for 'every' alone, got -1 for 'every'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) recompute(<every, -1>)

// -----

// The fewest and the most chunks.
func.func private @schedules() attributes {a = #dist.schedule<gpipe with {chunks = 1}>, b = #dist.schedule<gpipe with {chunks = 1024}>}

// -----

// expected-error @+1 {{expected no option of a schedule but 'chunks' from 1 to 1024, got "chunks" = 1025 : i64}}
func.func private @schedule() attributes {a = #dist.schedule<gpipe with {chunks = 1025}>}

// -----

// expected-error @+1 {{expected no option of a schedule but 'chunks' from 1 to 1024, got "stages" = 2 : i64}}
func.func private @schedule() attributes {a = #dist.schedule<gpipe with {chunks = 2, stages = 2}>}

// -----

// expected-error @+1 {{expected no option of a schedule but 'chunks' from 1 to 1024, got "chunks" = "2"}}
func.func private @schedule() attributes {a = #dist.schedule<gpipe with {chunks = "2"}>}

// -----

// expected-error @+1 {{expected no option of a schedule but 'chunks' from 1 to 1024, got "chunks" = 36893488147419103234 : i128}}
func.func private @schedule() attributes {a = #dist.schedule<gpipe with {chunks = 36893488147419103234 : i128}>}

// -----

// expected-error @+1 {{integer value too large}}
func.func private @schedule() attributes {a = #dist.schedule<18446744073709551616f1b>}

// -----

// expected-error @+1 {{expected a chunk unless the phase is update, got 0 for 'update'}}
func.func private @program() attributes {a = #dist.program<@f, chunk = 0, phase = update, at = [0]>}

// -----

// expected-error @+1 {{expected a chunk unless the phase is update, got -2 for 'forward'}}
func.func private @program() attributes {a = #dist.program<@f, chunk = -2, phase = forward, at = [0]>}

// -----

// expected-error @+1 {{expected ascending coordinates from 0 on, got -1}}
func.func private @program() attributes {a = #dist.program<@f, phase = update, at = [-1, 0]>}

// -----

// expected-error @+1 {{expected ascending coordinates from 0 on, got 2}}
func.func private @program() attributes {a = #dist.program<@f, phase = update, at = [0, 2, 2]>}

// -----

// The largest offset of a source.
func.func private @f(tensor<4xf32> {dist.port = #dist.port<input "x", data = <"x", offset = 4611686018427387903>>})

// -----

// expected-error @+1 {{expected a link class of axis "y" among the links, got "b"}}
dist.mesh @mesh = <"x"=2, "y"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 1.0>], axes = {x = "a", y = "b"}>

// -----

// expected-error @+1 {{expected a link class of axis "x" among the links, got "a"}}
dist.mesh @mesh = <"x"=2> machine <axes = {x = "a"}>

// -----

// expected-error @+2 {{expected bandwidth to be a finite f64 above 0, got 0x7FF0000000000000 : f64}}
// expected-error @+1 {{failed to parse Dist_MachineAttr parameter 'links'}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = 0.0, bandwidth = 0x7FF0000000000000 : f64>]>

// -----

// expected-error @+2 {{expected latency to be a finite f64 of at least 0, got 0x7FF0000000000000 : f64}}
// expected-error @+1 {{failed to parse Dist_MachineAttr parameter 'links'}}
dist.mesh @mesh = <"x"=2> machine <links = [#dist.link<"a", latency = 0x7FF0000000000000 : f64, bandwidth = 1.0>]>

// -----

// expected-error @+1 {{expected memory to be a finite f64 of at least 0, got -1.000000e+00 : f64}}
dist.mesh @mesh = <"x"=2> machine <flops = 0.0, memory = -1.0>

// -----

// expected-error @+1 {{expected memory_bandwidth to be a finite f64 of at least 0, got -1.000000e+00 : f64}}
dist.mesh @mesh = <"x"=2> machine <memory_bandwidth = -1.0>

// -----

// expected-error @+1 {{expected bucket to be a finite f64 of at least 0, got -1.000000e+00 : f64}}
dist.mesh @mesh = <"x"=2> machine <bucket = -1.0>

// -----

// expected-error @+1 {{expected rates of f64, f32, f16, bf16 or fp8, got "tf32"}}
dist.mesh @mesh = <"x"=2> machine <rates = {tf32 = 1.0}>

// -----

// expected-error @+1 {{expected f32 to be a finite f64 above 0, got 0.000000e+00 : f64}}
dist.mesh @mesh = <"x"=2> machine <rates = {f32 = 0.0}>

// -----

// expected-error @+1 {{expected a rate of "f32" to be a finite f64 above 0, got 1 : i64}}
dist.mesh @mesh = <"x"=2> machine <rates = {f32 = 1}>

// -----

dist.mesh @mesh = <"x"=2> machine <flops = 0.0, memory = 0.0, memory_bandwidth = 0.0, bucket = 0.0, rates = {bf16 = 1.0}>
