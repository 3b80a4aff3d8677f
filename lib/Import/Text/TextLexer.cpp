//===- TextLexer.cpp - Tokens of MLIR text --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/Text/ScanOpsTest.cpp
//===----------------------------------------------------------------------===//

#include "TextLexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace llmc;
using namespace llmc::import;

void TextLexer::skipBlanks() {
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '\n') {
      ++line;
      lineStart = at + 1;
    } else if (c == '/' && text.substr(at).starts_with("//")) {
      // The end of the line is the next character.
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

/// From the quote to behind the next one.
void TextLexer::skipString() {
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') {
      ++at;
      return;
    }
    if (text[at] == '\\' && !text.substr(at + 1).starts_with("\n"))
      ++at;
  }
  at = std::min(at, text.size());
}

void TextLexer::skipWord(StringRef others) {
  while (at < text.size() &&
         (llvm::isAlnum(text[at]) || others.contains(text[at])))
    ++at;
}

TokenKind TextLexer::skipToken() {
  char c = text[at];
  if (c == '"') {
    skipString();
    return TokenKind::String;
  }
  if (llvm::isAlpha(c) || c == '_') {
    skipWord("_$.");
    return TokenKind::Word;
  }
  if (llvm::isDigit(c)) {
    skipWord("_.");
    return TokenKind::Number;
  }
  ++at;
  if (c == '@' && isAt('"')) {
    skipString();
    return TokenKind::Name;
  }
  if (StringRef("%^#!@").contains(c)) {
    skipWord(c == '@' ? "_$." : "_$.-");
    return TokenKind::Name;
  }
  if (c == '-' && isAt('>'))
    ++at;
  return TokenKind::Other;
}

Token TextLexer::next() {
  skipBlanks();
  Token token;
  token.line = line;
  token.column = at - lineStart + 1;
  if (at == text.size())
    return token;
  size_t begin = at;
  token.kind = skipToken();
  token.text = text.slice(begin, at);
  if (token.kind == TokenKind::String) {
    token.text.consume_front("\"");
    token.text.consume_back("\"");
  }
  return token;
}
