//===- ScanOps.cpp - Which ops a text has, without parsing it -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brackets are followed, and ops are looked for where the innermost one is a
// region: there a word with a dot, a string before a parenthesis, and what
// follows `%r =` is an op. What tells a region from a dictionary of attributes
// are the first two tokens behind the brace.
//
// Test: test/Import/Text/ScanOpsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Import/Text/ScanOps.h"
#include "TextLexer.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

/// Brackets further in are not followed. Texts that are read nest less
/// (ReadModule.cpp).
static constexpr size_t maxBrackets = 1000;

static constexpr StringLiteral kCustomCall = "stablehlo.custom_call";

namespace {
/// An open bracket.
struct Bracket {
  char open;
  bool isRegion;
  /// The innermost region that this is in, as an index; a region itself.
  size_t region;
  /// Of a region: whose ops are written without a dialect; "" if none.
  StringRef dialect = "";
  /// Of a region: the latest op in it.
  std::string latest = "";
};

/// How much of `%r:2 =` has been read.
enum class Results { None, Value, Colon, Number, Assigned };

class OpScanner {
public:
  OpScanner(MLIRContext &context, StringRef text)
      : context(context), lexer(text) {
    brackets.push_back({'{', true, 0, BuiltinDialect::getDialectNamespace()});
  }

  std::vector<OpCount> run();

private:
  StringRef getInnerDialect() const;
  std::string completeName(StringRef dialect, StringRef word) const;
  bool beginsRegion(const Token &brace) const;
  std::string findName(const Token &token) const;
  void count(const std::string &name, const Token &token);
  void countCall(StringRef target);
  void followCall(const Token &token);
  void open(const Token &token);
  void close(char bracket);
  void followBrackets(const Token &token);
  void followResults(const Token &token);
  const Bracket &getRegion() const { return brackets[brackets.back().region]; }

  MLIRContext &context;
  TextLexer lexer;
  SmallVector<Bracket> brackets;
  Token previous, beforePrevious;
  Results results = Results::None;
  std::vector<OpCount> counts;
  /// Of names with their targets.
  llvm::StringMap<size_t> indices;
  /// A custom call whose target has not been met yet: its first token.
  std::optional<Token> call;
};
} // namespace

/// Whose ops are written without a dialect in regions of the latest op.
StringRef OpScanner::getInnerDialect() const {
  auto op = RegisteredOperationName::lookup(getRegion().latest, &context);
  auto *assembly = op ? op->getInterface<OpAsmOpInterface>() : nullptr;
  return assembly ? assembly->getDefaultDialect() : "";
}

/// The registered op that `word` means where ops of `dialect` are written
/// without it; "" if there is none.
std::string OpScanner::completeName(StringRef dialect, StringRef word) const {
  std::string name = (dialect + "." + word).str();
  return RegisteredOperationName::lookup(name, &context) ? name : "";
}

/// Whether a region begins with `brace`, and not a dictionary or a set.
bool OpScanner::beginsRegion(const Token &brace) const {
  const Bracket &around = brackets.back();
  if ((!around.isRegion && around.open != '(') || previous.is("=") ||
      previous.isWord("attributes"))
    return false;
  TextLexer ahead = lexer;
  Token first = ahead.next(), second = ahead.next();
  if (first.isName('%') || first.isName('^'))
    return true;
  if (first.kind == TokenKind::String)
    return second.is("(");
  if (first.kind != TokenKind::Word)
    return false;
  // `{return}` or `{use_global_device_ids}`: printers end the line after the
  // brace of a region.
  if (second.is("}"))
    return first.line != brace.line ||
           !completeName(getInnerDialect(), first.text).empty() ||
           RegisteredOperationName::lookup(first.text, &context);
  return !second.is("=") && !second.is(",");
}

