// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'plan.device' op expected threads of at least 1, got 0}}
plan.device threads(0)

// -----

// expected-error @+1 {{'plan.device' op expected arenas of at least 0, got -1}}
plan.device threads(1) arenas([-1])

// -----

// expected-error @+1 {{'plan.frame' op expected slots of at least 1, got 0}}
plan.frame @f tmp slots(0)

// -----

// expected-error @+1 {{'plan.frame' op expected events of at least 1, got 0}}
plan.frame @f tmp events(0)

// -----

// expected-error @+1 {{'plan.frame' op expected a slot expression for 2 slots}}
plan.frame @f tmp slots(2)

// -----

// expected-error @+1 {{'plan.frame' op expected a chunk on act frames alone, got it on 'tmp'}}
plan.frame @f tmp chunk(0)

// -----

// expected-error @+1 {{'plan.frame' op expected ascending stages from 0 on, got 0}}
plan.frame @f tmp stages([1, 0])

// -----

// expected-error @+1 {{'plan.frame' op expected offset and size together}}
plan.frame @f tmp offset(64)

// -----

// expected-error @+1 {{'plan.frame' op expected an offset as a multiple of 64 bytes, got 32}}
plan.frame @f tmp offset(32) size(64)

// -----

// expected-error @+1 {{'plan.frame' op expected a size as a multiple of 64 bytes, got -64}}
plan.frame @f tmp offset(0) size(-64)

// -----

// expected-error @+1 {{expected a number, coordinate, microbatch, parameter or an operation such as add, got 'rank'}}
plan.frame @f tmp slots(2) slot(<rank>)

// -----

// expected-error @+1 {{expected a number instead of 'constant'}}
plan.frame @f tmp slots(2) slot(<constant>)

// -----

// expected-error @+1 {{expected the name of an axis for 'coordinate' alone}}
plan.frame @f tmp slots(2) slot(<coordinate("")>)

// -----

// expected-error @+1 {{expected a parameter of at least 0, got -1}}
plan.frame @f tmp slots(2) slot(<parameter(-1)>)

// -----

// expected-error @+1 {{expected an expression at most 64 deep}}
plan.frame @f tmp slots(2) slot(<add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,add(0,1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))>)

// -----

// expected-error @+1 {{'plan.buffer' op expected frame @f in the module, got none}}
plan.buffer @x in @f bytes(4)

// -----

plan.frame @f tmp
// expected-error @+1 {{'plan.buffer' op expected bytes of at least 0, got -4}}
plan.buffer @x in @f bytes(-4)

// -----

// expected-note @+1 {{frame is placed here}}
plan.frame @f tmp offset(0) size(64)
// expected-error @+1 {{'plan.buffer' op expected an offset inside frame @f of 64 bytes for 32 bytes}}
plan.buffer @x in @f bytes(32) offset(64)

// -----

plan.frame @f tmp
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected origin, shape and place of one rank, got 1, 2 and 1}}
plan.part of @w origin([0]) shape([4, 4]) place(<@x, [4], f32>)

// -----

plan.frame @f tmp
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected origin and shape of at least 0, got -1}}
plan.part of @w origin([-1]) shape([4]) place(<@x, [4], f32>)

// -----

plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [4], f32, offset = 56>}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], f32, offset = 56>)

// -----

// expected-error @+1 {{'plan.part' op expected buffer @x in the module, got none}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], f32>)

// -----

plan.frame @f tmp
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.slot' op expected timeline @train in the module, got none}}
plan.slot of @train port("any") place(<@x, [4], f32>)

// -----

// expected-error @+1 {{'plan.slot' op expected buffer @x in the module, got none}}
plan.slot of @train port("any") place(<@x, [4], f32>)
plan.table @train programs([]) rows(<["."]>)

// -----

plan.frame @f tmp
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.slot' op expected a port of what is fetched, got none}}
plan.slot of @train place(<@x, [4], f32>) fetched
plan.table @train programs([]) rows(<["."]>)

// -----

// expected-error @+1 {{expected sizes of at least 0, got -4}}
plan.part of @w origin([0]) shape([4]) place(<@x, [-4], f32>)

// -----

// expected-error @+1 {{expected 1 strides, got 2}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], f32, strides = [1, 1]>)

// -----

// expected-error @+1 {{expected strides of at least 0, got -1}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], f32, strides = [-1]>)

// -----

// expected-error @+1 {{expected an offset of at least 0, got -8}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], f32, offset = -8>)

// -----

