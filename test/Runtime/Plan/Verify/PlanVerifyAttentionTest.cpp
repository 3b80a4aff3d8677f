//===- PlanVerifyAttentionTest.cpp - Attentions suit their operands -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;
using A = AttentionShape;
using AKind = AttentionIndexKind;

/// 2 rows and columns of depth 4 and value 7: out has 14 of the 16 elements of
/// the product's result and logsumexp the others.
static void makeForward(Library &library) {
  A shape;
  shape.indices = {{AKind::row, 2, 4, 0, 0, 0, 7, 1},
                   {AKind::column, 2, 0, 4, 7},
                   {AKind::depth, 4, 1, 1},
                   {AKind::value, 7, 0, 0, 1, 0, 1}};
  Operand a = library.operands[0], b = library.operands[1];
  Operand c = library.operands[2];
  auto part = [](Operand of, int64_t offset, std::vector<int64_t> extents) {
    of.offset += offset;
    of.shape = std::move(extents);
    of.strides.clear();
    return of;
  };
  library.operands = {part(a, 0, {2, 4}), part(b, 0, {2, 4}),
                      part(b, 0, {2, 7}), part(c, 0, {2, 7}), part(c, 56, {2})};
  library.access = {Access::read, Access::read, Access::read, Access::write,
                    Access::write};
  library.descriptor = shape;
}

/// 2 rows and columns of depth 2 and value 4: dq, dk and dv have 4, 4 and 8
/// elements.
static void makeGradient(Library &library) {
  A shape;
  shape.isGradient = true;
  shape.indices = {{AKind::row, 2, 2, 0, 0, 0, 4, 1, 2},
                   {AKind::column, 2, 0, 2, 4, 0, 0, 0, 0, 2, 4},
                   {AKind::depth, 2, 1, 1, 0, 0, 0, 0, 1, 1},
                   {AKind::value, 4, 0, 0, 1, 0, 1, 0, 0, 0, 1}};
  Operand a = library.operands[0], c = library.operands[2];
  auto part = [](Operand of, int64_t offset, std::vector<int64_t> extents) {
    of.offset += offset;
    of.shape = std::move(extents);
    of.strides.clear();
    return of;
  };
  library.operands = {
      part(a, 0, {2, 2}), part(a, 0, {2, 2}),  part(a, 0, {2, 4}),
      part(a, 0, {2}),    part(a, 0, {2}),     part(a, 0, {2, 4}),
      part(c, 0, {2, 2}), part(c, 16, {2, 2}), part(c, 32, {2, 4})};
  library.access.assign(6, Access::read);
  library.access.insert(library.access.end(), 3, Access::write);
  library.descriptor = shape;
}

/// What the loader says after an edit.
static std::string after(bool isGradient,
                         void (*edit)(A &shape, Library &library)) {
  return verifyBroken(
             [&](Plan &plan) {
               auto &library = firstOf<Library>(plan, "c0.B");
               isGradient ? makeGradient(library) : makeForward(library);
               edit(std::get<A>(library.descriptor), library);
             },
             makeEnvironment())
      .message();
}
static std::string forward(void (*edit)(A &shape, Library &library)) {
  return after(false, edit);
}
static std::string gradient(void (*edit)(A &shape, Library &library)) {
  return after(true, edit);
}

/// Row 0 of q is the bias, in all rows.
static void addBias(A &shape, Library &library) {
  shape.hasBias = true;
  shape.indices[1].strideBias = 1;
  Operand bias = library.operands[0];
  bias.shape = {2};
  library.operands.insert(library.operands.begin() + 3, bias);
  library.access.insert(library.access.begin() + 3, Access::read);
}

TEST(PlanVerifyAttention, Operands) {
  EXPECT_EQ(forward([](A &, Library &) {}), "");
  EXPECT_EQ(gradient([](A &, Library &) {}), "");
  EXPECT_EQ(forward([](A &s, Library &l) { addBias(s, l); }), "");
  EXPECT_THAT(forward([](A &s, Library &) { s.hasBias = true; }),
              HasSubstr("expected 6 operands of an attention, got 5"));
  EXPECT_THAT(forward([](A &s, Library &) { s.isCausal = s.hasOffset = true; }),
              HasSubstr("expected 6 operands"));
  EXPECT_THAT(forward([](A &s, Library &) { s.isGradient = true; }),
              HasSubstr("expected 9 operands"));
  EXPECT_THAT(forward([](A &, Library &l) { l.access[4] = Access::read; }),
              HasSubstr("expected access write of operand logsumexp"));
  EXPECT_THAT(gradient([](A &, Library &l) { l.access[5] = Access::write; }),
              HasSubstr("expected access read of operand cotangent"));
}