/// The name of the op that `token`, in a region, is; "" for other tokens.
std::string OpScanner::findName(const Token &token) const {
  bool isAssigned = results == Results::Assigned;
  if (token.kind == TokenKind::String) {
    bool isOp = isAssigned || TextLexer(lexer).next().is("(");
    return isOp ? token.text.str() : "";
  }
  if (token.kind != TokenKind::Word || previous.isWord("applies"))
    return "";
  if (token.text.contains('.'))
    return token.text.str();
  std::string name = completeName(getRegion().dialect, token.text);
  // Only an op can stand there.
  bool isFirst = previous.kind == TokenKind::End || previous.is("{");
  if (name.empty() && (isAssigned || isFirst))
    name = token.text.str();
  return name;
}

void OpScanner::count(const std::string &name, const Token &token) {
  if (call)
    countCall("");
  brackets.back().latest = name;
  if (name == kCustomCall) {
    call = token;
    return;
  }
  auto [entry, isNew] = indices.try_emplace(name, counts.size());
  if (isNew)
    counts.push_back({name, "", 0, token.line, token.column});
  ++counts[entry->second].count;
}

void OpScanner::countCall(StringRef target) {
  // No name has a blank.
  std::string key = (kCustomCall + " " + target).str();
  auto [entry, isNew] = indices.try_emplace(key, counts.size());
  if (isNew)
    counts.push_back(
        {kCustomCall.str(), target.str(), 0, call->line, call->column});
  ++counts[entry->second].count;
  call.reset();
}

/// The target is the symbol after the name, or an attribute of that name.
void OpScanner::followCall(const Token &token) {
  if (!call || token.text.data() == call->text.data())
    return;
  bool isPretty =
      token.isName('@') && previous.text.data() == call->text.data();
  bool isAttribute = token.kind == TokenKind::String && previous.is("=") &&
                     beforePrevious.isWord("call_target_name");
  if (isPretty || isAttribute)
    countCall(token.text.ltrim('@').trim('"'));
}

void OpScanner::open(const Token &token) {
  if (brackets.size() == maxBrackets)
    return;
  Bracket bracket{token.text.front(), false, brackets.back().region};
  if (token.is("{") && beginsRegion(token)) {
    bracket.isRegion = true;
    bracket.dialect = getInnerDialect();
    bracket.region = brackets.size();
  }
  brackets.push_back(bracket);
}

/// Closes the innermost `bracket`, and what was left open in it. A brace stays
/// open until a brace closes it, and the outermost region until the end.
void OpScanner::close(char bracket) {
  while (brackets.size() > 1) {
    char inner = brackets.back().open;
    if (inner != bracket && inner != '<' && bracket != '{')
      return;
    brackets.pop_back();
    if (inner == bracket)
      return;
  }
}

void OpScanner::followBrackets(const Token &token) {
  if (token.kind != TokenKind::Other || token.text.size() != 1)
    return;
  char c = token.text.front();
  if (c == '(' || c == '[' || c == '{' || c == '<')
    open(token);
  else if (c == ')')
    close('(');
  else if (c == ']')
    close('[');
  else if (c == '}')
    close('{');
  else if (c == '>')
    close('<');
}

void OpScanner::followResults(const Token &token) {
  bool isNamed = results == Results::Value || results == Results::Number;
  if (token.isName('%'))
    results = Results::Value;
  else if (results == Results::Value && token.is(":"))
    results = Results::Colon;
  else if (results == Results::Colon && token.kind == TokenKind::Number)
    results = Results::Number;
  else if (isNamed && token.is("="))
    results = Results::Assigned;
  else
    results = Results::None;
}

std::vector<OpCount> OpScanner::run() {
  for (Token token = lexer.next(); token.kind != TokenKind::End;
       token = lexer.next()) {
    if (brackets.back().isRegion)
      if (std::string name = findName(token); !name.empty())
        count(name, token);
    followCall(token);
    followBrackets(token);
    followResults(token);
    beforePrevious = previous;
    previous = token;
  }
  if (call)
    countCall("");
  return std::move(counts);
}

std::vector<OpCount> import::scanOps(MLIRContext &context, StringRef text) {
  return OpScanner(context, text).run();
}
