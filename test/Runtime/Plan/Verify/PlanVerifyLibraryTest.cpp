//===- PlanVerifyLibraryTest.cpp - Descriptors suit their operands --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;
using C = ContractionShape;
using Kind = ContractionIndexKind;

/// c [4, 4] = a [4, 4] b [4, 4], each in a buffer of 64 bytes.
static Library &product(Plan &plan) { return firstOf<Library>(plan, "c0.B"); }
static C &shapeOf(Plan &plan) { return std::get<C>(product(plan).descriptor); }

/// What the loader says of the sample after an edit of the contraction.
static std::string with(void (*edit)(C &shape)) {
  return verifyBroken([&](Plan &plan) { edit(shapeOf(plan)); },
                      makeEnvironment())
      .message();
}

TEST(PlanVerifyLibrary, OperandsAreTheDescriptors) {
  EXPECT_REFUSED_LAUNCH(
      "expected operand b of a contraction to be of f32, got i32",
      { product(plan).operands[1].dtype = DType::i32; });
  EXPECT_REFUSED_LAUNCH(
      "expected operand a of a contraction to be of bf16, got f32",
      { shapeOf(plan).a = DType::bf16; });
  EXPECT_REFUSED_LAUNCH("expected 3 operands of a contraction, got 2", {
    product(plan).operands.pop_back();
    product(plan).access.pop_back();
  });
  EXPECT_REFUSED_LAUNCH("expected 4 operands of a contraction, got 3",
                        { shapeOf(plan).hasBias = true; });
  EXPECT_REFUSED_LAUNCH(
      "expected access read of operand a of a contraction, got "
      "read_write",
      { product(plan).access[0] = Access::readWrite; });
  EXPECT_REFUSED_LAUNCH(
      "expected access read_write of operand c of a contraction, "
      "got write",
      {
        shapeOf(plan).beta = 1;
        product(plan).access[2] = Access::write;
      });
  EXPECT_REFUSED_LAUNCH(
      "expected access write of operand c of a contraction, got "
      "read",
      {
        shapeOf(plan).beta = 0;
        product(plan).access[2] = Access::read;
      });
}

TEST(PlanVerifyLibrary, ContractionTypes) {
  auto types = [](DType a, DType c, DType accumulate) {
    return verifyBroken(
               [&](Plan &plan) {
                 Library &library = product(plan);
                 C &shape = shapeOf(plan);
                 shape.a = shape.b = a;
                 shape.c = c;
                 shape.accumulate = accumulate;
                 library.operands[0].dtype = library.operands[1].dtype = a;
                 library.operands[2].dtype = c;
               },
               makeEnvironment())
        .message();
  };
  std::string text = "a contraction of ";
  EXPECT_THAT(types(DType::f32, DType::i32, DType::f32), HasSubstr(text));
  EXPECT_THAT(types(DType::f32, DType::f32, DType::i32), HasSubstr(text));
  EXPECT_THAT(types(DType::i32, DType::f32, DType::f32), HasSubstr(text));
  EXPECT_THAT(types(DType::i32, DType::i32, DType::i32),
              testing::Not(HasSubstr(text)));
  EXPECT_EQ(types(DType::f32, DType::f32, DType::f64), "");
  EXPECT_REFUSED_LAUNCH(
      "a contraction of f32 and i32 into f32, accumulated in f32",
      { product(plan).operands[1].dtype = shapeOf(plan).b = DType::i32; });
  // Any two floats of eight bits, which f32 is not.
  auto sides = [](DType a, DType b) {
    return verifyBroken(
               [&](Plan &plan) {
                 product(plan).operands[0].dtype = shapeOf(plan).a = a;
                 product(plan).operands[1].dtype = shapeOf(plan).b = b;
               },
               makeEnvironment())
        .message();
  };
  EXPECT_THAT(sides(DType::f8E4M3FN, DType::f8E5M2),
              testing::Not(HasSubstr(text)));
  EXPECT_THAT(sides(DType::f32, DType::f8E5M2), HasSubstr(text));
}