// expected-error @+1 {{expected an element type of the runtime, got 'i7'}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], i7>)

// -----

// expected-error @+1 {{'plan.object' op expected a plain file name, got "../k.so"}}
plan.object @k file("../k.so") hash(0) features([])

// -----

// expected-error @+1 {{'plan.program' op expected a chunk exactly for forward and backward phases, got phase 'forward'}}
plan.program @p forward {
}

// -----

// expected-error @+1 {{'plan.program' op expected a chunk of at least 0, got -1}}
plan.program @p forward chunk(-1) {
}

// -----

// expected-error @+1 {{'plan.program' op expected parameters of at least 0, got -1}}
plan.program @p other parameters(-1) {
}

// -----

plan.program @p other {
  // expected-error @+1 {{'arith.constant' op cannot stand in a program: expected an instruction}}
  %0 = arith.constant 0 : i32
}

// -----

plan.program @p other {
}
// expected-error @+1 {{'plan.table' op expected cells below 1 programs, got 1}}
plan.table @t programs([@p]) rows(<["1.0"]>)

// -----

// expected-error @+1 {{'plan.table' op expected program @p in the module, got none}}
plan.table @t programs([@p]) rows(<["0.0"]>)

// -----

// expected-error @+1 {{expected a row of 1 stages, got 2}}
plan.table @t programs([]) rows(<[".", ". ."]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got 'F'}}
plan.table @t programs([]) rows(<["F"]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got '-2.0'}}
plan.table @t programs([]) rows(<["-2.0"]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got '0.-1'}}
plan.table @t programs([]) rows(<["0.-1"]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got '0.'}}
plan.table @t programs([]) rows(<["0."]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got '0.2147483648'}}
plan.table @t programs([]) rows(<["0.2147483648"]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got '0.0.0'}}
plan.table @t programs([]) rows(<["0.0.0"]>)

// -----

// expected-error @+1 {{expected rows of at least one stage, got 0 cells for 0 stages}}
plan.table @t programs([]) rows(<[]>)

// -----

// expected-error @+1 {{'plan.device' op expected arenas of at least 0, got -64}}
plan.device threads(1) arenas([64, -64])

// -----

// expected-error @+1 {{'plan.frame' op expected ascending stages from 0 on, got -1}}
plan.frame @f tmp stages([-1])

// -----

// expected-error @+1 {{'plan.frame' op expected ascending stages from 0 on, got 1}}
plan.frame @f tmp stages([0, 1, 1])

// -----

// expected-error @+1 {{'plan.frame' op expected offset and size together}}
plan.frame @f tmp size(64)

// -----

// expected-error @+1 {{'plan.frame' op expected an offset as a multiple of 64 bytes, got -64}}
plan.frame @f tmp offset(-64) size(64)

// -----

// expected-error @+1 {{'plan.frame' op expected a size as a multiple of 64 bytes, got 96}}
plan.frame @f tmp offset(0) size(96)

// -----

// expected-error @+1 {{integer value too large}}
plan.frame @f tmp slots(2) slot(<mod(microbatch, 99999999999999999999)>)

// -----

plan.frame @f tmp
// expected-error @+1 {{'plan.buffer' op expected an offset as a multiple of 64 bytes, got 32}}
plan.buffer @x in @f bytes(4) offset(32)

// -----

// expected-note @+1 {{frame is placed here}}
plan.frame @f tmp offset(0) size(64)
// expected-error @+1 {{'plan.buffer' op expected an offset inside frame @f of 64 bytes for 32 bytes}}
plan.buffer @x in @f bytes(32)

// -----

// expected-note @+1 {{frame is placed here}}
plan.frame @f tmp offset(0) size(64)
// expected-error @+1 {{'plan.buffer' op expected an offset inside frame @f of 64 bytes for 65 bytes}}
plan.buffer @x in @f bytes(65) offset(0)

// -----

// expected-note @+1 {{frame is placed here}}
plan.frame @f tmp offset(0) size(64)
// expected-error @+1 {{'plan.buffer' op expected an offset inside frame @f of 64 bytes for 0 bytes}}
plan.buffer @x in @f bytes(0) offset(128)

// -----

plan.frame @f tmp
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected origin, shape and place of one rank, got 1, 1 and 2}}
plan.part of @w origin([0]) shape([4]) place(<@x, [2, 2], f32>)

// -----

plan.frame @f tmp
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected origin and shape of at least 0, got -2}}
plan.part of @w origin([0, 0]) shape([2, -2]) place(<@x, [2, 2], f32>)

