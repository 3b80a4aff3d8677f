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

plan.stream @C compute
plan.program @q other parameters(3) {
}
plan.program @p other {
  // expected-error @+1 {{'plan.loop' op expected 3 parameters of @q, the trip first, got 2}}
  plan.loop on @C 4 times @q arguments([#plan.expr<0>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.loop' op expected trips of at least 0, got -1}}
  plan.loop on @C -1 times @p
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.program @p other {
  // expected-error @+1 {{'plan.wait' op expected an event of frame @f below 1, got -1}}
  plan.wait on @C @f event(-1)
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.kernel' op expected buffer @y in the module, got none}}
  plan.kernel on @C @k operands([#plan.use<read, <@x, [4], f32>>, #plan.use<write, <@y, [4], f32>>]) scalars([])
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.kernel' op expected buffer @s in the module, got none}}
  plan.kernel on @C @k operands([#plan.use<read, <@x, [4], f32>>]) scalars([]) scratch(<@s, [4], i8>)
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected each axis once, got "y" twice}}
  plan.collective on @C @c all_reduce reduction sum axes(["x", "y", "y"]) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected a reduction exactly for reducing kinds, got 'all_reduce'}}
  plan.collective on @C @c all_reduce axes(["x"]) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected a peer exactly for broadcast, reduce and permute, got 'all_gather'}}
  plan.collective on @C @c all_gather axes(["x"]) peer(<0>) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected as many outputs as inputs and at least one, got 0 and 0}}
  plan.collective on @C @c all_gather axes(["x"]) inputs([]) outputs([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected dims of at least 0, got 0 and -1}}
  plan.collective on @C @c all_gather axes(["x"]) concat_dim(-1) inputs([#plan.operand<@x, [4], f32>]) outputs([#plan.operand<@x, [4], f32>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected ascending stages from 0 on, got -1}}
  plan.collective on @C @c all_gather axes(["x"]) stages([-1, 0]) inputs([#plan.operand<@x, [4], f32>]) outputs([#plan.operand<@x, [4], f32>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected ascending stages from 0 on, got 1}}
  plan.collective on @C @c all_gather axes(["x"]) stages([0, 2, 1]) inputs([#plan.operand<@x, [4], f32>]) outputs([#plan.operand<@x, [4], f32>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected a target unless the host is, and a source unless the host is, got host 'none'}}
  plan.copy on @C to(<@x, [4], f32>)
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected a target unless the host is, and a source unless the host is, got host 'hyper'}}
  plan.copy on @C to(<@x, [4], f32>) from(<@x, [4], f32>) host hyper name("x")
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected a target unless the host is, and a source unless the host is, got host 'fetch'}}
  plan.copy on @C to(<@x, [4], f32>) from(<@x, [4], f32>) host fetch name("x")
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected a name exactly with the host, got host 'metric'}}
  plan.copy on @C from(<@x, [4], f32>) host metric
}

// -----

plan.program @q other {
}
plan.program @p other {
  // expected-error @+1 {{'plan.call' op expected stream @C in the module, got none}}
  plan.call on @C @q arguments([])
}

// -----

plan.stream @C compute
plan.program @p other {
  // expected-error @+1 {{'plan.call' op expected program @q before the caller}}
  plan.call on @C @q arguments([])
}

// -----

plan.stream @C compute
plan.program @p other {
  // expected-error @+1 {{'plan.call' op expected program @q before the caller}}
  plan.call on @C @q arguments([])
}
plan.program @q other {
}

// -----

plan.stream @C compute
plan.program @q other parameters(1) {
}
plan.program @p other {
  // expected-error @+1 {{'plan.call' op expected 1 arguments of @q, got 0}}
  plan.call on @C @q arguments([])
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @b in @f bytes(4)
plan.program @p other {
}
plan.program @q other {
  // expected-error @+1 {{'plan.while' op expected a flag of one i1, got #plan.operand<@b, [], i32>}}
  plan.while on @C <@b, [], i32> do @p
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @b in @f bytes(4)
plan.program @p other {
}
plan.program @q other {
  // expected-error @+1 {{'plan.while' op expected a flag of one i1, got #plan.operand<@b, [4], i1>}}
  plan.while on @C <@b, [4], i1> do @p
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @b in @f bytes(1)
plan.program @p other parameters(1) {
}
plan.program @q other {
  // expected-error @+1 {{'plan.while' op expected no parameters of @p, got 1}}
  plan.while on @C <@b, [], i1> do @p
}

// -----

plan.stream @C compute
plan.program @p other {
  // expected-error @+1 {{'plan.loop' op expected program @q before the caller}}
  plan.loop on @C 0 times @q
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(1)
plan.program @p other {
  // expected-error @+1 {{'plan.if' op expected program @q before the caller}}
  plan.if on @C <@x, [], i1> then @q
}

// -----

// Each operand of each instruction lies in a buffer.
plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected buffer @y in the module, got none}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@y, [4], f32>>])
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected buffer @y in the module, got none}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>]) workspace_bytes(4) workspace(<@y, [4], i8>)
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected buffer @y in the module, got none}}
  plan.collective on @C @c all_gather axes(["a"]) inputs([#plan.operand<@x, [4], f32>, #plan.operand<@y, [4], f32>]) outputs([#plan.operand<@x, [4], f32>, #plan.operand<@x, [4], f32>])
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected buffer @y in the module, got none}}
  plan.collective on @C @c all_gather axes(["a"]) inputs([#plan.operand<@x, [4], f32>, #plan.operand<@x, [4], f32>]) outputs([#plan.operand<@x, [4], f32>, #plan.operand<@y, [4], f32>])
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.collective' op expected buffer @y in the module, got none}}
  plan.collective on @C @c ragged_all_to_all axes(["a"]) inputs([#plan.operand<@x, [4], f32>]) outputs([#plan.operand<@x, [4], f32>]) counts(<@y, [4, 2], i64>)
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.send' op expected buffer @y in the module, got none}}
  plan.send on @C <@t, peer = <0>, operands = [<@x, [4], f32>, <@y, [4], f32>]>
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.receive' op expected buffer @y in the module, got none}}
  plan.receive on @C <@t, peer = <0>, operands = [<@x, [4], f32>, <@y, [4], f32>]>
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.exchange' op expected buffer @y in the module, got none}}
  plan.exchange on @C sends([#plan.message<@t, peer = <0>, operands = [<@x, [4], f32>]>, #plan.message<@t, peer = <0>, operands = [<@x, [4], f32>, <@y, [4], f32>]>]) receives([])
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.exchange' op expected buffer @y in the module, got none}}
  plan.exchange on @C sends([]) receives([#plan.message<@t, peer = <0>, operands = [<@x, [4], f32>]>, #plan.message<@t, peer = <0>, operands = [<@x, [4], f32>, <@y, [4], f32>]>])
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected buffer @y in the module, got none}}
  plan.copy on @C to(<@x, [4], f32>) from(<@y, [4], f32>)
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.copy' op expected buffer @y in the module, got none}}
  plan.copy on @C to(<@y, [4], f32>) from(<@x, [4], f32>)
}

// -----

plan.stream @C compute
plan.frame @f tmp
plan.buffer @x in @f bytes(16)
plan.program @p other {
  // expected-error @+1 {{'plan.if' op expected buffer @y in the module, got none}}
  plan.if on @C <@y, [], i1> then @p
}