TEST(PlanVerifyAttention, TypesAndFlags) {
  std::string types = "expected an attention of floats, summed in f32 or f64, "
                      "got one of ";
  EXPECT_THAT(forward([](A &s, Library &l) {
                s.dtype = DType::i32;
                for (int i = 0; i < 4; ++i) {
                  l.operands[i].dtype = DType::i32;
                }
              }),
              HasSubstr(types + "i32 with a bias of f32, summed in f32"));
  EXPECT_THAT(forward([](A &s, Library &l) {
                s.accumulate = l.operands[4].dtype = DType::bf16;
              }),
              HasSubstr(types + "f32 with a bias of f32, summed in bf16"));
  EXPECT_THAT(forward([](A &s, Library &) { s.bias = DType::i8; }),
              HasSubstr(types + "f32 with a bias of i8"));
  EXPECT_EQ(forward([](A &s, Library &) {
              s.isCausal = true;
              s.shift = 3;
            }),
            "");
  std::string flags = "expected no shift and no offset of an attention that "
                      "is not causal, got shift ";
  EXPECT_THAT(forward([](A &s, Library &) { s.shift = 3; }),
              HasSubstr(flags + "3"));
  auto addOffset = [](A &s, Library &l) {
    s.hasOffset = true;
    Operand offset = l.operands[0];
    offset.dtype = DType::i32;
    offset.shape = {1};
    l.operands.insert(l.operands.begin() + 3, offset);
    l.access.insert(l.access.begin() + 3, Access::read);
  };
  static auto adds = addOffset;
  EXPECT_THAT(forward([](A &s, Library &l) { adds(s, l); }),
              HasSubstr(flags + "0 and an offset"));
  EXPECT_EQ(forward([](A &s, Library &l) {
              adds(s, l);
              s.isCausal = true;
            }),
            "");
  EXPECT_THAT(forward([](A &s, Library &l) {
                adds(s, l);
                s.isCausal = true;
                l.operands[3].shape = {2};
              }),
              HasSubstr("expected the offset of an attention to have one "
                        "element, got 2"));
}

/// Half of the weights are dropped.
static void addDropout(A &shape, Library &library) {
  shape.dropout = {RandomBits::jax32, true, uint64_t(1) << 31, 2};
  shape.indices[0].strideBits = 2;
  shape.indices[1].strideBits = 1;
  Operand state = library.operands[0];
  state.dtype = DType::u64;
  state.shape = {2};
  library.operands.insert(library.operands.begin() + 3, state);
  library.access.insert(library.access.begin() + 3, Access::read);
}

TEST(PlanVerifyAttention, Dropout) {
  EXPECT_EQ(forward([](A &s, Library &l) { addDropout(s, l); }), "");
  EXPECT_EQ(gradient([](A &s, Library &l) { addDropout(s, l); }), "");
  EXPECT_THAT(forward([](A &s, Library &l) {
                addDropout(s, l);
                l.operands[3].dtype = DType::f64;
              }),
              HasSubstr("expected operand state of an attention to be of u64, "
                        "got f64"));
  EXPECT_THAT(forward([](A &s, Library &l) {
                addDropout(s, l);
                l.operands[3].shape = {1};
              }),
              HasSubstr("expected the state of an attention to have two "
                        "elements, got 1"));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[0].strideBits = 1; }),
              HasSubstr("expected stride 0 of bits along an index that it "
                        "lacks, got 1"));
  EXPECT_THAT(forward([](A &s, Library &l) {
                addDropout(s, l);
                s.indices[2].strideBits = 1;
              }),
              HasSubstr("expected stride 0 of bits"));
  // Two rows and columns: half of 2^62 each is not too much.
  EXPECT_EQ(forward([](A &s, Library &l) {
              addDropout(s, l);
              s.indices[0].strideBits = s.indices[1].strideBits = int64_t(1)
                                                                  << 61;
            }),
            "");
  EXPECT_THAT(forward([](A &s, Library &l) {
                addDropout(s, l);
                s.indices[0].strideBits = int64_t(1) << 62;
              }),
              HasSubstr("expected the random bits of an attention to count to "
                        "at most 2^62"));
}

