//===- ReadModule.cpp - Foreign text under limits -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser recurses over nesting and trusts its input, so the text is
// scanned first. Errors become one line with file, line and column.
//
// Tests: test/Import/StableHLO/malformed.test
//===----------------------------------------------------------------------===//

#include "llmc/Import/Text/ReadModule.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Support/FirstError.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// Deeper than any program that a tool prints; far above what it takes for
/// MLIR's parser to overflow an 8 MB stack (3,000).
static constexpr int maxNesting = 200;

/// Line and column of byte `offset`.
static std::string placeOf(StringRef text, size_t offset,
                           const std::string &file) {
  StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n');
  size_t column = offset - (lineStart == StringRef::npos ? 0 : lineStart + 1);
  return file + ":" + std::to_string(before.count('\n') + 1) + ":" +
         std::to_string(column + 1);
}

rt::Status import::checkText(StringRef text, const std::string &file) {
  if (text.starts_with("ML\xEFR"))
    return rt::makeError(ErrorKind::malformed,
                         file + ": expected MLIR text, got a portable artifact "
                                "or bytecode; print the text, for example with "
                                "lowered.as_text(debug_info=True)");
  if (size_t nul = text.find('\0'); nul != StringRef::npos)
    return rt::makeError(ErrorKind::malformed,
                         placeOf(text, nul, file) +
                             ": expected text, got a NUL byte");
  if (!llvm::json::isUTF8(text))
    return rt::makeError(ErrorKind::malformed, file + ": expected UTF-8 text");
  int depth = 0;
  bool inString = false, inComment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inComment) {
      inComment = c != '\n';
    } else if (inString) {
      if (c == '\\')
        ++i;
      else
        inString = c != '"' && c != '\n';
    } else if (c == '"') {
      inString = true;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      inComment = true;
    } else if (c == '(' || c == '[' || c == '{' ||
               (c == '<' && i &&
                (isalnum(text[i - 1]) || text[i - 1] == '_'))) {
      if (++depth > maxNesting)
        return rt::makeError(ErrorKind::malformed,
                             placeOf(text, i, file) +
                                 ": expected nesting of at most " +
                                 std::to_string(maxNesting) + ", got more");
    } else if (c == ')' || c == ']' || c == '}' ||
               (c == '>' && i && text[i - 1] != '-')) {
      depth -= depth > 0;
    }
  }
  return rt::Status::success();
}

/// An error about ops that llmc lacks, with the command that lists all.
static rt::Status suggestList(const rt::Status &status,
                              const std::string &file) {
  return status.withHint("'llmc ops " + file + "' lists all ops of the text");
}

/// Ops that no dialect knows: name, count and the first place in the text, in
/// one table. What is read without being registered stands there in its generic
/// form, as a quoted name.
static rt::Status refuseUnknownOps(ModuleOp module, StringRef text,
                                   const std::string &file) {
  llvm::MapVector<StringRef, int64_t> unknown;
  module->walk([&](Operation *op) {
    if (!op->isRegistered())
      ++unknown[op->getName().getStringRef()];
  });
  if (unknown.empty())
    return rt::Status::success();
  std::string table = file + ": expected ops that llmc has, got " +
                      std::to_string(unknown.size()) + " that it does not: ";
  StringRef separator = "";
  for (auto &[name, count] : unknown) {
    size_t at = text.find(("\"" + name + "\"(").str());
    table +=
        separator.str() + name.str() + " x " + std::to_string(count) +
        (at == StringRef::npos ? "" : ", first at " + placeOf(text, at, file));
    separator = "; ";
  }
  return suggestList(rt::makeError(ErrorKind::unsupported, table), file);
}

/// Types whose byte count overflows are accepted by MLIR's parser.
static rt::Status checkSizes(ModuleOp module) {
  rt::Status status;
  auto check = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return true;
    int64_t bytes = 8;
    for (int64_t dim : type.getShape())
      if (ShapedType::isDynamic(dim) ||
          llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes)) {
        std::string shown;
        llvm::raw_string_ostream(shown) << type;
        status =
            rt::makeError(ShapedType::isDynamic(dim) ? ErrorKind::unsupported
                                                     : ErrorKind::diagnosed,
                          describePlace(value.getLoc()) +
                              "expected a tensor of static "
                              "shape below 2^63 bytes, got " +
                              shown);
        return false;
      }
    return true;
  };
  module->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (!check(result))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (!check(argument))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return status;
}

rt::Result<OwningOpRef<ModuleOp>> import::parseText(MLIRContext &context,
                                                    StringRef text,
                                                    const std::string &file) {
  LLMC_TRY(checkText(text, file));
  FirstError error(context);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file),
                             llvm::SMLoc());
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  // Ops of unknown dialects are read, and refused in one table.
  bool allowed = context.allowsUnregisteredDialects();
  context.allowUnregisteredDialects(true);
  auto module = parseSourceFile<ModuleOp>(sources, config);
  context.allowUnregisteredDialects(allowed);
  if (!module) {
    bool unknownOp =
        StringRef(error.message()).contains("an op that llmc knows") ||
        StringRef(error.message()).contains("not found for custom op");
    rt::Status status =
        error.status(unknownOp ? ErrorKind::unsupported : ErrorKind::malformed,
                     file + ": expected MLIR text");
    return unknownOp ? suggestList(status, file) : status;
  }
  LLMC_TRY(refuseUnknownOps(*module, text, file));
  if (failed(verifyTextElements(*module)))
    return error.status(ErrorKind::unsupported,
                        file + ": expected elements that llmc computes with");
  LLMC_TRY(checkSizes(*module));
  if (failed(verify(*module)))
    return error.status(ErrorKind::malformed, file + ": expected valid IR");
  return module;
}

rt::Result<OwningOpRef<ModuleOp>> import::readModule(MLIRContext &context,
                                                     const std::string &path) {
  LLMC_TRY_ASSIGN(rt::MappedFile file, rt::MappedFile::open(path));
  return parseText(context, StringRef(file.text().data(), file.size()), path);
}
