// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected at least 1 microbatch, got 0}}
dist.training @t forward(@f) optimizer(@f) microbatches(0) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected a positive norm to clip at, got 0}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) clip(0.0)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected a float to accumulate in, got 'i32'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) accumulate(i32)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected function @adam in the module, got none}}
dist.training @t forward(@f) optimizer(@adam) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<output "y">})
// expected-error @+1 {{'dist.training' op expected one result 'loss' of @f, got 0}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32>)
// expected-error @+1 {{'dist.entry' op expected argument 0 of @f to be a state, hyper, input, step, microbatch, got no port}}
dist.entry @e function(@f)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.entry' op expected state @w of argument 0 of @f in the module, got none}}
dist.entry @e function(@f)

// -----

dist.state @w : tensor<8xf32> {role = parameter}
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.entry' op expected 'tensor<8xf32>' of state @w for argument 0 of @f, got 'tensor<4xf32>'}}
dist.entry @e function(@f)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.port = #dist.port<hyper @lr>})
// expected-error @+1 {{'dist.entry' op expected hyper value @lr of argument 0 of @f in the module, got none}}
dist.entry @e function(@f)

// -----

dist.hyper @lr : tensor<f64> = <external>
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.port = #dist.port<hyper @lr>})
// expected-error @+1 {{'dist.entry' op expected 'tensor<f64>' of hyper value @lr for argument 0 of @f, got 'tensor<f32>'}}
dist.entry @e function(@f)

// -----

dist.state @w : tensor<f32> {role = parameter}
// expected-note @+1 {{function is defined here}}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.entry' op expected @f to write no state of role 'parameter', got @w}}
dist.entry @e function(@f)

// -----

dist.state @n : tensor<f32> {role = carried}
// expected-note @+1 {{function is defined here}}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<carried @n>})
// expected-error @+1 {{'dist.entry' op expected state @n to be written once by @f}}
dist.entry @e function(@f)

// -----