TEST(PlanVerifyAttention, Indices) {
  EXPECT_THAT(forward([](A &s, Library &) { s.indices.pop_back(); }),
              HasSubstr("expected one index of kind value of an attention, got "
                        "0"));
  EXPECT_THAT(
      forward([](A &s, Library &) { s.indices.push_back({AKind::row, 1}); }),
      HasSubstr("expected one index of kind row of an attention, got 2"));
  EXPECT_THAT(
      forward([](A &s, Library &) { s.indices.push_back({AKind::depth, 1}); }),
      HasSubstr("index of kind depth of an attention, got 2"));
  EXPECT_THAT(
      forward([](A &s, Library &) { s.indices.push_back({AKind::column, 1}); }),
      HasSubstr("index of kind column of an attention, got 2"));
  std::string lacks = " along an index that it lacks, got 1";
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[0].strideK = 1; }),
              HasSubstr("expected stride 0 of k" + lacks));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[3].strideRows = 1; }),
              HasSubstr("expected stride 0 of rows" + lacks));
  // What is not there has no stride.
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[0].strideDq = 1; }),
              HasSubstr("expected stride 0 of dq" + lacks));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[1].strideBias = 1; }),
              HasSubstr("expected stride 0 of bias" + lacks));
}

TEST(PlanVerifyAttention, Reach) {
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[0].strideQ = 5; }),
              HasSubstr("expected the indices of an attention to reach at most "
                        "32 bytes of operand q, got 36"));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[1].strideK = 5; }),
              HasSubstr("of operand k, got 36"));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[1].strideV = 8; }),
              HasSubstr("of operand v, got 60"));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[0].strideOut = 8; }),
              HasSubstr("of operand out, got 60"));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[0].strideRows = 2; }),
              HasSubstr("of operand logsumexp, got 12"));
  EXPECT_THAT(
      forward([](A &s, Library &) { s.indices[0].strideQ = INT64_MAX; }),
      HasSubstr("of operand q, got -1"));
  EXPECT_THAT(forward([](A &s, Library &l) {
                addBias(s, l);
                s.indices[0].strideBias = 1;
              }),
              HasSubstr("of operand bias, got 12"));
  EXPECT_THAT(gradient([](A &s, Library &) { s.indices[0].strideOut = 5; }),
              HasSubstr("of operand cotangent, got 36"));
  EXPECT_THAT(gradient([](A &s, Library &) { s.indices[0].strideDq = 3; }),
              HasSubstr("of operand dq, got 20"));
  EXPECT_THAT(gradient([](A &s, Library &) { s.indices[1].strideDk = 3; }),
              HasSubstr("of operand dk, got 20"));
  EXPECT_THAT(gradient([](A &s, Library &) { s.indices[1].strideDv = 5; }),
              HasSubstr("of operand dv, got 36"));
  // dk and dv of an empty group are written all the same.
  EXPECT_THAT(gradient([](A &s, Library &) {
                s.indices.push_back({AKind::batch, 0});
                s.indices[1].strideDk = 3;
              }),
              testing::AnyOf(HasSubstr("of operand dk, got 20"),
                             HasSubstr("to make 4 elements of operand dq, got "
                                       "0")));
}

TEST(PlanVerifyAttention, Results) {
  std::string makes = "expected the indices of an attention to make ";
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[3].size = 6; }),
              HasSubstr(makes + "14 elements of operand out, got 12"));
  EXPECT_THAT(forward([](A &s, Library &) {
                s.indices.push_back({AKind::batch, INT64_MAX});
              }),
              HasSubstr(makes + "14 elements of operand out, got -1"));
  EXPECT_THAT(gradient([](A &s, Library &l) {
                s.indices[3].size = 3;
                l.operands[8].shape = {2, 3};
                s.indices[1].size = 1;
              }),
              HasSubstr(makes + "4 elements of operand dk, got 2"));
  EXPECT_THAT(forward([](A &s, Library &) { s.indices[0].strideRows = 0; }),
              HasSubstr("expected a stride of operand logsumexp of an "
                        "attention along row, got 0"));
  EXPECT_THAT(gradient([](A &s, Library &) { s.indices[3].strideDv = 0; }),
              HasSubstr("expected a stride of operand dv of an attention along "
                        "value, got 0"));
}

// A batch index without strides in dk and dv makes none of their elements.
TEST(PlanVerifyAttention, Groups) {
  auto group = [](A &s, Library &l) {
    // Two heads of a row each share the keys.
    s.indices[0].size = 1;
    s.indices.push_back({AKind::batch, 2, 2, 0, 0, 0, 4, 1, 2});
    l.operands[6].shape = {2, 1, 2};
  };
  static auto groups = group;
  EXPECT_EQ(gradient([](A &s, Library &l) { groups(s, l); }), "");
  EXPECT_THAT(gradient([](A &s, Library &l) {
                groups(s, l);
                s.indices.back().strideDv = 1;
              }),
              HasSubstr("expected dk and dv of an attention to be sums over "
                        "the same batch indices, got strides 0 and 1"));
  EXPECT_THAT(gradient([](A &s, Library &l) {
                groups(s, l);
                s.indices.back().strideDq = 0;
              }),
              HasSubstr("expected a stride of operand dq of an attention along "
                        "batch, got 0"));
}
