//===- ScanOpsTest.cpp - Which ops a text has, without parsing it ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scan against small texts, against MLIR's own parser on the models of the
// tree, and on bytes that are no text.
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Text/ScanOps.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Import/Text/ReadModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <map>

using namespace llmc;
using llmc::import::OpCount;

namespace {
class ScanOps : public testing::Test {
protected:
  ScanOps() {
    context.loadDialect<mlir::func::FuncDialect, stablehlo::StableHLODialect,
                        chlo::ChloDialect, sdy::SdyDialect>();
  }

  /// "<name> x <count> at <line>:<column>" for each op.
  std::vector<std::string> scan(StringRef text) {
    std::vector<std::string> found;
    for (const OpCount &op : import::scanOps(context, text))
      found.push_back(op.name + (op.target.empty() ? "" : " @" + op.target) +
                      " x " + std::to_string(op.count) + " at " +
                      std::to_string(op.line) + ":" +
                      std::to_string(op.column));
    return found;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

using Found = std::vector<std::string>;
using Counts = std::map<std::string, int64_t>;

TEST_F(ScanOps, FindsBothForms) {
  EXPECT_EQ(scan("%0 = stablehlo.tanh %x : tensor<4xf32>\n"
                 "%1:2 = \"stablehlo.sort\"(%0, %0) : ()\n"
                 "%a, %b:2 = chlo.top_k(%1#0, k = 3) : T -> (V, I)\n"
                 "  \"a.b\" () : () -> ()\n"
                 "%2 = stablehlo.tanh %1#1 : tensor<4xf32>"),
            (Found{"stablehlo.tanh x 2 at 1:6", "stablehlo.sort x 1 at 2:8",
                   "chlo.top_k x 1 at 3:12", "a.b x 1 at 4:3"}));
}

TEST_F(ScanOps, FindsOpsOnOneLine) {
  EXPECT_EQ(scan("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { "
                 "%0=stablehlo.tanh %x : tensor<4xf32> return %0 : T }"),
            (Found{"func.func x 1 at 1:1", "stablehlo.tanh x 1 at 1:55",
                   "func.return x 1 at 1:89"}));
}

TEST_F(ScanOps, LeavesOutWhatOnlyNamesOps) {
  EXPECT_EQ(
      scan("#loc = loc(\"stablehlo.sort\"(\"a.py\":1:2 to :31))\n"
           "// %0 = stablehlo.fft %x, \"stablehlo.map\"(\n"
           "%0 = stablehlo.tanh %x {a = \"\\\"b.c\\\"(\", b.c = "
           "\"stablehlo.rng\"} : T loc(\"stablehlo.if\"(#loc))\n"
           "%1 = stablehlo.custom_call @stablehlo.case(%0) : T\n"
           "%2 = stablehlo.custom_call @\"stablehlo.cholesky\"(%1) : T\n"
           "%3 = \"x.y\"(%2) <{k = #stablehlo.dot<a.b = [1]>, d = @m.n}> : T\n"
           "%4 = stablehlo.composite \"chlo.erf\" %3 {version = 1 : i32} : T\n"
           "#loc1 = loc(callsite(\"c.d\"(#loc) at \"e.f\"(#loc)))\n"
           "!t = tensor<4xf32>\n"),
      (Found{"stablehlo.tanh x 1 at 3:6",
             "stablehlo.custom_call @stablehlo.case x 1 at 4:6",
             "stablehlo.custom_call @stablehlo.cholesky x 1 at 5:6",
             "x.y x 1 at 6:6", "stablehlo.composite x 1 at 7:6"}));
}

TEST_F(ScanOps, TellsCustomCallsByTheirTargets) {
  EXPECT_EQ(
      scan("%0 = stablehlo.custom_call @a(%x) {k = \"b\"} : T\n"
           "%1 = \"stablehlo.custom_call\"(%0) <{api_version = 1 : i32, "
           "call_target_name = \"b c\"}> : (T) -> T\n"
           "%2 = stablehlo.custom_call @a(%1) {call_target_name = \"d\"} : T\n"
           "\"stablehlo.custom_call\"(%2) : (T) -> ()\n"
           "%3 = x.y %2 {call_target_name = \"e\"} : T\n"
           "%4 = stablehlo.custom_call"),
      (Found{"stablehlo.custom_call @a x 2 at 1:6",
             "stablehlo.custom_call @b c x 1 at 2:6",
             "stablehlo.custom_call x 2 at 4:1", "x.y x 1 at 5:6"}));
}

TEST_F(ScanOps, GoesIntoRegions) {
  EXPECT_EQ(scan("%0:2 = stablehlo.while(%i = %c, %x = %y) : T, U "
                 "attributes {mhlo.trip = 4}\n"
                 " cond {\n  %1 = stablehlo.compare LT, %i, %n : U\n"
                 "  stablehlo.return %1 : V\n} do {\n"
                 "  %2 = func.call @f(%x) : (T) -> T\n"
                 "  stablehlo.return %2, %i : T, U\n}\n"
                 "\"stablehlo.case\"(%k) ({\n  stablehlo.return\n}, {\n"
                 "^bb0(%p: T):\n  \"stablehlo.rng\"(%p) : (T) -> ()\n}) : ()"),
            (Found{"stablehlo.while x 1 at 1:8", "stablehlo.compare x 1 at 3:8",
                   "stablehlo.return x 3 at 4:3", "func.call x 1 at 6:8",
                   "stablehlo.case x 1 at 9:1", "stablehlo.rng x 1 at 13:3"}));
}

TEST_F(ScanOps, FindsOpsBehindAssemblyThatNobodyKnows) {
  EXPECT_EQ(scan("func.func @f(%x: T) {\n"
                 "  %0 = stablehlo.fft %x, type = FFT, length = [4] : T\n"
                 "  %r = foo.bar each %0 by {a = 1} in <[{}]> with (%x) {\n"
                 "    %1 = foo.add %0, %x : T\n    foo.yield %1\n  } else {\n"
                 "    foo.yield\n  }\n  foo.end @f from %x\n"
                 "  return %0 : T\n}"),
            (Found{"func.func x 1 at 1:1", "stablehlo.fft x 1 at 2:8",
                   "foo.bar x 1 at 3:8", "foo.add x 1 at 4:10",
                   "foo.yield x 2 at 5:5", "foo.end x 1 at 9:3",
                   "func.return x 1 at 10:3"}));
}

TEST_F(ScanOps, CountsAnAppliedOpAsABody) {
  EXPECT_EQ(
      scan("%0 = stablehlo.reduce(%x init: %c) applies stablehlo.add "
           "across dimensions = [1] : T\n"
           "%1:2 = stablehlo.reduce(%x init: %c), (%y init: %d) across "
           "dimensions = [0] : T\n"
           " reducer(%a: t, %b: t) (%p: u, %q: u) {\n"
           "  %2 = stablehlo.maximum %a, %b : t\n"
           "  stablehlo.return %2, %p : t, u\n}"),
      (Found{"stablehlo.reduce x 2 at 1:6", "stablehlo.maximum x 1 at 4:8",
             "stablehlo.return x 1 at 5:3"}));
}

/// A dialect's ops go without its name in functions and modules only.
TEST_F(ScanOps, CompletesNamesWhereTheirDialectMayBeLeftOut) {
  EXPECT_EQ(scan("module @m attributes {mhlo.n = 1 : i32} {\n"
                 "  func.func private @f() {\n    %0 = call @g() : () -> T\n"
                 "    call @h() : () -> ()\n    %1:2 = novel %0\n"
                 "    \"stablehlo.map\"(%0) ({ ^a: return call module }) : T\n"
                 "    return\n  }\n  return\n}\n"),
            (Found{"builtin.module x 1 at 1:1", "func.func x 1 at 2:3",
                   "func.call x 2 at 3:10", "novel x 1 at 5:12",
                   "stablehlo.map x 1 at 6:5", "func.return x 1 at 7:5"}));
  EXPECT_EQ(scan("func @old() { return }"), (Found{"func x 1 at 1:1"}));
  EXPECT_EQ(scan("module {\n  func @old() { return }\n}"),
            (Found{"builtin.module x 1 at 1:1", "func x 1 at 2:3"}));
}

TEST_F(ScanOps, TellsRegionsFromDictionaries) {
  EXPECT_EQ(scan("func.func @f() { return }"),
            (Found{"func.func x 1 at 1:1", "func.return x 1 at 1:18"}));
  EXPECT_EQ(scan("\"a.b\"(%x) ({ stablehlo.return }) {c.d} : T"),
            (Found{"a.b x 1 at 1:1", "stablehlo.return x 1 at 1:14"}));
  EXPECT_EQ(scan("\"a.b\"(%x) ({\n x.end\n}, {\"y.z\"() : T}) {} : T"),
            (Found{"a.b x 1 at 1:1", "x.end x 1 at 2:2", "y.z x 1 at 3:5"}));
  Found one{"a.b x 1 at 1:1"};
  EXPECT_EQ(scan("a.b %x {c.d} : T"), one);
  EXPECT_EQ(scan("a.b %x {c.d, e.f} : T"), one);
  EXPECT_EQ(scan("a.b %x {\"c.d\" = e.f} : T"), one);
  EXPECT_EQ(scan("a.b %x {\n  c.d = {e.f},\n  \"g.h\" = i.j} : T"), one);
  EXPECT_EQ(scan("a.b attributes {\n  c.d\n} : T"), one);
  EXPECT_EQ(scan("a.b @m <[{\"x\", ?}, {}], u={\"y\":(1)2}> : T"), one);
  EXPECT_EQ(scan("a.b k = {\n c.d e.f\n} : T"), one);
  EXPECT_EQ(scan("a.b(%x: T {c.d = \"e.f\"}, %y: T {g.h}) -> (T {i.j})"), one);
  EXPECT_EQ(scan("a.b\n{-#\n  dialect_resources: {\n    builtin: {\n"
                 "      c.d: \"0x0400\"\n    }\n  }\n#-}\n"),
            one);
}

TEST_F(ScanOps, CountsLinesAndColumns) {
  EXPECT_EQ(scan("// a\r\n\r\n\t a.b // c\n//\n  c.d\n//"),
            (Found{"a.b x 1 at 3:3", "c.d x 1 at 5:3"}));
  // A string ends with its line.
  EXPECT_EQ(scan("\"a\n%0 = \"b\\\n c.d \"e.f\\"),
            (Found{"b\\ x 1 at 2:6", "c.d x 1 at 3:2"}));
}

TEST_F(ScanOps, ReadsTokensWhole) {
  Found one{"a.b x 1 at 1:1"};
  EXPECT_EQ(scan("a.b <T -> c.d> : T"), one);
  EXPECT_EQ(scan("a.b \"\\\"c.d\\\"(\" : T"), one);
  EXPECT_EQ(scan("a.b %x-c.d, #e-f.g, @h.i, 4.j.k : T"), one);
}

/// What is left open in a region is closed by its end.
TEST_F(ScanOps, FindsItsWayBackFromBracketsThatDoNotMatch) {
  EXPECT_EQ(
      scan("a.b() ({ ^a:\n c.d %x < ([ e.f\n g.h\n}) i.j > ) ] k.l } m.n"),
      (Found{"a.b x 1 at 1:1", "c.d x 1 at 2:2", "i.j x 1 at 4:4",
             "k.l x 1 at 4:14", "m.n x 1 at 4:20"}));
  EXPECT_EQ(scan("a.b (d0 >= 0, (d1) -> (d2)) c.d<(x <= 1)> e.f"),
            (Found{"a.b x 1 at 1:1", "c.d x 1 at 1:29", "e.f x 1 at 1:43"}));
}

std::vector<std::string> listModels() {
  std::vector<std::string> paths;
  for (const char *folder : {"/test/EndToEnd/Inputs", "/examples/gpt"}) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator
             file(llvm::Twine(LLMC_SOURCE) + folder, error),
         end;
         file != end && !error; file.increment(error))
      if (StringRef(file->path()).ends_with(".mlir"))
        paths.push_back(file->path());
  }
  return paths;
}

Counts countScanned(MLIRContext &context, StringRef text) {
  Counts counts;
  for (const OpCount &op : import::scanOps(context, text))
    counts[op.name] += op.count;
  return counts;
}

Counts countParsed(ModuleOp module) {
  Counts counts;
  module.walk(
      [&](Operation *op) { ++counts[op->getName().getStringRef().str()]; });
  return counts;
}

/// Takes off what the parser adds: a module around a text that has none, and
/// the bodies of compact reductions.
void dropImplied(StringRef text, Counts &counts) {
  auto drop = [&](StringRef name) {
    if (--counts[name.str()] == 0)
      counts.erase(name.str());
  };
  if (!text.starts_with("module") && !text.contains("\nmodule"))
    drop("builtin.module");
  constexpr llvm::StringLiteral word = " applies ";
  for (size_t at = 0; (at = text.find(word, at)) != StringRef::npos;) {
    at += word.size();
    drop(text.substr(at).take_until([](char c) { return c == ' '; }));
    drop("stablehlo.return");
  }
}

TEST_F(ScanOps, AgreesWithTheParser) {
  std::vector<std::string> paths = listModels();
  ASSERT_GE(paths.size(), 8u);
  for (const std::string &path : paths) {
    auto file = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(file) << path;
    StringRef text = (*file)->getBuffer();
    auto module = import::parseText(context, text, path);
    ASSERT_TRUE(module.ok()) << module.message();
    std::string generic;
    llvm::raw_string_ostream os(generic);
    (*module)->print(
        os, mlir::OpPrintingFlags().printGenericOpForm().enableDebugInfo());
    Counts parsed = countParsed(**module);
    EXPECT_EQ(countScanned(context, generic), parsed) << path;
    dropImplied(text, parsed);
    EXPECT_EQ(countScanned(context, text), parsed) << path;
  }
}

/// A quadratic scan of these would take hours.
TEST_F(ScanOps, TakesLinearTimeForAnyBytes) {
  constexpr size_t size = 1 << 20;
  for (StringRef part :
       {"<",    "{",     "{\n",  "}",       "(",    "({",   "({^",
        ")",    "[",     "\"",   "\"\"",    "\"(",  "//",   "/",
        "//\n", "{//\n", "% = ", "%0 = a ", "a.b",  "a.b ", "\\\"",
        "@\"",  "#",     "-",    "->",      "\n",   "\r",   "applies ",
        "< (",  "{a = ", "\xff", "return ", "{\"\""}) {
    std::string text;
    while (text.size() < size)
      text += part;
    import::scanOps(context, text);
  }
  std::string bytes;
  for (size_t i = 0; i < size; ++i)
    bytes += static_cast<char>(i * i * 2654435761u >> 13);
  import::scanOps(context, bytes);
}

TEST_F(ScanOps, ReadsAnyPrefixOfAText) {
  StringRef text = "%0 = \"a.b\\\"\"(%x) <{c = 1}> ({ // d\n ^e:\n"
                   " f.g loc(\"h\"(@\"i\"))\n}) -> !j<k> ";
  size_t most = 0;
  for (size_t i = 0; i <= text.size(); ++i)
    most = std::max(most, scan(text.take_front(i)).size());
  EXPECT_EQ(most, 2u);
}
} // namespace