TEST(PlanVerifyLibrary, ContractionReach) {
  // Each operand up to its last element, and one beyond.
  EXPECT_EQ(with([](C &) {}), "");
  EXPECT_THAT(with([](C &c) { c.indices[0].strideA = 2; }),
              HasSubstr("expected the indices of a contraction to reach at "
                        "most 64 bytes of operand a, got 76"));
  EXPECT_THAT(with([](C &c) { c.indices[1].strideB = 2; }),
              HasSubstr("to reach at most 64 bytes of operand b, got 76"));
  EXPECT_THAT(with([](C &c) { c.indices[0].strideC = 5; }),
              HasSubstr("to reach at most 64 bytes of operand c, got 76"));
  EXPECT_THAT(with([](C &c) { c.indices[2].strideA = INT64_MAX; }),
              HasSubstr("of operand a, got -1"));
  EXPECT_THAT(with([](C &c) { c.indices[0].size = 2; }),
              HasSubstr("to make 16 elements, got 8"));
  // The strides that an index of each kind lacks.
  std::string lacks = " along an index that it lacks, got 1";
  EXPECT_THAT(with([](C &c) { c.indices[0].strideB = 1; }),
              HasSubstr("expected stride 0 of operand b" + lacks));
  EXPECT_THAT(with([](C &c) { c.indices[1].strideA = 1; }),
              HasSubstr("expected stride 0 of operand a" + lacks));
  EXPECT_THAT(with([](C &c) { c.indices[2].strideC = 1; }),
              HasSubstr("expected stride 0 of operand c" + lacks));
  EXPECT_EQ(with([](C &c) { c.indices.push_back({Kind::batch, 1, 9, 9, 9}); }),
            "");
  EXPECT_THAT(
      with([](C &c) { c.indices.push_back({Kind::batch, 2, 0, 0, 0}); }),
      HasSubstr("to make 16 elements, got 32"));
  EXPECT_THAT(with([](C &c) {
                c.indices.push_back({Kind::batch, INT64_MAX, 0, 0, 0});
                c.indices.push_back(c.indices.back());
              }),
              HasSubstr("to make 16 elements, got -1"));
  // A sum of nothing reaches nothing.
  EXPECT_EQ(with([](C &c) {
              c.indices[2].size = 0;
              c.indices[2].strideA = c.indices[2].strideB = INT64_MAX;
            }),
            "");
}

/// The same product as a convolution without windows, edited.
static std::string withConvolution(void (*edit)(ConvolutionShape &shape)) {
  return verifyBroken(
             [&](Plan &plan) {
               ConvolutionShape shape;
               shape.indices = shapeOf(plan).indices;
               edit(shape);
               Library &library = product(plan);
               library.descriptor = shape;
               library.access.back() = Access::write;
               library.operands[0].dtype = shape.a;
               library.operands[1].dtype = shape.b;
             },
             makeEnvironment())
      .message();
}

