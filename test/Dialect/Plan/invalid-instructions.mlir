// RUN: llmc-opt %s --split-input-file --verify-diagnostics

plan.frame @f tmp
plan.program @p other {
  // expected-error @+1 {{'plan.signal' op expected stream @C in the module, got none}}
  plan.signal on @C @f event(0)
}

// -----

plan.stream @C compute
plan.program @p other {
  // expected-error @+1 {{'plan.signal' op expected frame @f in the module, got none}}
  plan.signal on @C @f event(0)
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.program @p other {
  // expected-error @+1 {{'plan.wait' op expected an event of frame @f below 1, got 1}}
  plan.wait on @C @f event(1)
}

// -----

plan.stream @C compute
plan.program @p other {
  // expected-error @+1 {{'plan.fill' op expected buffer @x in the module, got none}}
  plan.fill on @C <@x, [4], f32>
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected at least one axis, got 0}}
  plan.collective on @C @c all_reduce reduction sum axes([]) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected each axis once, got "x" twice}}
  plan.collective on @C @c all_reduce reduction sum axes(["x", "x"]) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected a reduction exactly for reducing kinds, got 'all_gather'}}
  plan.collective on @C @c all_gather reduction sum axes(["x"]) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected a peer exactly for broadcast, reduce and permute, got 'broadcast'}}
  plan.collective on @C @c broadcast axes(["x"]) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected as many outputs as inputs and at least one, got 0 and 1}}
  plan.collective on @C @c all_gather axes(["x"]) inputs([#plan.operand<@x, [4], f32>]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected dims of at least 0, got -1 and 0}}
  plan.collective on @C @c all_gather axes(["x"]) dim(-1) inputs([#plan.operand<@x, [4], f32>]) outputs([#plan.operand<@x, [4], f32>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected ascending stages from 0 on, got 0}}
  plan.collective on @C @c all_gather axes(["x"]) stages([0, 0]) inputs([#plan.operand<@x, [4], f32>]) outputs([#plan.operand<@x, [4], f32>])
}

// -----

plan.program @p other {
  // expected-error @+2 {{expected '<'}}
  // expected-error @+1 {{failed to parse Plan_MessageAttr parameter 'operands'}}
  plan.send on @C <@t, peer = <0>, operands = []>
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.exchange' op expected at least one message, got 0}}
  plan.exchange on @C sends([]) receives([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected a target unless the host is, and a source unless the host is, got host 'input'}}
  plan.copy on @C from(<@x, [4], f32>) host input name("x")
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected a name exactly with the host, got host 'none'}}
  plan.copy on @C to(<@x, [4], f32>) from(<@x, [4], f32>) name("x")
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected equal element counts, got 4 and 2}}
  plan.copy on @C to(<@x, [4], f32>) from(<@x, [2], f32>)
}

// -----

plan.stream @C compute
plan.program @p other {
  // expected-error @+1 {{'plan.call' op expected program @p before the caller}}
  plan.call on @C @p arguments([])
}

// -----

plan.stream @C compute
plan.program @q other {
}
plan.program @p other {
  // expected-error @+1 {{'plan.call' op expected 0 arguments of @q, got 1}}
  plan.call on @C @q arguments([#plan.expr<0>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.loop' op expected trips of at least 0, got -1}}
  plan.loop on @C -1 times @p
}
