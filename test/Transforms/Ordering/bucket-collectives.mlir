// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-bucket-collectives | FileCheck %s

// Gradients that are there one after the other are reduced together, up to the
// bytes of `bucket`: here the second one fills it. What has another type, or
// one element, stays apart; so does a collective between stages. The stream of
// collectives never stands still: what is there from the start goes first.

dist.mesh @mesh = <"pipe"=2, "data"=2> pipeline "pipe" machine <bucket = 32.0>
plan.device threads(1)
plan.stream @C compute
plan.stream @X collective priority(1)
plan.frame @tmp tmp
plan.buffer @a in @tmp bytes(16)
plan.buffer @b in @tmp bytes(16)
plan.buffer @c in @tmp bytes(16)
plan.buffer @d in @tmp bytes(16)
plan.buffer @h in @tmp bytes(8)
plan.buffer @n in @tmp bytes(4)
plan.buffer @p in @tmp bytes(16)
plan.buffer @q in @tmp bytes(16)
// CHECK-LABEL: plan.program @many
// CHECK-NEXT: plan.collective on @X @p0 {{.*}} inputs([#plan.operand<@p, [4], f32>])
// CHECK-NEXT: plan.fill on @C <@a
// CHECK-NEXT: plan.fill on @C <@h
// CHECK-NEXT: plan.fill on @C <@n
// CHECK-NEXT: plan.fill on @C <@b
// CHECK-NEXT: plan.fill on @C <@c
// CHECK-NEXT: plan.collective on @X @x0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@a, [4], f32>, #plan.operand<@b, [4], f32>]) outputs([#plan.operand<@a, [4], f32>, #plan.operand<@b, [4], f32>])
// CHECK-NEXT: plan.collective on @X @x1 all_reduce {{.*}} inputs([#plan.operand<@h, [4], bf16>]) outputs([#plan.operand<@h, [4], bf16>])
// CHECK-NEXT: plan.copy on @C to(<@d, [4], f32>) from(<@a, [4], f32>)
// CHECK-NEXT: plan.collective on @X @x2 {{.*}} inputs([#plan.operand<@n, [], f32>])
// CHECK-NEXT: plan.collective on @X @p1 {{.*}} inputs([#plan.operand<@q, [4], f32>])
// CHECK-NEXT: plan.collective on @X @x4 all_reduce {{.*}} inputs([#plan.operand<@c, [4], f32>, #plan.operand<@d, [4], f32>])
// CHECK-NEXT: }
plan.program @many backward chunk(0) {
  plan.fill on @C <@a, [4], f32>
  plan.collective on @X @x0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@a, [4], f32>]) outputs([#plan.operand<@a, [4], f32>])
  plan.fill on @C <@h, [4], bf16>
  plan.collective on @X @x1 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@h, [4], bf16>]) outputs([#plan.operand<@h, [4], bf16>])
  plan.fill on @C <@n, [], f32>
  plan.collective on @X @x2 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@n, [], f32>]) outputs([#plan.operand<@n, [], f32>])
  plan.collective on @X @p0 all_reduce reduction sum axes(["pipe"]) inputs([#plan.operand<@p, [4], f32>]) outputs([#plan.operand<@p, [4], f32>])
  plan.collective on @X @p1 all_reduce reduction sum axes(["pipe"]) inputs([#plan.operand<@q, [4], f32>]) outputs([#plan.operand<@q, [4], f32>])
  plan.fill on @C <@b, [4], f32>
  plan.collective on @X @x3 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@b, [4], f32>]) outputs([#plan.operand<@b, [4], f32>])
  plan.fill on @C <@c, [4], f32>
  plan.collective on @X @x4 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@c, [4], f32>]) outputs([#plan.operand<@c, [4], f32>])
  plan.copy on @C to(<@d, [4], f32>) from(<@a, [4], f32>)
  plan.collective on @X @x5 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@d, [4], f32>]) outputs([#plan.operand<@d, [4], f32>])
}

// What depends on a member is no member, and readers stand behind the bucket.
// CHECK-LABEL: plan.program @chain
plan.program @chain backward chunk(1) {
  // CHECK-NEXT: plan.collective on @X @y0 {{.*}} inputs([#plan.operand<@a, [4], f32>, #plan.operand<@c, [4], f32>])
  plan.collective on @X @y0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@a, [4], f32>]) outputs([#plan.operand<@a, [4], f32>])
  // CHECK-NEXT: plan.copy on @C to(<@b, [4], f32>) from(<@a, [4], f32>)
  plan.copy on @C to(<@b, [4], f32>) from(<@a, [4], f32>)
  plan.collective on @X @y1 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@c, [4], f32>]) outputs([#plan.operand<@c, [4], f32>])
  // CHECK-NEXT: plan.collective on @X @y2 {{.*}} inputs([#plan.operand<@b, [4], f32>])
  plan.collective on @X @y2 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@b, [4], f32>]) outputs([#plan.operand<@b, [4], f32>])
  // CHECK-NEXT: }
}

// A program that calls others stays as it is.
// CHECK-LABEL: plan.program @caller
plan.program @caller backward chunk(1) {
  // CHECK-NEXT: plan.collective on @X @z0
  plan.collective on @X @z0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@a, [4], f32>]) outputs([#plan.operand<@a, [4], f32>])
  // CHECK-NEXT: plan.call
  plan.call on @C @chain arguments([])
  // CHECK-NEXT: plan.collective on @X @z1
  plan.collective on @X @z1 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@c, [4], f32>]) outputs([#plan.operand<@c, [4], f32>])
  // CHECK-NEXT: }
}

// -----

// How large a bucket is, follows from the link: 4 times 2 members, of what it
// moves in a latency, are 32 bytes.

dist.mesh @mesh = <"data"=2> machine <links = [#dist.link<"l", latency = 0.5, bandwidth = 8.0>]>
plan.device threads(1)
plan.stream @X collective priority(1)
plan.frame @tmp tmp
plan.buffer @a in @tmp bytes(16)
plan.buffer @b in @tmp bytes(16)
plan.buffer @c in @tmp bytes(16)
// CHECK-LABEL: plan.program @links
plan.program @links backward chunk(0) {
  // CHECK-NEXT: plan.collective on @X @x0 {{.*}} inputs([#plan.operand<@a, [2], f32>, #plan.operand<@b, [2], f32>]) outputs([#plan.operand<@a, [4], f32>, #plan.operand<@b, [4], f32>])
  // CHECK-NEXT: plan.collective on @X @x2 {{.*}} inputs([#plan.operand<@c, [2], f32>])
  // CHECK-NEXT: }
  plan.collective on @X @x0 all_gather axes(["data"]) inputs([#plan.operand<@a, [2], f32>]) outputs([#plan.operand<@a, [4], f32>])
  plan.collective on @X @x1 all_gather axes(["data"]) inputs([#plan.operand<@b, [2], f32>]) outputs([#plan.operand<@b, [4], f32>])
  plan.collective on @X @x2 all_gather axes(["data"]) inputs([#plan.operand<@c, [2], f32>]) outputs([#plan.operand<@c, [4], f32>])
}

// -----

// Links without a latency ask for no buckets.

dist.mesh @mesh = <"data"=2> machine <links = [#dist.link<"l", latency = 0.0, bandwidth = 8.0>]>
plan.device threads(1)
plan.stream @X collective priority(1)
plan.frame @tmp tmp
plan.buffer @a in @tmp bytes(16)
plan.buffer @b in @tmp bytes(16)
// CHECK-LABEL: plan.program @off
plan.program @off backward chunk(0) {
  // CHECK-NEXT: plan.collective on @X @x0
  plan.collective on @X @x0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@a, [4], f32>]) outputs([#plan.operand<@a, [4], f32>])
  // CHECK-NEXT: plan.collective on @X @x1
  plan.collective on @X @x1 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@b, [4], f32>]) outputs([#plan.operand<@b, [4], f32>])
  // CHECK-NEXT: }
}

// -----

// What the program before has made last is reduced last, though it is listed
// first: the others are reduced while that still computes.

dist.mesh @mesh = <"data"=2> machine <bucket = 16.0>
plan.device threads(1)
plan.stream @C compute
plan.stream @X collective priority(1)
plan.frame @step step
plan.buffer @a in @step bytes(16)
plan.buffer @b in @step bytes(16)
plan.frame @tmp tmp
plan.buffer @t in @tmp bytes(16)
plan.program @made backward chunk(0) {
  plan.fill on @C <@b, [4], f32>
  plan.fill on @C <@a, [4], f32>
}
// CHECK-LABEL: plan.program @reduced
plan.program @reduced update {
  // CHECK-NEXT: plan.collective on @X @x1
  // CHECK-NEXT: plan.collective on @X @x0
  plan.collective on @X @x0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@a, [4], f32>]) outputs([#plan.operand<@a, [4], f32>])
  plan.collective on @X @x1 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@b, [4], f32>]) outputs([#plan.operand<@b, [4], f32>])
  // CHECK-NEXT: }
}

// Memory of the call is not there before it begins.
plan.program @again backward chunk(1) {
  plan.fill on @C <@b, [4], f32>
  plan.fill on @C <@a, [4], f32>
}
// CHECK-LABEL: plan.program @apart
plan.program @apart update {
  // CHECK-NEXT: plan.collective on @X @y0
  // CHECK-NEXT: plan.collective on @X @y1
  plan.collective on @X @y0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@a, [4], f32>]) outputs([#plan.operand<@a, [4], f32>])
  plan.collective on @X @y1 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@b, [4], f32>]) outputs([#plan.operand<@t, [4], f32>])
  // CHECK-NEXT: }
}