TEST(PlanVerifyLibrary, Convolutions) {
  using S = ConvolutionShape;
  // An index of 4 rows becomes a window of one element over 4 places.
  auto slide = [](S &s) {
    s.indices.erase(s.indices.begin());
    s.windows = {{4, 1, 4, 1, 0, 4}};
  };
  static auto slides = slide;
  EXPECT_EQ(withConvolution([](S &) {}), "");
  EXPECT_EQ(withConvolution(slide), "");
  EXPECT_THAT(withConvolution([](S &s) {
                slides(s);
                s.windows[0].strideA = 5;
              }),
              HasSubstr("expected the indices of a convolution to reach at "
                        "most 64 bytes of operand a, got 112"));
  EXPECT_THAT(withConvolution([](S &s) {
                slides(s);
                s.windows[0].sizeB = 2;
                s.windows[0].strideB = 1;
              }),
              HasSubstr("most 64 bytes of operand b, got 68"));
  EXPECT_THAT(withConvolution([](S &s) {
                slides(s);
                s.windows[0].strideC = 5;
              }),
              HasSubstr("most 64 bytes of operand c, got 76"));
  EXPECT_THAT(withConvolution([](S &s) {
                slides(s);
                s.windows[0].strideA = INT64_MAX;
              }),
              HasSubstr("of operand a, got -1"));
  EXPECT_THAT(withConvolution([](S &s) {
                slides(s);
                s.windows[0].sizeC = 3;
              }),
              HasSubstr("expected the indices of a convolution to make 16 "
                        "elements, got 12"));
  // A window over nothing reaches nothing.
  EXPECT_EQ(withConvolution([](S &s) {
              slides(s);
              s.windows[0].sizeA = 0;
              s.windows[0].strideA = INT64_MAX;
            }),
            "");
  EXPECT_THAT(withConvolution([](S &s) {
                s.a = DType::f8E4M3FN;
                s.b = DType::f8E5M2;
              }),
              testing::Not(HasSubstr("a convolution of f8E4M3FN and f8E5M2")));
  EXPECT_THAT(withConvolution([](S &s) { s.b = DType::bf16; }),
              HasSubstr("a convolution of f32 and bf16 into f32"));
  EXPECT_THAT(withConvolution([](S &s) { s.accumulate = DType::i32; }),
              HasSubstr("a convolution of f32 and f32 into f32, accumulated in "
                        "i32"));
  EXPECT_THAT(withConvolution([](S &s) { s.hasBias = true; }),
              HasSubstr("expected 4 operands of a convolution, got 3"));
  EXPECT_THAT(withConvolution([](S &s) { s.indices[0].strideB = 1; }),
              HasSubstr("expected stride 0 of operand b along an index that it "
                        "lacks, got 1"));
}

/// Row 0 of a is the bias as well.
static void addBias(Plan &plan) {
  Library &library = product(plan);
  Operand bias = library.operands[0];
  bias.shape = {4};
  bias.strides.clear();
  library.operands.insert(library.operands.begin() + 2, bias);
  library.access.insert(library.access.begin() + 2, Access::read);
  shapeOf(plan).hasBias = true;
  shapeOf(plan).indices[1].strideBias = 1;
}

TEST(PlanVerifyLibrary, BiasAndActivation) {
  auto with = [](void (*edit)(Plan &plan)) {
    return verifyBroken(
               [&](Plan &plan) {
                 addBias(plan);
                 edit(plan);
               },
               makeEnvironment())
        .message();
  };
  EXPECT_EQ(with([](Plan &) {}), "");
  EXPECT_EQ(
      with([](Plan &plan) { shapeOf(plan).activation = Activation::gelu; }),
      "");
  EXPECT_THAT(with([](Plan &plan) { shapeOf(plan).indices[1].strideBias = 2; }),
              HasSubstr("to reach at most 16 bytes of operand bias, got 28"));
  EXPECT_THAT(with([](Plan &plan) { shapeOf(plan).indices[2].strideBias = 1; }),
              HasSubstr("expected stride 0 of operand bias"));
  EXPECT_THAT(with([](Plan &plan) {
                product(plan).operands[2].dtype = shapeOf(plan).bias =
                    DType::i32;
              }),
              HasSubstr("a contraction of f32 with a bias of i32"));
  EXPECT_THAT(with([](Plan &plan) {
                product(plan).operands[2] = product(plan).operands[3];
                product(plan).operands[2].shape = {4};
              }),
              HasSubstr("expected operand c of a contraction to lie apart from "
                        "operand bias"));
  EXPECT_THAT(with([](Plan &plan) {
                C &shape = shapeOf(plan);
                shape.a = shape.b = shape.c = shape.bias = shape.accumulate =
                    DType::i32;
                for (Operand &each : product(plan).operands) {
                  each.dtype = DType::i32;
                }
                shape.activation = Activation::relu;
              }),
              HasSubstr("expected activation relu of floats, got i32"));
}

