// RUN: llmc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected `at` in phase update and `chunk` in the others, got phase 'update'}}
  dist.segment chunk(0) phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected `at` in phase update and `chunk` in the others, got phase 'forward'}}
  dist.segment phase(forward) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected forward, backward, backward_input, backward_weight or update, got 'sideways'}}
  dist.segment chunk(0) phase(sideways) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected a chunk of at least 0, got -1}}
  dist.segment chunk(-1) phase(forward) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected ascending coordinates from 0 on, got 0}}
  dist.segment at(1, 0) phase(update) {
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected at least one coordinate, got 0}}
  "dist.segment"() ({
    dist.yield
  }) {at = array<i64>, phase = #dist.phase<update>} : () -> ()
  return
}

// -----

func.func @f() {
  dist.segment chunk(0) phase(forward) {
    // expected-error @+1 {{'dist.segment' op cannot stand in another segment}}
    dist.segment chunk(0) phase(forward) {
      dist.yield
    }
    dist.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected to end in 'dist.yield'}}
  dist.segment chunk(0) phase(forward) {
    "test.end"() : () -> ()
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.segment' op expected a region without arguments, got 1}}
  dist.segment chunk(0) phase(forward) {
  ^bb0(%a: i32):
    dist.yield
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.segment' op expected yielded types 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0 = dist.segment chunk(0) phase(forward) -> tensor<2xf32> {
    dist.yield %a : tensor<4xf32>
  }
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected two coordinates, got 0 twice}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 0 : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected a result of 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 1 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected the name of an axis, got ""}}
  %0 = dist.transfer @t %a along "" 0 -> 1 : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected an axis of the mesh, got "stage"}}
  %0 = dist.transfer @t %a along "stage" 0 -> 1 : tensor<4xf32>
  return
}

// -----

dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.transfer' op expected coordinates of axis "pipe" below 2, got 2}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 2 : tensor<4xf32>
  return
}

// -----

#r0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32, #r0>) {
  // expected-error @+1 {{'dist.transfer' op expected an input pinned at coordinate 1 of axis "pipe" alone, got}}
  %0 = dist.transfer @t %a along "pipe" 1 -> 0 : tensor<4xf32, #r0>
  return
}

// -----

#r0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2>
func.func @f(%a: tensor<4xf32, #r0>) {
  // expected-error @+1 {{'dist.transfer' op expected a result of 'tensor<4xf32, #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>>', got}}
  %0 = dist.transfer @t %a along "pipe" 0 -> 1 : tensor<4xf32, #r0>
  return
}

// -----

// expected-error @+1 {{'dist.timeline' op expected at least 1 microbatch, got 0}}
dist.timeline @t microbatches(0) programs([]) transfers([]) table(<["."]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected program @f once}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@f, chunk = 1, phase = forward, at = [0]>]) transfers([]) table(<["."]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected one program for each chunk, phase and coordinate, got @f and @g}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>, #dist.program<@g, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["."]>)

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
// expected-error @+1 {{'dist.timeline' op expected argument 0 of @f to be buffer, input, hyper, microbatch, loss_sum, count, metric_sum, gradient, act, recv, got no port}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=2>
// expected-note @+1 {{program is defined here}}
func.func private @f() -> tensor<4xf32>
// expected-error @+1 {{'dist.timeline' op expected result 0 of @f to be buffer, loss_sum, count, metric_sum, gradient, metric, output, act, send, got no port}}
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
// expected-error @+1 {{'dist.timeline' op expected argument 0 of @f to be buffer, input, hyper, microbatch, loss_sum, count, metric_sum, gradient, act, recv, got #dist.port<parameter @w>}}
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