func.func private @f()
// expected-error @+1 {{'dist.entry' op expected chunks that ascend from 0 by at most 1, got 2 after 0}}
dist.entry @e function(@f) chunks([0, 2])

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected one result 'count' of @f, got 0}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected state @w of result 2 of @f in the module, got none}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<f32> {role = parameter}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
                           tensor<f32> {dist.port = #dist.port<gradient @w>}, tensor<f32> {dist.port = #dist.port<gradient @w>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected one #dist.port<gradient @w> from @f}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
func.func private @u(tensor<f32> {dist.port = #dist.port<gradient @w>})
// expected-error @+1 {{'dist.step' op expected @f to return #dist.port<gradient @w>, which argument 0 of @u takes}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
func.func private @u(tensor<f64> {dist.port = #dist.port<count>})
// expected-error @+1 {{'dist.step' op expected 'tensor<f32>' of #dist.port<count> for argument 0 of @u, got 'tensor<f64>'}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<8xf32> {role = parameter}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected the shape of 'tensor<8xf32>' of state @w for result 2 of @f, got 'tensor<f32>'}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<f32> {role = parameter}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, f32 {dist.port = #dist.port<gradient @w>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected the shape of 'tensor<f32>' of state @w for result 2 of @f, got 'f32'}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4xf32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.training' op expected @f to write no state of role 'parameter', got @w}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<1f1b>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.entry' op expected chunks that ascend from 0 by at most 1, got 1 after 2}}
dist.entry @e function(@f) chunks([0, 1, 2, 1])

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.entry' op expected chunks that ascend from 0 by at most 1, got -1 after 0}}
dist.entry @e function(@f) chunks([-1])

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
dist.entry @e function(@f) chunks([0, 1, 1, 2])

// -----

dist.state @w : tensor<4xf32> {role = parameter}
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<carried @w>})
// expected-error @+1 {{'dist.entry' op expected port 'parameter' of state @w for argument 0 of @f, got 'carried'}}
dist.entry @e function(@f)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<parameter>})
// expected-error @+1 {{'dist.entry' op expected the symbol of a state in the port of argument 0 of @f, got none}}
dist.entry @e function(@f)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f() -> tensor<f32>
// expected-error @+1 {{'dist.entry' op expected result 0 of @f to be a state, loss, output, metric, got no port}}
dist.entry @e function(@f)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.port = #dist.port<loss_sum>})
// expected-error @+1 {{'dist.entry' op expected argument 0 of @f to be a state, hyper, input, step, microbatch, got #dist.port<loss_sum>}}
dist.entry @e function(@f)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
// expected-note @+1 {{function is defined here}}
func.func private @u() -> (tensor<f32> {dist.port = #dist.port<loss_sum>})
// expected-error @+1 {{'dist.step' op expected result 0 of @u to be a state, metric, got #dist.port<loss_sum>}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<metric "acc">})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected result 2 of @f to be a state, loss_sum, count, metric_sum, gradient, got #dist.port<metric "acc">}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected the state of gradient 2 of @f, got none}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<metric_sum "a">})
func.func private @u(tensor<f32> {dist.port = #dist.port<metric_sum "b">})
// expected-error @+1 {{'dist.step' op expected @f to return #dist.port<metric_sum "b">, which argument 0 of @u takes}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f(tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected precision f32, f64, bf16, f16 or f8E4M3FN, got 'f8E5M2'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) {precision = f8E5M2}

// -----

func.func private @f(tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected a loss scale of a power of two and a number of steps, got array<f64: 3.000000e+00, 1.000000e+00>}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) {loss_scale = array<f64: 3.0, 1.0>}

// -----

func.func private @f(tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected a loss scale of a power of two and a number of steps, got array<f64: 4.000000e+00, 0.000000e+00>}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) {loss_scale = array<f64: 4.0, 0.0>}

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<metric "n">})
dist.hyper @n : tensor<f32> = <external>
// expected-error @+1 {{'dist.entry' op expected a training step @train in the module to count for, got none}}
dist.entry @e counts(@train) function(@f)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<metric "n">})
dist.hyper @n : tensor<f32> = <external>
// expected-error @+1 {{'dist.entry' op expected a training step @n in the module to count for, got none}}
dist.entry @e counts(@n) function(@f)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<metric "m">})
dist.hyper @n : tensor<f32> = <external>
dist.timeline @train microbatches(1) programs([]) transfers([]) table(<["."]>)
// expected-error @+1 {{'dist.entry' op expected result 0 of @f to be a metric with the name of an external hyper value, got #dist.port<metric "m">}}
dist.entry @e counts(@train) function(@f)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<metric "n">})
dist.hyper @n : tensor<f32> = <step>
dist.timeline @train microbatches(1) programs([]) transfers([]) table(<["."]>)
// expected-error @+1 {{'dist.entry' op expected result 0 of @f to be a metric with the name of an external hyper value, got #dist.port<metric "n">}}
dist.entry @e counts(@train) function(@f)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<metric "n">})
dist.hyper @n : tensor<f32> = <external>
dist.timeline @train microbatches(1) programs([]) transfers([]) table(<["."]>)
dist.entry @d counts(@train) function(@f)
// expected-error @+1 {{'dist.entry' op expected one entry that counts for @train, got @d before}}
dist.entry @e counts(@train) function(@f)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected a positive norm to clip at, got -1}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) clip(-1.0)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected a positive norm to clip at, got INF}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) clip(0x7FF0000000000000)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected a positive norm to clip at, got nan}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) clip(0x7FF8000000000000)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) {precision = f32}
dist.training @u forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) accumulate(bf16) {precision = f64}

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected function @loss in the module, got none}}
dist.training @t forward(@loss) optimizer(@f) microbatches(1) schedule(<gpipe>)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.port = #dist.port<step>}, tensor<f32>) -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected argument 1 of @f to be a state, hyper, input, step, microbatch, got no port}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.training' op expected one result 'loss' of @f, got 2}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
// expected-error @+1 {{'dist.step' op expected at least 1 microbatch, got 0}}
dist.step @s microbatch(@f) update(@f) microbatches(0) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
// expected-error @+1 {{'dist.step' op expected chunks that ascend from 0 by at most 1, got 3 after 1}}
dist.step @s microbatch(@f) update(@f) microbatches(1) schedule(<gpipe>) chunks([1, 3])

// -----

