// RUN: llmc-opt %s --llmc-make-frames="threads=0" --split-input-file --verify-diagnostics

// expected-error@below {{expected at least 1 thread, got 0}}
module {
  dist.mesh @mesh = <"data"=1>
  func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
    return %x : tensor<4xf32>
  }
  dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
}
