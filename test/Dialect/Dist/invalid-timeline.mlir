// RUN: llmc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @+1 {{'dist.timeline' op expected at least 1 microbatch, got 0}}
dist.timeline @t microbatches(0) programs([]) transfers([]) table(<["."]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected program @f once}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@f, chunk = 1, phase = forward, at = [0]>]) transfers([]) table(<["."]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f()
func.func private @g()
func.func private @h()
// expected-error @+1 {{'dist.timeline' op expected one program for each chunk, phase and coordinate, or its parts side by side, got @f and @h}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 1, phase = forward, at = [0]>, #dist.program<@h, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["."]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected microbatches below 1, got cell 'F0.1'}}
dist.timeline @t microbatches(1) programs([]) transfers([]) table(<["F0.1"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'B0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["B0.0"]>)

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// expected-error @+1 {{'dist.timeline' op expected a table of 2 rows for the pipeline axis, got 1}}
dist.timeline @t microbatches(1) programs([]) transfers([]) table(<["."]>)

// -----

dist.mesh @mesh = <"data"=2>
// expected-error @+1 {{'dist.timeline' op expected function @f in the module, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=2>
func.func private @f()
// expected-error @+1 {{'dist.timeline' op expected coordinates below 1, got 1 of @f}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0, 1]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=2>
// expected-note @+1 {{program is defined here}}
func.func private @f(tensor<4xf32>)
// expected-error @+1 {{'dist.timeline' op expected argument 0 of @f to be buffer, input, hyper, microbatch, loss_sum, count, metric_sum, gradient, act, recv, carry, kept, got no port}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=2>
// expected-note @+1 {{program is defined here}}
func.func private @f() -> tensor<4xf32>
// expected-error @+1 {{'dist.timeline' op expected result 0 of @f to be buffer, loss_sum, count, metric_sum, gradient, metric, output, act, send, carry, kept, got no port}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"pipe"=1>
func.func private @f() -> (tensor<4xf32> {dist.port = #dist.port<send @t0>})
func.func private @g(tensor<4xf32> {dist.port = #dist.port<recv @t0>})
// expected-error @+1 {{'dist.timeline' op expected transfer @t0 once}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 1, phase = forward, at = [0]>])
    transfers([#dist.route<@t0: @f -> @g>, #dist.route<@t0: @f -> @g>]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"pipe"=1>
func.func private @f()
func.func private @g(tensor<4xf32> {dist.port = #dist.port<recv @t0>})
// expected-error @+1 {{'dist.timeline' op expected program @f to send @t0}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 1, phase = forward, at = [0]>])
    transfers([#dist.route<@t0: @f -> @g>]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"pipe"=1>
func.func private @f() -> (tensor<2xf32> {dist.port = #dist.port<send @t0>})
func.func private @g(tensor<4xf32> {dist.port = #dist.port<recv @t0>})
// expected-error @+1 {{'dist.timeline' op expected transfer @t0 received as it is sent, 'tensor<2xf32>', got 'tensor<4xf32>'}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 1, phase = forward, at = [0]>])
    transfers([#dist.route<@t0: @f -> @g>]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'W0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward, at = [0]>]) transfers([]) table(<["W0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'F0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_weight, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'B0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [0]>]) transfers([]) table(<["B0.0"]>)

// -----

// Each cell has its program.
dist.mesh @mesh = <"data"=1>
func.func private @f()
func.func private @b()
func.func private @w()
func.func private @u()
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@b, chunk = 0, phase = backward_input, at = [0]>, #dist.program<@w, chunk = 0, phase = backward_weight, at = [0]>, #dist.program<@u, phase = update, at = [0]>]) transfers([]) table(<["F0.0 B0.0 W0.0 U"]>)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f(tensor<4xf32> {dist.port = #dist.port<buffer @w.local>})
// expected-error @+1 {{'dist.timeline' op expected what #dist.port<buffer @w.local> of @f names in the module, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f(tensor<4xf32> {dist.port = #dist.port<hyper @lr>})
// expected-error @+1 {{'dist.timeline' op expected what #dist.port<hyper @lr> of @f names in the module, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f(tensor<4xf32> {dist.port = #dist.port<gradient @w>})
// expected-error @+1 {{'dist.timeline' op expected what #dist.port<gradient @w> of @f names in the module, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"x"=1>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-note @+1 {{program is defined here}}
func.func private @f(tensor<4xf32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.timeline' op expected argument 0 of @f to be buffer, input, hyper, microbatch, loss_sum, count, metric_sum, gradient, act, recv, carry, kept, got #dist.port<parameter @w>}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"x"=1>
// expected-error @+1 {{'dist.timeline' op expected another timeline @train in the module to count for, got none}}
dist.timeline @t counts(@train) microbatches(1) programs([]) transfers([]) table(<["."]>)

// -----

dist.mesh @mesh = <"x"=1>
// expected-error @+1 {{'dist.timeline' op expected another timeline @t in the module to count for, got none}}
dist.timeline @t counts(@t) microbatches(1) programs([]) transfers([]) table(<["."]>)

// -----

dist.mesh @mesh = <"x"=1>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-note @+1 {{program is defined here}}
func.func private @f(index {dist.port = #dist.port<microbatch>}, tensor<4xf32> {dist.port = #dist.port<parameter @w>})
// expected-error @+1 {{'dist.timeline' op expected argument 1 of @f to be buffer, }}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a mesh in the module, got none}}
dist.timeline @t microbatches(1) programs([]) transfers([]) table(<["."]>)

// -----

dist.mesh @mesh = <"data"=2>
// expected-error @+1 {{'dist.timeline' op expected a table of 1 rows for the pipeline axis, got 2}}
dist.timeline @t microbatches(1) programs([]) transfers([]) table(<[".", "."]>)

// -----

// A gradient of an optimizer function names no state.
dist.mesh @mesh = <"x"=1>
func.func private @f(tensor<4xf32> {dist.port = #dist.port<gradient>})
// expected-error @+1 {{'dist.timeline' op expected what #dist.port<gradient> of @f names in the module, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"x"=1>
func.func private @f() -> (tensor<4xf32> {dist.port = #dist.port<output "y">}, tensor<4xf32> {dist.port = #dist.port<buffer @w.local>})
// expected-error @+1 {{'dist.timeline' op expected what #dist.port<buffer @w.local> of @f names in the module, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// The second program is looked at as well.
dist.mesh @mesh = <"x"=1>
func.func private @f()
// expected-note @+1 {{program is defined here}}
func.func private @g() -> (tensor<4xf32> {dist.port = #dist.port<loss>})
// expected-error @+1 {{'dist.timeline' op expected result 0 of @g to be buffer, loss_sum, count, metric_sum, gradient, metric, output, act, send, carry, kept, got #dist.port<loss>}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 1, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// Chunks, phases and coordinates apart are programs of their own.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @f()
func.func private @g()
func.func private @h()
func.func private @i()
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 1, phase = forward, at = [0]>,
    #dist.program<@h, chunk = 0, phase = backward, at = [0]>, #dist.program<@i, chunk = 0, phase = forward, at = [1]>]) transfers([]) table(<["F0.0 F1.0", "F0.0 ."]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected one program for each chunk, phase and coordinate, or its parts side by side, got @g and @h}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [0]>, #dist.program<@g, phase = update, at = [1, 2]>, #dist.program<@h, phase = update, at = [2, 3]>]) transfers([]) table(<["."]>)

// -----

// A program at another coordinate, and of another chunk.
// expected-error @+1 {{'dist.timeline' op expected a program for cell 'F1.0' at coordinate 1, got none}}
dist.timeline @t microbatches(2) programs([#dist.program<@f, chunk = 1, phase = forward, at = [0]>, #dist.program<@g, chunk = 0, phase = forward, at = [1]>]) transfers([]) table(<["F1.0 F1.1", "F0.0 F1.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'U' at coordinate 1, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [0]>]) transfers([]) table(<["U", "U"]>)

// -----

dist.mesh @mesh = <"pipe"=1>
func.func private @g(tensor<4xf32> {dist.port = #dist.port<recv @t0>})
// expected-error @+1 {{'dist.timeline' op expected program @none to send @t0}}
dist.timeline @t microbatches(1) programs([#dist.program<@g, chunk = 1, phase = forward, at = [0]>]) transfers([#dist.route<@t0: @none -> @g>]) table(<["."]>)

// -----

dist.mesh @mesh = <"pipe"=1>
func.func private @f() -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}, tensor<4xf32> {dist.port = #dist.port<send @t1>})
func.func private @g(tensor<4xf32> {dist.port = #dist.port<recv @t0>})
// expected-error @+1 {{'dist.timeline' op expected program @g to receive @t1}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 1, phase = forward, at = [0]>])
    transfers([#dist.route<@t0: @f -> @g>, #dist.route<@t1: @f -> @g>]) table(<["F0.0"]>)

// -----

// A function of the module that no program is does not receive.
dist.mesh @mesh = <"pipe"=1>
func.func private @f() -> (tensor<4xf32> {dist.port = #dist.port<send @t0>})
func.func private @g(tensor<4xf32> {dist.port = #dist.port<recv @t0>})
// expected-error @+1 {{'dist.timeline' op expected program @g to receive @t0}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([#dist.route<@t0: @f -> @g>]) table(<["F0.0"]>)

// -----

// What comes after an empty cell is looked at as well.
// expected-error @+1 {{'dist.timeline' op expected microbatches below 1, got cell 'F0.1'}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<[". F0.0 . F0.1"]>)