// -----

plan.frame @f tmp
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected ascending stages from 0 on, got 2}}
plan.part of @w origin([0]) shape([4]) stages([2, 2]) place(<@x, [4], f32>)

// -----

plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [0], f32, offset = 65>}}
plan.part of @w origin([0]) shape([0]) place(<@x, [0], f32, offset = 65>)

// -----

plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [17], f32>}}
plan.part of @w origin([0]) shape([0]) place(<@x, [17], f32>)

// -----

// The last element begins beyond 2^63.
plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [4], i8, strides = [4611686018427387904]>}}
plan.part of @w origin([0]) shape([0]) place(<@x, [4], i8, strides = [4611686018427387904]>)

// -----

// Both steps together pass 2^63.
plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [2, 2], i8, strides = [4611686018427387904, 4611686018427387904]>}}
plan.part of @w origin([0, 0]) shape([0, 0]) place(<@x, [2, 2], i8, strides = [4611686018427387904, 4611686018427387904]>)

// -----

// One element in place of 2^64.
plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [4294967296, 4294967296], i8, strides = [0, 0]>}}
plan.part of @w origin([0, 0]) shape([0, 0]) place(<@x, [4294967296, 4294967296], i8, strides = [0, 0]>)

// -----

// The last byte is number 2^63.
plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [2], i8, strides = [9223372036854775807]>}}
plan.part of @w origin([0]) shape([0]) place(<@x, [2], i8, strides = [9223372036854775807]>)

// -----

// 2^61 elements of 8 bytes.
plan.frame @f tmp
// expected-note @+1 {{buffer is defined here}}
plan.buffer @x in @f bytes(64)
// expected-error @+1 {{'plan.part' op expected an operand inside buffer @x of 64 bytes, got #plan.operand<@x, [2], f64, strides = [2305843009213693952]>}}
plan.part of @w origin([0]) shape([0]) place(<@x, [2], f64, strides = [2305843009213693952]>)

// -----

// expected-error @+1 {{expected sizes of at least 0, got -1}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4, -1], f32>)

// -----

// expected-error @+1 {{expected strides of at least 0, got -2}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4, 4], f32, strides = [1, -2]>)

// -----

// expected-error @+1 {{expected an element type of the runtime, got 'index'}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], index>)

// -----

// expected-error @+1 {{expected an element type of the runtime, got 'ui1'}}
plan.part of @w origin([0]) shape([4]) place(<@x, [4], ui1>)

// -----

// expected-error @+1 {{'plan.object' op expected a plain file name, got ""}}
plan.object @k file("") hash(0) features([])

// -----

// expected-error @+1 {{'plan.object' op expected a plain file name, got "."}}
plan.object @k file(".") hash(0) features([])

// -----

// expected-error @+1 {{'plan.object' op expected a plain file name, got ".."}}
plan.object @k file("..") hash(0) features([])

// -----

plan.program @p other {
}
// expected-error @+1 {{'plan.table' op expected cells below 1 programs, got 1}}
plan.table @t programs([@p]) rows(<["0.0 .", "0.1 1.0"]>)

// -----

plan.program @p other {
}
// expected-error @+1 {{'plan.table' op expected program @q in the module, got none}}
plan.table @t programs([@p, @q]) rows(<["0.0"]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got '.0'}}
plan.table @t programs([]) rows(<[". .0"]>)

// -----

// expected-error @+1 {{expected a cell such as '2.0' or '.', got '2147483648.0'}}
plan.table @t programs([]) rows(<["2147483648.0"]>)

// -----

// expected-error @+1 {{expected rows of at least one stage, got 0 cells for 0 stages}}
plan.table @t programs([]) rows(<[""]>)

// -----

plan.stream @C compute
plan.frame @f tmp
plan.program @p other {
  plan.signal on @C @f event(0)
  // expected-error @+1 {{'arith.constant' op cannot stand in a program: expected an instruction}}
  %0 = arith.constant 0 : i32
}

// -----

// expected-error @+1 {{'plan.program' op expected a chunk exactly for forward and backward phases, got phase 'update'}}
plan.program @p update chunk(0) {
}

// -----

// expected-error @+1 {{'plan.program' op expected a chunk exactly for forward and backward phases, got phase 'other'}}
plan.program @p other chunk(0) {
}

// -----

// expected-error @+1 {{'plan.program' op expected a chunk exactly for forward and backward phases, got phase 'backward_weight'}}
plan.program @p backward_weight {
}
