//===- InitialStatesTest.cpp - What states begin with ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Interpreter/StepInterpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {

// A whole is found wherever it stands, and only a whole.
TEST(InitialStates, CutsPartsOutOfTheirWhole) {
  const char *text = R"(
    dist.state @w.0 part of @w box([2] [2]) : tensor<2xf32> {role = parameter}
    dist.state @v : tensor<4xf32> {role = parameter}
    dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<uniform, 1.0, 2.0>})";
  auto run = [&](auto breakIt) {
    GraphContext context;
    auto module = context.parse(text);
    EXPECT_TRUE(module) << context.takeMessages();
    breakIt(*module);
    StepInterpreter interpreter(*module);
    bool ok = succeeded(interpreter.initializeStates(7));
    std::string messages = context.takeMessages();
    EXPECT_EQ(ok, messages.empty());
    if (ok) {
      EXPECT_GE(interpreter.getState("w").getFloat(2), 1);
      EXPECT_EQ(interpreter.getState("w.0").getFloat(0),
                interpreter.getState("w").getFloat(2));
      // Without a source, a state is zero.
      EXPECT_EQ(interpreter.getState("v").getFloat(3), 0);
    }
    return messages;
  };
  auto lookup = [](ModuleOp module, StringRef name) {
    return mlir::SymbolTable::lookupSymbolIn(module, name);
  };
  EXPECT_EQ(run([](ModuleOp) {}), "");
  EXPECT_EQ(run([&](ModuleOp module) { lookup(module, "w")->erase(); }),
            "'dist.state' op expected the state that it is a part of, got "
            "'w'\n");
  EXPECT_EQ(run([&](ModuleOp module) {
              lookup(module, "w.0")
                  ->setAttr("part_of", mlir::FlatSymbolRefAttr::get(
                                           module.getContext(), "w.0"));
            }),
            "'dist.state' op expected the state that it is a part of, got "
            "'w.0'\n");
  EXPECT_EQ(run([&](ModuleOp module) {
              lookup(module, "w")
                  ->setAttr("source",
                            mlir::StringAttr::get(module.getContext(), "else"));
            }),
            "'dist.state' op expected a drawn source or a file to interpret, "
            "got \"else\"\n");
}

// Whatever is allowed, the sum of all states is a number.
TEST(InitialStates, RefusesStatesThatNoNumberCounts) {
  GraphContext context;
  auto module = context.parse(R"(
    dist.state @w : tensor<1000000000x1000000000xf64> {role = parameter}
    dist.state @v : tensor<1000000000x1000000000x1xf64> {role = parameter})");
  ASSERT_TRUE(module) << context.takeMessages();
  InterpreterLimits limits;
  limits.maxLiveBytes = std::numeric_limits<int64_t>::max();
  StepInterpreter interpreter(*module, limits);
  EXPECT_TRUE(failed(interpreter.initializeStates(7)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected states of at most 9223372036854775807 bytes "
                        "in the interpreter, got "
                        "'tensor<1000000000x1000000000x1xf64>'\n"));
}

/// A state of two elements from a file of 16 bytes: 1, 2, 3, 4 as i32; or what
/// the interpreter says of it.
struct StateFile {
  std::string directory = testing::TempDir();
  /// Of this process: others test at the same time.
  std::string name = "llmc-states." + std::to_string(getpid()) + ".bin";
  std::vector<double> values;

  StateFile() {
    std::error_code error;
    llvm::raw_fd_ostream os(directory + name, error);
    for (int32_t value : {1, 2, 3, -4})
      os.write(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  ~StateFile() { llvm::sys::fs::remove(directory + name); }

  /// `where`: offset, bytes and what follows, in the state's attribute.
  std::string read(const std::string &path, const std::string &where,
                   const std::string &element, StringRef from) {
    GraphContext context;
    auto module = context.parse("dist.state @w : tensor<2x" + element +
                                "> {role = carried}");
    EXPECT_TRUE(module) << context.takeMessages();
    mlir::SymbolTable::lookupSymbolIn(*module, "w")
        ->setAttr("source", mlir::parseAttribute("#dist.file<\"" + path +
                                                     "\", " + where + ">",
                                                 context.get()));
    StepInterpreter interpreter(*module);
    values.clear();
    if (failed(interpreter.initializeStates(7, from)))
      return context.takeMessages();
    HostTensor state = interpreter.getState("w");
    for (int64_t i = 0; i < 2; ++i)
      values.push_back(state.isFloat() ? state.getFloat(i) : state.getInt(i));
    return context.takeMessages();
  }
};

TEST(InitialStates, ReadsStatesFromFiles) {
  StateFile file;
  // From the directory, or from where the path says.
  for (auto [path, from] : {std::pair(file.name, file.directory),
                            {file.directory + file.name, "/nowhere"},
                            {file.directory + file.name, ""}}) {
    EXPECT_EQ(file.read(path, "8, 8", "i32", from), "");
    EXPECT_EQ(file.values, std::vector<double>({3, -4}));
  }
  // Other elements are converted; what is no float stays exact.
  EXPECT_EQ(file.read(file.name, "8, 8, i32", "f32", file.directory), "");
  EXPECT_EQ(file.values, std::vector<double>({3, -4}));
  EXPECT_EQ(file.read(file.name, "12, 2, i8", "i64", file.directory), "");
  EXPECT_EQ(file.values, std::vector<double>({-4, -1}));
  EXPECT_EQ(file.read(file.name, "12, 2, ui8", "i64", file.directory), "");
  EXPECT_EQ(file.values, std::vector<double>({252, 255}));
  EXPECT_EQ(file.read(file.name, "14, 2, i8", "i64", file.directory), "");
}

TEST(InitialStates, NamesFilesThatItCannotRead) {
  StateFile file;
  std::string all =
      "of file '" + file.directory + file.name + "' of 16 bytes\n";
  for (auto [where, expected] :
       {std::pair("8, 7", "expected 8 bytes at offset 8 "),
        {"9, 8", "expected 8 bytes at offset 9 "},
        {"17, 8", "expected 8 bytes at offset 17 "},
        {"15, 2, i8", "expected 2 bytes at offset 15 "}})
    EXPECT_THAT(file.read(file.name, where, "i32", file.directory),
                HasSubstr(expected + all));
  EXPECT_THAT(file.read("other.bin", "0, 8", "i32", file.directory),
              HasSubstr(file.directory + "other.bin"));
}
} // namespace
