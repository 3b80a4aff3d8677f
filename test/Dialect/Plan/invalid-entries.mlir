// RUN: llmc-opt %s --split-input-file --verify-diagnostics

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

// -----

plan.table @t programs([]) rows(<["."]>)
// expected-error @+1 {{'plan.entry' op expected a program or unit for each stage, got "x"}}
plan.entry @e train microbatches(1) chunks(1) prologue([unit]) table(@t) epilogue([unit, "x"]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.table @t programs([]) rows(<["."]>)
// expected-error @+1 {{'plan.entry' op expected a program or unit for each of 1 stages, got 2}}
plan.entry @e train microbatches(1) chunks(1) prologue([unit]) table(@t) epilogue([unit, unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.table @t programs([]) rows(<[". ."]>)
// expected-error @+1 {{'plan.entry' op expected program @p in the module, got none}}
plan.entry @e train microbatches(1) chunks(1) prologue([unit, @p]) table(@t) epilogue([unit, unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.table @t programs([]) rows(<[". ."]>)
// expected-error @+1 {{'plan.entry' op expected program @u in the module, got none}}
plan.entry @e train microbatches(1) chunks(1) prologue([unit, unit]) table(@t) epilogue([unit, @u]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

plan.program @p other {
}
plan.table @t programs([@p]) rows(<["0.0", "0.2"]>)
// expected-error @+1 {{'plan.entry' op expected microbatches below 2, got 2}}
plan.entry @e train microbatches(2) chunks(1) prologue([unit]) table(@t) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{'plan.entry' op expected each input once, got "x" twice}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([#plan.input<"y", tensor<4xf32>>, #plan.input<"x", tensor<4xf32>>, #plan.input<"x", tensor<4xf32>>]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{'plan.entry' op expected each fetched value once, got "x" twice}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"y", tensor<4xf32>>, #plan.fetch<"x", tensor<4xf32>>, #plan.fetch<"x", tensor<4xf32>>])

// -----

// expected-error @+1 {{expected an element type of the runtime, got 'index'}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([#plan.metric<"loss", index>]) fetches([])

// -----

// expected-error @+1 {{expected a name, got ""}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([#plan.input<"", tensor<4xf32>>]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{expected a static shape without encoding, got 'tensor<4xf32, "sparse">'}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([#plan.input<"x", tensor<4xf32, "sparse">>]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{expected an element type of the runtime, got 'i7'}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([#plan.input<"x", tensor<4xi7>>]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{expected ascending stages from 0 on, got -1}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([#plan.input<"x", tensor<4xf32>, stages = [-1, 0]>]) hypers([]) metrics([]) fetches([])

// -----

// expected-error @+1 {{expected a name, got ""}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"", tensor<4xf32>>])

// -----

// expected-error @+1 {{expected a static shape without encoding, got 'tensor<?xf32>'}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<?xf32>>])

// -----

// expected-error @+1 {{expected the name of a tensor, and an origin and a shape of its rank, of a box}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4xf32>, whole = [8]>])

// -----

// expected-error @+1 {{expected the name of a tensor, and an origin and a shape of its rank, of a box}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4xf32>, part_of = "y", whole = [8]>])

// -----

// expected-error @+1 {{expected the name of a tensor, and an origin and a shape of its rank, of a box}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4xf32>, part_of = "y", origin = [0], whole = [8, 8]>])

// -----

// expected-error @+1 {{expected a box inside array<i64: 8, 8>, got 'tensor<4x4xf32>' at array<i64: 0, -1>}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4x4xf32>, part_of = "y", origin = [0, -1], whole = [8, 8]>])

// -----

// expected-error @+1 {{expected a box inside array<i64: 8, 8>, got 'tensor<4x4xf32>' at array<i64: 0, 5>}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4x4xf32>, part_of = "y", origin = [0, 5], whole = [8, 8]>])

// -----

// expected-error @+1 {{expected a box inside array<i64: 8, 8>, got 'tensor<4x4xf32>' at array<i64: 0, 9223372036854775807>}}
plan.entry @e train microbatches(1) chunks(1) prologue([]) table(@t) epilogue([]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"x", tensor<4x4xf32>, part_of = "y", origin = [0, 9223372036854775807], whole = [8, 8]>])
