// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-plan

plan.device threads(1) seed(0) arenas([64])
plan.stream @C compute
plan.frame @tmp tmp offset(0) size(64)
plan.buffer @a in @tmp bytes(64) offset(0)

// -----

// expected-error@+1 {{expected arenas after phase 8, got none}}
plan.device threads(1) seed(0)

// -----

// expected-error@+1 {{expected a place after phase 8, got none}}
plan.frame @tmp tmp
// expected-error@+1 {{expected an offset after phase 8, got none}}
plan.buffer @a in @tmp bytes(64)

// -----

// expected-error@+1 {{expected to be replaced by programs before phase 8}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

plan.stream @C compute
plan.frame @tmp tmp offset(0) size(64)
plan.buffer @a in @tmp bytes(64) offset(0)
plan.program @f.c0.F forward chunk(0) {
  // expected-error@+1 {{expected kernel @kernels::@k_gone, got none}}
  plan.kernel on @C @kernels::@k_gone operands([#plan.use<read, <@a, [16], f32>>]) scalars([])
}
module @kernels {}

// -----

plan.frame @tmp tmp offset(0) size(64)
plan.buffer @a in @tmp bytes(64) offset(0)
plan.table @table programs([]) rows(<["."]>)
// expected-error@+1 {{expected to be replaced by programs before phase 8}}
plan.slot of @table place(<@a, [64], i8>)

// -----

// The second kernel of the second program alone is not there.
plan.stream @C compute
plan.frame @tmp tmp offset(0) size(64)
plan.buffer @a in @tmp bytes(64) offset(0)
plan.program @f.c0.F forward chunk(0) {
  plan.kernel on @C @kernels::@k operands([#plan.use<write, <@a, [4], f32>>]) scalars([])
}
plan.program @f.c0.B backward chunk(0) {
  plan.kernel on @C @kernels::@k operands([#plan.use<write, <@a, [4], f32>>]) scalars([])
  // expected-error@+1 {{expected kernel @kernels::@gone, got none}}
  plan.kernel on @C @kernels::@gone operands([#plan.use<write, <@a, [4], f32>>]) scalars([])
}
module @kernels {
  dist.kernel @k(write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
}

// -----

// The second frame, buffer and device alone.
plan.device threads(1) seed(0) arenas([64])
plan.frame @tmp tmp offset(0) size(64)
plan.buffer @a in @tmp bytes(64) offset(0)
// expected-error@+1 {{expected a place after phase 8, got none}}
plan.frame @act act
// expected-error@+1 {{expected an offset after phase 8, got none}}
plan.buffer @b in @act bytes(64)
// expected-error@+1 {{expected arenas after phase 8, got none}}
plan.device threads(1) seed(0)
