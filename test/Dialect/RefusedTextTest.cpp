//===- RefusedTextTest.cpp - A text with an error is not read -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is no module where an error was reported: of the parts of the files
// invalid*.mlir that need no pass (llmc-opt --verify-diagnostics sees the error
// and not what became of the text), and of valid texts from which a token is
// taken away or stands twice.
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;

namespace {

class RefusedText : public ::testing::Test {
protected:
  static DialectRegistry listDialects() {
    DialectRegistry registry;
    llmc::registerAllDialects(registry);
    return registry;
  }
  static std::vector<std::string> listFiles(bool isInvalid);
  /// What is reported of a text; there is a module or an error, not both.
  std::string errorsOf(StringRef text, StringRef where);

  MLIRContext context{listDialects(), MLIRContext::Threading::DISABLED};
};

std::vector<std::string> RefusedText::listFiles(bool isInvalid) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator i(LLMC_DIALECT_TESTS, error),
       end;
       i != end && !error; i.increment(error)) {
    StringRef name = llvm::sys::path::filename(i->path());
    if (name.starts_with("invalid") == isInvalid && name.ends_with(".mlir"))
      files.push_back(i->path());
  }
  llvm::sort(files);
  return files;
}

std::string RefusedText::errorsOf(StringRef text, StringRef where) {
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_EQ(static_cast<bool>(module), errors.empty()) << where.str() << "\n"
                                                       << errors;
  return errors;
}

/// The parts between lines of dashes.
SmallVector<StringRef> splitParts(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, "// -----");
  return parts;
}

std::string readFile(const std::string &path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(text) << path;
  return text ? (*text)->getBuffer().str() : "";
}

TEST_F(RefusedText, NoModuleOfWhatIsInvalid) {
  int64_t numRefused = 0;
  for (const std::string &file : listFiles(/*isInvalid=*/true)) {
    std::string text = readFile(file);
    // Others are tested with a pass.
    if (StringRef(text).take_front(text.find('\n')).count("--") != 2)
      continue;
    for (StringRef part : splitParts(text))
      numRefused += !errorsOf(part, file + part.str()).empty();
  }
  EXPECT_GE(numRefused, 500);
}

/// Where tokens lie in the lines of ops.
std::vector<std::pair<size_t, size_t>> findTokens(const std::string &text) {
  const std::regex token(R"([%@#!^]?[A-Za-z0-9_.$]+|"[^"]*"|->|[^\s])");
  std::vector<std::pair<size_t, size_t>> tokens;
  for (auto i = std::sregex_iterator(text.begin(), text.end(), token);
       i != std::sregex_iterator(); ++i) {
    size_t line = text.rfind('\n', i->position()) + 1;
    if (!StringRef(text).drop_front(line).ltrim().starts_with("//"))
      tokens.push_back({i->position(), i->length()});
  }
  return tokens;
}

TEST_F(RefusedText, NoModuleWhereATokenIsMissedOrDoubled) {
  int64_t numRefused = 0;
  for (const std::string &file : listFiles(/*isInvalid=*/false)) {
    std::string all = readFile(file);
    for (StringRef part : splitParts(all)) {
      std::string text = part.str();
      if (!errorsOf(text, file).empty())
        continue;
      for (auto [at, length] : findTokens(text)) {
        std::string missed = text, doubled = text;
        missed.erase(at, length);
        doubled.insert(at, text.substr(at, length) + " ");
        for (const std::string &slip : {missed, doubled})
          numRefused +=
              !errorsOf(slip, file + " at " + text.substr(at, 100)).empty();
      }
    }
  }
  EXPECT_GE(numRefused, 10000);
}

} // namespace
