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

// expected-error @+1 {{'plan.entry' op expected microbatches of at least 1, got 0}}
plan.entry @e train microbatches(0) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{'plan.entry' op expected chunks of at least 1, got 0}}
plan.entry @e train microbatches(1) chunks(0) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{'plan.entry' op expected table @t in the module, got none}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.table @t programs([]) rows(<["."]>)
// expected-error @+1 {{'plan.entry' op expected a program or unit for each stage, got 1 : i64}}
plan.entry @e train microbatches(1) chunks(1) prologue([1]) table(@t) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.table @t programs([]) rows(<["."]>)
// expected-error @+1 {{'plan.entry' op expected a program or unit for each of 1 stages, got 0}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.table @t programs([]) rows(<["."]>)
// expected-error @+1 {{'plan.entry' op expected another entry @train in the module to count for, got none}}
plan.entry @e evaluate counts(@train) microbatches(1) chunks(1) prologue([unit]) table(@t) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.table @t programs([]) rows(<["."]>)
// expected-error @+1 {{'plan.entry' op expected another entry @e in the module to count for, got none}}
plan.entry @e evaluate counts(@e) microbatches(1) chunks(1) prologue([unit]) table(@t) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.program @p other {
}
plan.table @t programs([@p]) rows(<["0.1"]>)
// expected-error @+1 {{'plan.entry' op expected microbatches below 1, got 1}}
plan.entry @e train microbatches(1) chunks(1) prologue([unit]) table(@t) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{'plan.entry' op expected each metric once, got "loss" twice}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([#plan.metric<"loss", f32>, #plan.metric<"loss", f32>]) fetches([])

// -----

// expected-error @+1 {{expected a name, got ""}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([#plan.metric<"", f32>]) fetches([])

// -----

// expected-error @+1 {{expected a static shape without encoding, got 'tensor<?xf32>'}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([#plan.input<"x", tensor<?xf32>>]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{expected ascending stages from 0 on, got 0}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4xf32>, stages = [1, 0]>])

// -----

// expected-error @+1 {{expected the name of a tensor, and an origin and a shape of its rank, of a box}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4xf32>, part_of = "y", origin = [0]>])

// -----

// expected-error @+1 {{expected the name of a tensor, and an origin and a shape of its rank, of a box}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4xf32>, part_of = "y", origin = [0, 0], whole = [8]>])

// -----

// expected-error @+1 {{expected the name of a tensor, and an origin and a shape of its rank, of a box}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4xf32>, origin = [0], whole = [8]>])