/// Of the key a [4, 4] and the result c: 2 rows of 8, of which 8 positions
/// each.
static void makeArgsort(Plan &plan) {
  Library &library = product(plan);
  library.descriptor = ArgsortShape{{{DType::f32, true}}, 2, 8, 1, 8};
  library.operands.erase(library.operands.begin() + 1);
  library.operands[1].dtype = DType::i32;
  library.access = {Access::read, Access::write};
}

TEST(PlanVerifyLibrary, Argsorts) {
  auto with = [](void (*edit)(ArgsortShape &shape, Library &library)) {
    return verifyBroken(
               [&](Plan &plan) {
                 makeArgsort(plan);
                 Library &library = product(plan);
                 edit(std::get<ArgsortShape>(library.descriptor), library);
               },
               makeEnvironment())
        .message();
  };
  EXPECT_EQ(with([](ArgsortShape &, Library &) {}), "");
  EXPECT_THAT(with([](ArgsortShape &shape, Library &) { shape.size = 9; }),
              HasSubstr("expected an argsort to reach at most 64 bytes of "
                        "operand key, got 18 elements of f32"));
  EXPECT_THAT(with([](ArgsortShape &shape, Library &) {
                shape.outer = shape.inner = INT64_MAX;
              }),
              HasSubstr("of operand key, got -1 elements"));
  EXPECT_THAT(with([](ArgsortShape &shape, Library &) { shape.count = 7; }),
              HasSubstr("expected an argsort to make 16 elements, got 14"));
  EXPECT_THAT(with([](ArgsortShape &shape, Library &) {
                shape.outer = 1;
                shape.inner = 3;
                shape.size = 5;
                shape.count = 5;
              }),
              HasSubstr("expected an argsort to make 16 elements, got 15"));
  EXPECT_THAT(with([](ArgsortShape &, Library &library) {
                library.operands[1].dtype = DType::f32;
              }),
              HasSubstr("expected operand out of an argsort to be of i32, got "
                        "f32"));
  EXPECT_THAT(with([](ArgsortShape &shape, Library &) {
                shape.keys.push_back({DType::f32, false});
              }),
              HasSubstr("expected 3 operands of an argsort, got 2"));
  EXPECT_THAT(with([](ArgsortShape &shape, Library &) {
                shape.keys[0].dtype = DType::u32;
              }),
              HasSubstr("expected operand key of an argsort to be of u32, got "
                        "f32"));
}

/// a [4, 4] of 4 rows, b [4, 4] as 2 matrices of [4, 2], c [4, 4] of which 2
/// columns are there; the sizes and the first group are the elements of c's
/// buffer.
static void makeGroups(Plan &plan) {
  Library &library = product(plan);
  GroupedContractionShape shape;
  shape.product.indices = {{ContractionIndexKind::batch, 2, 0, 0, 8},
                           {ContractionIndexKind::m, 4, 4, 0, 2},
                           {ContractionIndexKind::n, 2, 0, 1, 1},
                           {ContractionIndexKind::k, 4, 1, 2, 0}};
  shape.rows = 1;
  shape.numSizes = 5;
  shape.groups = 2;
  shape.stride = 8;
  shape.hasOwnSizes = shape.hasFirst = true;
  library.descriptor = shape;
  Operand list = library.operands[0];
  list.dtype = DType::i32;
  library.operands.insert(library.operands.begin() + 2, {list, list});
  library.access = {Access::read, Access::read, Access::read, Access::read,
                    Access::write};
}