func.func private @u()
// expected-error @+1 {{'dist.step' op expected function @f in the module, got none}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
// expected-error @+1 {{'dist.step' op expected function @u in the module, got none}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<count>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected one result 'loss_sum' of @f, got 0}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<count>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected one result 'count' of @f, got 2}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected argument 0 of @f to be a state, hyper, input, step, microbatch, got #dist.port<count>}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
// expected-note @+1 {{function is defined here}}
func.func private @u(tensor<f32> {dist.port = #dist.port<input "x">})
// expected-error @+1 {{'dist.step' op expected argument 0 of @u to be a state, hyper, gradient, loss_sum, count, metric_sum, step, got #dist.port<input "x">}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<4xf32> {role = parameter}
// expected-note @+1 {{function is defined here}}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<parameter @w>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected @f to write no state of role 'parameter', got @w}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<4xf32> {role = parameter}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
// expected-note @+1 {{function is defined here}}
func.func private @u() -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4xf32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.step' op expected state @w to be written once by @u}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

// A state that nothing writes is read, and stays.
dist.state @c : tensor<4xf32> {role = constant}
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<constant @c>}, tensor<4xf64> {dist.port = #dist.port<constant @c>})
// expected-error @+1 {{'dist.entry' op expected 'tensor<4xf32>' of state @c for argument 1 of @f, got 'tensor<4xf64>'}}
dist.entry @e function(@f)

// -----

// expected-error @+1 {{'func.func' op expected a port of a result, got #dist.port<constant @c>}}
func.func private @f() -> (tensor<4xf32> {dist.port = #dist.port<constant @c>})

// -----

dist.hyper @lr : tensor<f32> = <external>
// expected-note @+1 {{function is defined here}}
func.func private @f(f32 {dist.port = #dist.port<hyper @lr>})
// expected-error @+1 {{'dist.entry' op expected 'tensor<f32>' of hyper value @lr for argument 0 of @f, got 'f32'}}
dist.entry @e function(@f)

// -----

// expected-error @+1 {{'dist.entry' op expected function @f in the module, got none}}
dist.entry @e function(@f)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<metric "n">}, tensor<f32> {dist.port = #dist.port<output "n">})
dist.hyper @n : tensor<f32> = <external>
dist.timeline @train microbatches(1) programs([]) transfers([]) table(<["."]>)
// expected-error @+1 {{'dist.entry' op expected result 1 of @f to be a metric with the name of an external hyper value, got #dist.port<output "n">}}
dist.entry @e counts(@train) function(@f)

// -----

// States stand before, between and after the sums.
dist.state @n : tensor<f32> {role = carried}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
func.func private @u(tensor<f32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<count>})
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @n : tensor<f32> {role = carried}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
func.func private @u(tensor<f32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f64> {dist.port = #dist.port<count>})
// expected-error @+1 {{'dist.step' op expected 'tensor<f32>' of #dist.port<count> for argument 2 of @u, got 'tensor<f64>'}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

// A gradient may have another element type than its state, not another shape.
dist.state @v : tensor<4xbf16> {role = parameter}
dist.state @w : tensor<4xf32> {role = parameter}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
                           tensor<4xf32> {dist.port = #dist.port<gradient @v>}, tensor<5xf32> {dist.port = #dist.port<gradient @w>})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected the shape of 'tensor<4xf32>' of state @w for result 3 of @f, got 'tensor<5xf32>'}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

// The second state of a function, as argument and as result.
dist.state @n : tensor<f32> {role = carried}
dist.state @w : tensor<f32> {role = parameter}
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.port = #dist.port<carried @n>}) -> (tensor<f32> {dist.port = #dist.port<output "y">},
    tensor<f32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.entry' op expected @f to write no state of role 'parameter', got @w}}
dist.entry @e function(@f)

// -----

dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<3xf32> {dist.port = #dist.port<gradient @w>})
// expected-error @+1 {{'dist.training' op expected the shape of 'tensor<4xf32>' of state @w for result 1 of @f, got 'tensor<3xf32>'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>})
// expected-error @+1 {{'dist.training' op expected one gradient of @w from @f, got two}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<1f1b>)

// -----

dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
// expected-note @+1 {{function is defined here}}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>})
// expected-error @+1 {{'dist.training' op expected result 1 of @f to be a state, loss, output, got #dist.port<gradient @w>}}
dist.training @t forward(@f) microbatches(1) schedule(<1f1b>)
