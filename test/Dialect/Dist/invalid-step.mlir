// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func private @f() -> (tensor<f32> {dist.role = "loss"})
// expected-error @+1 {{'dist.training' op expected at least 1 microbatch, got 0}}
dist.training @t forward(@f) optimizer(@f) microbatches(0) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss"})
// expected-error @+1 {{'dist.training' op expected a positive norm to clip at, got 0}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) clip(0.0)

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss"})
// expected-error @+1 {{'dist.training' op expected a float to accumulate in, got 'i32'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) accumulate(i32)

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss"})
// expected-error @+1 {{'dist.training' op expected function @adam in the module, got none}}
dist.training @t forward(@f) optimizer(@adam) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> tensor<f32>
// expected-error @+1 {{'dist.training' op expected one result of @f with role "loss", got 0}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32>)
// expected-error @+1 {{'dist.entry' op expected argument 0 of @f to read a state, hold a hyper value or have role input, step, microbatch, got role ""}}
dist.entry @e function(@f)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.reads = @w})
// expected-error @+1 {{'dist.entry' op expected state @w of argument 0 of @f in the module, got none}}
dist.entry @e function(@f)

// -----

dist.state @w : tensor<8xf32> {role = parameter}
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.reads = @w})
// expected-error @+1 {{'dist.entry' op expected 'tensor<8xf32>' of state @w for argument 0 of @f, got 'tensor<4xf32>'}}
dist.entry @e function(@f)

// -----

// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.hyper = @lr})
// expected-error @+1 {{'dist.entry' op expected hyper value @lr of argument 0 of @f in the module, got none}}
dist.entry @e function(@f)

// -----

dist.hyper @lr : tensor<f64> = <external>
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<f32> {dist.hyper = @lr})
// expected-error @+1 {{'dist.entry' op expected 'tensor<f64>' of hyper value @lr for argument 0 of @f, got 'tensor<f32>'}}
dist.entry @e function(@f)

// -----

dist.state @w : tensor<f32> {role = parameter}
// expected-note @+1 {{function is defined here}}
func.func private @f() -> (tensor<f32> {dist.writes = @w})
// expected-error @+1 {{'dist.entry' op expected @f to write no state of role 'parameter', got @w}}
dist.entry @e function(@f)

// -----

dist.state @n : tensor<f32> {role = carried}
// expected-note @+1 {{function is defined here}}
func.func private @f() -> (tensor<f32> {dist.writes = @n}, tensor<f32> {dist.writes = @n})
// expected-error @+1 {{'dist.entry' op expected state @n to be written once by @f}}
dist.entry @e function(@f)

// -----

func.func private @f()
// expected-error @+1 {{'dist.entry' op expected chunks that ascend from 0 by at most 1, got 2 after 0}}
dist.entry @e function(@f) chunks([0, 2])

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss_sum"})
// expected-error @+1 {{'dist.step' op expected one result of @f with role "count", got 0}}
dist.step @s microbatch(@f) update(@f) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss_sum"}, tensor<f32> {dist.role = "count"}, tensor<f32> {dist.gradient_of = @w})
// expected-error @+1 {{'dist.step' op expected state @w of result 2 of @f in the module, got none}}
dist.step @s microbatch(@f) update(@f) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<f32> {role = parameter}
func.func private @f() -> (tensor<f32> {dist.role = "loss_sum"}, tensor<f32> {dist.role = "count"},
                           tensor<f32> {dist.gradient_of = @w}, tensor<f32> {dist.gradient_of = @w})
// expected-error @+1 {{'dist.step' op expected one gradient of @w from @f}}
dist.step @s microbatch(@f) update(@f) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss_sum"}, tensor<f32> {dist.role = "count"})
func.func private @u(tensor<f32> {dist.gradient_of = @w})
// expected-error @+1 {{'dist.step' op expected @f to return @w, which argument 0 of @u takes}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss_sum"}, tensor<f32> {dist.role = "count"})
func.func private @u(tensor<f64> {dist.role = "count"})
// expected-error @+1 {{'dist.step' op expected 'tensor<f32>' of "count" for argument 0 of @u, got 'tensor<f64>'}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<8xf32> {role = parameter}
func.func private @f() -> (tensor<f32> {dist.role = "loss_sum"}, tensor<f32> {dist.role = "count"}, tensor<f32> {dist.gradient_of = @w})
func.func private @u()
// expected-error @+1 {{'dist.step' op expected the shape of 'tensor<8xf32>' of state @w for result 2 of @f, got 'tensor<f32>'}}
dist.step @s microbatch(@f) update(@u) microbatches(1) schedule(<gpipe>)

// -----

dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
// expected-note @+1 {{function is defined here}}
func.func private @f(tensor<4xf32> {dist.reads = @w}) -> (tensor<f32> {dist.role = "loss"}, tensor<4xf32> {dist.writes = @w})
// expected-error @+1 {{'dist.training' op expected @f to write no state of role 'parameter', got @w}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<1f1b>)

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss"})
// expected-error @+1 {{'dist.entry' op expected chunks that ascend from 0 by at most 1, got 1 after 2}}
dist.entry @e function(@f) chunks([0, 1, 2, 1])

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss"})
// expected-error @+1 {{'dist.entry' op expected chunks that ascend from 0 by at most 1, got -1 after 0}}
dist.entry @e function(@f) chunks([-1])

// -----

func.func private @f() -> (tensor<f32> {dist.role = "loss"})
dist.entry @e function(@f) chunks([0, 1, 1, 2])

// -----

func.func private @f(tensor<f32> {dist.role = "input", dist.input = "x"}) -> (tensor<f32> {dist.role = "loss"})
// expected-error @+1 {{'dist.training' op expected precision f32 or f64, got 'bf16'}}
dist.training @t forward(@f) optimizer(@f) microbatches(1) schedule(<gpipe>) {precision = bf16}
