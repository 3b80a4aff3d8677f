//===- TextLexer.h - Tokens of MLIR text ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens of any text, also of one that is no MLIR: what no token begins with is
// a token of one character. Comments are left out. A copy of a lexer looks
// ahead.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_TEXT_TEXTLEXER_H
#define LLMC_LIB_IMPORT_TEXT_TEXTLEXER_H

#include "llmc/Support/LLVM.h"

namespace llmc::import {

enum class TokenKind {
  End,
  /// `stablehlo.add`, `dims`.
  Word,
  /// A string, which ends at the line's end at the latest.
  String,
  /// What `%`, `^`, `#`, `!` or `@` begins.
  Name,
  /// `0`, `4x8xf32`.
  Number,
  /// An arrow, or one character.
  Other,
};

struct Token {
  TokenKind kind = TokenKind::End;
  /// As it stands in the text; a string without its quotes.
  StringRef text;
  /// From 1; columns count bytes.
  size_t line = 1, column = 1;

  bool is(StringRef symbol) const {
    return kind == TokenKind::Other && text == symbol;
  }
  bool isWord(StringRef word) const {
    return kind == TokenKind::Word && text == word;
  }
  bool isName(char sigil) const {
    return kind == TokenKind::Name && text.front() == sigil;
  }
};

class TextLexer {
public:
  explicit TextLexer(StringRef text) : text(text) {}
  Token next();

private:
  bool isAt(char c) const { return at < text.size() && text[at] == c; }
  void skipBlanks();
  void skipString();
  /// Skips letters, digits and the characters of `others`.
  void skipWord(StringRef others);
  TokenKind skipToken();

  StringRef text;
  size_t at = 0, line = 1, lineStart = 0;
};

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_TEXT_TEXTLEXER_H
