//===- WalkthroughPrograms.cpp - The walkthrough's programs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WalkthroughPlan.cpp for the streams and what waits for what.
//
//===----------------------------------------------------------------------===//

#include "WalkthroughBuilder.h"

namespace llmc::rt::test {

void Walkthrough::makeForward0() {
  f0 = b.addProgram("train.c0.F", Phase::forward, 0);
  EventRef hasTok = b.addEvent(act0), hasX0p = b.addEvent(act0),
           hasX0 = b.addEvent(act0), hasX1p = b.addEvent(act0),
           hasX1s = b.addEvent(out0);
  // With two microbatches each has a slot of its own.
  if (m > 2) {
    b.wait(f0, K, {act0, 0});
  }
  host(f0, HostEnd::input, 0, hostTok);
  Copy copy;
  copy.to = v(tok);
  copy.from = v(hostTok);
  b.emit(f0, K, copy);
  b.signal(f0, K, hasTok);
  b.wait(f0, C, hasTok);
  launch(f0, "k_embed", {{v(tok), r}, {v(E), r}, {v(x0p), w}},
         {vocabularyOffset});
  b.signal(f0, C, hasX0p);
  b.wait(f0, T, hasX0p);
  collective(f0, T, CollectiveKind::allReduce, "x0", {tensor}, {v(x0p)},
             {v(x0)});
  b.signal(f0, T, hasX0);
  b.wait(f0, C, hasX0);
  matmul(f0, v(x0), v(W1), v(abc));
  launch(f0, "k_h", {{v(abc), r}, {v(h), w}});
  matmul(f0, v(h), v(W2), v(x0p), 1);
  b.signal(f0, C, hasX1p);
  b.wait(f0, T, hasX1p);
  if (m > 2) {
    b.wait(f0, T, {out0, 0});
  }
  collective(f0, T, CollectiveKind::reduceScatter, "x1", {tensor}, {v(x0p)},
             {v(x1s)});
  b.signal(f0, T, hasX1s);
  b.wait(f0, S, hasX1s);
  message(f0, true, t0, 1, x1s);
  if (m > 2) {
    b.signal(f0, S, {out0, 0});
  }
  b.wait(f0, C, hasX1s); // Closes tmp0.
}

void Walkthrough::makeForward1() {
  f1 = b.addProgram("train.c1.F", Phase::forward, 1);
  EventRef hasTgt = b.addEvent(act1), received = b.addEvent(in1),
           hasX1 = b.addEvent(act1), hasMax = b.addEvent(act1),
           hasGreatest = b.addEvent(act1), hasSums = b.addEvent(act1),
           hasTotals = b.addEvent(act1);
  b.wait(f1, K, {act1, 0});
  host(f1, HostEnd::input, 1, hostTgt);
  Copy copy;
  copy.to = v(tgt);
  copy.from = v(hostTgt);
  b.emit(f1, K, copy);
  b.signal(f1, K, hasTgt);
  if (m > 2) {
    b.wait(f1, R, {in1, 0});
  }
  message(f1, false, t0, 0, x1r);
  b.signal(f1, R, received);
  b.wait(f1, T, received);
  b.wait(f1, T, {act1, 0});
  collective(f1, T, CollectiveKind::allGather, "x1g", {tensor}, {v(x1r)},
             {v(x1)});
  b.signal(f1, T, hasX1);
  if (m > 2) {
    b.signal(f1, T, {in1, 0});
  }
  b.wait(f1, C, hasX1);
  matmul(f1, v(x1), transposed(E), v(lg));
  launch(f1, "k_rowmax", {{v(lg), r}, {v(mx), w}});
  b.signal(f1, C, hasMax);
  b.wait(f1, T, hasMax);
  collective(f1, T, CollectiveKind::allReduce, "max", {tensor}, {v(mx)},
             {v(mx)}, ReductionKind::max);
  b.signal(f1, T, hasGreatest);
  b.wait(f1, C, hasGreatest);
  b.wait(f1, C, hasTgt);
  launch(f1, "k_expsum",
         {{v(lg), r}, {v(mx), r}, {v(tgt), r}, {v(se), w}, {v(pick), w}},
         {vocabularyOffset});
  b.signal(f1, C, hasSums);
  b.wait(f1, T, hasSums);
  collective(f1, T, CollectiveKind::allReduce, "sums", {tensor},
             {v(se), v(pick)}, {v(se), v(pick)});
  b.signal(f1, T, hasTotals);
  b.wait(f1, C, hasTotals);
  launch(f1, "k_lse",
         {{v(se), r},
          {v(mx), r},
          {v(pick), r},
          {v(lse), w},
          {v(ls), rw},
          {v(count), rw}});
}

void Walkthrough::makeBackward1() {
  b1 = b.addProgram("train.c1.B", Phase::backward, 1);
  EventRef hasDx1p = b.addEvent(act1), hasDx1s = b.addEvent(out1);
  launch(b1, "k_dlg", {{v(lg), r}, {v(lse), r}, {v(tgt), r}, {v(dlg), w}},
         {vocabularyOffset});
  matmul(b1, v(dlg), v(E), v(dx1p));
  b.signal(b1, C, hasDx1p);
  matmul(b1, transposed(dlg), v(x1), v(gE), 1);
  b.signal(b1, C, {act1, 0});
  b.wait(b1, T, hasDx1p);
  if (m > 2) {
    b.wait(b1, T, {out1, 0});
  }
  collective(b1, T, CollectiveKind::reduceScatter, "dx1", {tensor}, {v(dx1p)},
             {v(dx1s)});
  b.signal(b1, T, hasDx1s);
  b.wait(b1, S, hasDx1s);
  message(b1, true, t1, 0, dx1s);
  if (m > 2) {
    b.signal(b1, S, {out1, 0});
  }
}

void Walkthrough::makeBackward0() {
  b0 = b.addProgram("train.c0.B", Phase::backward, 0);
  EventRef received = b.addEvent(in0), ready = b.addEvent(act0),
           hasDx1 = b.addEvent(act0), hasS = b.addEvent(act0),
           hasSum = b.addEvent(act0);
  if (m > 2) {
    b.wait(b0, R, {in0, 0});
  }
  message(b0, false, t1, 1, dx1r);
  b.signal(b0, R, received);
  matmul(b0, v(x0), v(W1), v(babc)); // Again, while the gradient travels.
  launch(b0, "k_h", {{v(babc), r}, {v(bh), w}});
  b.signal(b0, C, ready);
  b.wait(b0, T, received);
  b.wait(b0, T, ready);
  collective(b0, T, CollectiveKind::allGather, "dx1g", {tensor}, {v(dx1r)},
             {v(dx1)});
  b.signal(b0, T, hasDx1);
  if (m > 2) {
    b.signal(b0, T, {in0, 0});
  }
  b.wait(b0, C, hasDx1);
  matmul(b0, v(dx1), transposed(W2), v(dh));
  matmul(b0, transposed(bh), v(dx1), v(gW2), 1);
  launch(b0, "k_dabc", {{v(dh), r}, {v(babc), rw}});
  matmul(b0, transposed(x0), v(babc), v(gW1), 1);
  matmul(b0, v(babc), transposed(W1), v(s));
  b.signal(b0, C, hasS);
  b.wait(b0, T, hasS);
  collective(b0, T, CollectiveKind::allReduce, "s", {tensor}, {v(s)}, {v(s)});
  b.signal(b0, T, hasSum);
  b.wait(b0, C, hasSum);
  launch(b0, "k_emb_bwd", {{v(tok), r}, {v(dx1), r}, {v(s), r}, {v(gE), rw}},
         {vocabularyOffset});
  if (m > 2) {
    b.signal(b0, C, {act0, 0});
  }
}

void Walkthrough::makePrologue() {
  for (int stage : {0, 1}) {
    int32_t &program = stage ? prologue1 : prologue0;
    program = b.addProgram(stage ? "train.p1" : "train.p0", Phase::other);
    host(program, HostEnd::hyper, 0, lr);
    host(program, HostEnd::hyper, 1, t);
    for (int32_t sum : {gE, ls, count}) {
      b.emit(program, C, Fill{v(sum), 0});
    }
    if (stage == 0) {
      b.emit(program, C, Fill{v(gW1), 0});
      b.emit(program, C, Fill{v(gW2), 0});
    }
  }
}

void Walkthrough::makeUpdate(int stage) {
  int32_t p = u[stage] =
      b.addProgram(stage ? "train.u1" : "train.u0", Phase::update);
  int32_t home = stage ? step : step0;
  EventRef hasGradients = b.addEvent(step), hasData = b.addEvent(home),
           hasSums = b.addEvent(step), hasSquares = b.addEvent(step),
           hasNorm = b.addEvent(step), updated = b.addEvent(step);
  b.signal(p, C, hasGradients);
  if (stage == 0) {
    b.wait(p, D, hasGradients);
    collective(p, D, CollectiveKind::reduceScatter, "gW1", {data}, {v(gW1)},
               {v(gW1s)});
    collective(p, D, CollectiveKind::allReduce, "gW2", {data}, {v(gW2)},
               {v(gW2)});
    b.signal(p, D, hasData);
  }
  b.wait(p, G, hasGradients);
  collective(p, G, CollectiveKind::allReduce, "gE", {pipe, data}, {v(gE)},
             {v(gE)});
  collective(p, G, CollectiveKind::allReduce, "ls", {pipe, data},
             {v(ls), v(count)}, {v(ls), v(count)});
  if (stage == 0) {
    b.signal(p, G, hasSums);
    b.wait(p, C, hasSums);
    // E is counted at data = 0 (and on this stage only), W2 at data = 0.
    ExprId keep = b.binary(ExprOp::equal, b.coordinate(data), b.constant(0));
    b.wait(p, C, hasData);
    launch(p, "k_sumsq",
           {{v(gE), r}, {v(gW1s), r}, {v(gW2), r}, {v(count), r}, {v(n2), w}},
           {keep, keep});
  } else {
    b.emit(p, C, Fill{v(n2), 0});
  }
  b.signal(p, C, hasSquares);
  b.wait(p, G, hasSquares);
  collective(p, G, CollectiveKind::allReduce, "n2", {pipe, data, tensor},
             {v(n2)}, {v(n2)});
  b.signal(p, G, hasNorm);
  b.wait(p, C, hasNorm);
  auto adamw = [&](const char *name, int32_t g, Operand p0, int32_t m0,
                   int32_t v0) {
    launch(p, name,
           {{v(g), r},
            {v(n2), r},
            {v(count), r},
            {v(lr), r},
            {v(t), r},
            {std::move(p0), rw},
            {v(m0), rw},
            {v(v0), rw}});
  };
  adamw("k_adamw_20", gE, v(E), Em, Ev);
  // This device's rows of W1.
  Operand rows = b.view(W1, 0, {2, 6}, {}, b.times(48, b.coordinate(data)));
  if (stage == 0) {
    adamw("k_adamw_8", gW2, v(W2), W2m, W2v);
    adamw("k_adamw_12", gW1s, rows, W1m, W1v);
  }
  launch(p, "k_final",
         {{v(ls), r}, {v(count), r}, {v(n2), r}, {v(loss), w}, {v(norm), w}});
  b.signal(p, C, updated);
  if (stage == 0) {
    b.wait(p, D, updated);
    collective(p, D, CollectiveKind::allGather, "W1", {data}, {rows}, {v(W1)});
  }
  b.wait(p, K, updated);
  host(p, HostEnd::metric, 0, loss);
  host(p, HostEnd::metric, 1, norm);
  host(p, HostEnd::metric, 2, lr);
}

} // namespace llmc::rt::test
