// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// Which phases a program may have that a cell of the table runs.

dist.mesh @mesh = <"data"=1>
func.func private @f()
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'F0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'F0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_input, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'F0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_weight, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'F0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'B0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["B0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f()
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward, at = [0]>]) transfers([]) table(<["B0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f()
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_input, at = [0]>]) transfers([]) table(<["B0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'B0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_weight, at = [0]>]) transfers([]) table(<["B0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'B0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [0]>]) transfers([]) table(<["B0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'W0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["W0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'W0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward, at = [0]>]) transfers([]) table(<["W0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'W0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_input, at = [0]>]) transfers([]) table(<["W0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f()
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_weight, at = [0]>]) transfers([]) table(<["W0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'W0.0' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [0]>]) transfers([]) table(<["W0.0"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'U' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["U"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'U' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward, at = [0]>]) transfers([]) table(<["U"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'U' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_input, at = [0]>]) transfers([]) table(<["U"]>)

// -----

// expected-error @+1 {{'dist.timeline' op expected a program for cell 'U' at coordinate 0, got none}}
dist.timeline @t microbatches(1) programs([#dist.program<@f, chunk = 0, phase = backward_weight, at = [0]>]) transfers([]) table(<["U"]>)

// -----

dist.mesh @mesh = <"data"=1>
func.func private @f()
dist.timeline @t microbatches(1) programs([#dist.program<@f, phase = update, at = [0]>]) transfers([]) table(<["U"]>)