TEST(PlanVerifyLibrary, GroupedContractions) {
  using S = GroupedContractionShape;
  auto with = [](void (*edit)(S &shape, Library &library)) {
    return verifyBroken(
               [&](Plan &plan) {
                 makeGroups(plan);
                 Library &library = product(plan);
                 edit(std::get<S>(library.descriptor), library);
               },
               makeEnvironment())
        .message();
  };
  EXPECT_EQ(with([](S &, Library &) {}), "");
  EXPECT_THAT(
      with([](S &s, Library &) { s.stride = 9; }),
      HasSubstr("expected the indices of a grouped contraction to reach "
                "at most 64 bytes of operand b, got 68"));
  EXPECT_THAT(with([](S &s, Library &) { s.groups = 3; }),
              HasSubstr("of operand b, got 96"));
  EXPECT_THAT(with([](S &s, Library &) { s.groups = INT64_MAX; }),
              HasSubstr("of operand b, got -1"));
  EXPECT_THAT(with([](S &s, Library &) { s.product.indices[1].size = 3; }),
              HasSubstr("expected the indices of a grouped contraction to make "
                        "16 elements, got 12"));
  EXPECT_THAT(with([](S &s, Library &) { s.product.indices[1].size = 5; }),
              HasSubstr("of operand a, got 80"));
  EXPECT_THAT(with([](S &s, Library &) { s.numSizes = 9; }),
              HasSubstr("expected a grouped contraction to reach at most 64 "
                        "bytes of operand sizes, got 18 elements of i32"));
  EXPECT_EQ(with([](S &s, Library &) {
              s.numSizes = 16;
              s.hasOwnSizes = false;
            }),
            "");
  EXPECT_THAT(with([](S &s, Library &library) {
                s.sizes = library.operands[2].dtype =
                    library.operands[3].dtype = DType::f32;
              }),
              HasSubstr("expected sizes of groups to be integers, got f32"));
  EXPECT_THAT(with([](S &, Library &library) {
                library.operands[3].dtype = DType::u32;
              }),
              HasSubstr("expected operand first of a grouped contraction to be "
                        "of i32, got u32"));
  EXPECT_THAT(with([](S &s, Library &) { s.hasFirst = false; }),
              HasSubstr("expected 4 operands of a grouped contraction, got 5"));
  // Rows that are contracted: b [4, 4], and c has the matrices, one of which
  // reaches beyond it though there is nothing to add.
  auto contract = [](S &s, Library &) {
    s.product.indices = {{ContractionIndexKind::k, 4, 4, 4, 0},
                         {ContractionIndexKind::m, 4, 1, 0, 2},
                         {ContractionIndexKind::n, 2, 0, 1, 1}};
    s.rows = 0;
  };
  EXPECT_EQ(with(contract), "");
  EXPECT_THAT(with([](S &s, Library &library) {
                s.product.indices = {{ContractionIndexKind::k, 0, 4, 4, 0},
                                     {ContractionIndexKind::m, 4, 1, 0, 2},
                                     {ContractionIndexKind::n, 2, 0, 1, 1}};
                s.rows = 0;
                s.stride = 9;
              }),
              HasSubstr("of operand c, got 68"));
}

TEST(PlanVerifyLibrary, WorkspaceAndAliases) {
  EXPECT_EQ(verifyBroken([](Plan &plan) {
              firstOf<Library>(plan, "c1.B").workspaceBytes = 256;
            }).message(),
            "");
  EXPECT_REFUSED_LAUNCH(
      "expected 257 bytes of workspace for a contraction, got 256",
      { firstOf<Library>(plan, "c1.B").workspaceBytes = 257; });
  EXPECT_REFUSED_LAUNCH(
      "expected 1 bytes of workspace for a contraction, got 0",
      { product(plan).workspaceBytes = 1; });
  EXPECT_REFUSED_LAUNCH(
      "expected operand c of a contraction to lie apart from "
      "operand a",
      { product(plan).operands[2] = product(plan).operands[0]; });
  EXPECT_REFUSED_LAUNCH(
      "expected operand c of a contraction to lie apart from "
      "operand b",
      { product(plan).operands[2] = product(plan).operands[1]; });
}
