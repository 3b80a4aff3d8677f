//===- TextMutator.cpp - Makes a model's text wrong in a few places -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TextMutator.h.
//
// Tests: test/Fuzz/models.test
//===----------------------------------------------------------------------===//

#include "TextMutator.h"
#include <algorithm>
#include <cctype>
#include <random>
#include <vector>

using namespace llmc::test;

namespace {
enum class Class {
  Space,
  Value,
  Symbol,
  Location,
  Op,
  Word,
  Number,
  String,
  Element,
  Mark
};

struct Token {
  Class kind;
  std::string text;
};

using Texts = std::vector<std::string>;

/// Dimensions, positions, counts. What is large is so large that it is refused:
/// a legal program that merely takes long is no mistake.
const Texts numbers = {"0",
                       "1",
                       "-1",
                       "2",
                       "3",
                       "5",
                       "7",
                       "8",
                       "16",
                       "31",
                       "64",
                       "255",
                       "2147483647",
                       "2147483648",
                       "4294967296",
                       "9223372036854775807",
                       "-9223372036854775808",
                       "9223372036854775808",
                       "18446744073709551616",
                       "99999999999999999999999999",
                       "0x7FF0000000000000",
                       "1.0e+308",
                       "1.0e+400",
                       "0.0",
                       "-0.0",
                       "1.5"};
const Texts elements = {"f32",        "f64",          "bf16",
                        "f16",        "i1",           "i4",
                        "i8",         "i16",          "i32",
                        "i64",        "ui8",          "ui32",
                        "si8",        "i128",         "i7",
                        "f128",       "f80",          "tf32",
                        "index",      "none",         "f8E4M3FN",
                        "f8E5M2",     "f4E2M1FN",     "f6E2M3FN",
                        "f8E8M0FNU",  "complex<f32>", "vector<4xf32>",
                        "tuple<f32>", "tensor<f32>",  "!quant.any<i8>",
                        "() -> ()"};
const Texts marks = {"?",
                     "*",
                     "->",
                     "<",
                     ">",
                     "x",
                     "{",
                     "}",
                     "dense<>",
                     "dense<\"0xFF\">",
                     "dense<[1, 2]>",
                     "dense<[[1], [2, 3]]>",
                     "dense<0x7F800000>",
                     "dense_resource<blob>",
                     "sparse<[[0, 0]], 1.0>",
                     "array<i64: 1, 2>",
                     "affine_map<(d0) -> (d0)>",
                     "loc(fused[\"a\", \"b\"])",
                     "loc(callsite(\"f\" at \"x.py\":1:2))",
                     "unit",
                     "@main",
                     "@missing",
                     "%undefined",
                     "#loc999",
                     "#stablehlo<precision HIGHEST>",
                     "^bb0",
                     "^bb1(%b: f32):",
                     "\"stablehlo.nothing\"",
                     "cf.br ^bb0",
                     "// "};
const Texts names = {"\"t\"",
                     "\"lr\"",
                     "\"loss\"",
                     "\"train\"",
                     "\"mesh\"",
                     "\"params\"",
                     "\"params['']\"",
                     "\"params['a']['b']\"",
                     "\"params['x'\"",
                     "\"\"",
                     "\"\\00\\FF\"",
                     "\"</script>\\1B[31m\\0A\"",
                     "\"custom_vjp\"",
                     "\"jit(f)/custom_jvp_call\"",
                     "\"../../etc/passwd\""};

class Mutation {
public:
  Mutation(const std::string &text, uint64_t seed) : engine(seed), text(text) {}

  std::string run() {
    // More than one at a time is rarely read any further; none shows that what
    // is drawn is accepted.
    int64_t count = below(16) == 0 ? 0 : (below(5) ? 1 : 2 + below(2));
    for (int64_t i = 0; i < count; ++i)
      mutate();
    return text;
  }

private:
  int64_t below(int64_t end) {
    return end > 0 ? static_cast<int64_t>(engine() % end) : 0;
  }
  template <typename List> const auto &pick(const List &list) {
    return list[below(static_cast<int64_t>(list.size()))];
  }
  void mutate();
  void mutateTokens(int64_t way);
  void mutateLines(int64_t way);
  void mutateType();
  void nestRegion();
  std::vector<Token> split() const;
  int64_t pickToken(const std::vector<Token> &tokens, Class kind);
  void substitute(Token &token, const std::vector<Token> &tokens);

  std::mt19937_64 engine;
  std::string text;
};
} // namespace

static bool isWordCharacter(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$';
}

static Class classOf(const std::string &word) {
  if (std::find(elements.begin(), elements.end(), word) != elements.end())
    return Class::Element;
  return word.find('.') != std::string::npos ? Class::Op : Class::Word;
}

/// The text as tokens, blanks among them; a tensor's dims are single numbers.
std::vector<Token> Mutation::split() const {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    char c = text[i];
    Class kind = Class::Mark;
    auto takeWord = [&] {
      while (end < text.size() && isWordCharacter(text[end]))
        ++end;
    };
    if (isspace(static_cast<unsigned char>(c))) {
      kind = Class::Space;
    } else if (c == '"') {
      kind = Class::String;
      while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (c == '%' || c == '@' || c == '#') {
      kind = c == '%'   ? Class::Value
             : c == '@' ? Class::Symbol
                        : Class::Location;
      takeWord();
    } else if (isdigit(static_cast<unsigned char>(c)) ||
               (c == '-' && end < text.size() && isdigit(text[end]))) {
      kind = Class::Number;
      while (end < text.size() && (isdigit(text[end]) || text[end] == '.'))
        ++end;
    } else if (c == 'x' && i && isdigit(text[i - 1])) {
      kind = Class::Mark;
    } else if (isWordCharacter(c)) {
      takeWord();
      kind = classOf(text.substr(i, end - i));
    }
    tokens.push_back({kind, text.substr(i, end - i)});
    i = end;
  }
  return tokens;
}

/// A token of a class, or -1.
int64_t Mutation::pickToken(const std::vector<Token> &tokens, Class kind) {
  std::vector<int64_t> found;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == kind)
      found.push_back(static_cast<int64_t>(i));
  return found.empty() ? -1 : pick(found);
}

/// Another one of its class, of the text or a table.
void Mutation::substitute(Token &token, const std::vector<Token> &tokens) {
  const Texts *table = token.kind == Class::Number    ? &numbers
                       : token.kind == Class::Element ? &elements
                       : token.kind == Class::Mark    ? &marks
                       : token.kind == Class::String  ? &names
                                                      : nullptr;
  if (table && below(4))
    token.text = pick(*table);
  else if (int64_t other = pickToken(tokens, token.kind); other >= 0)
    token.text = std::string(tokens[other].text);
}

void Mutation::mutateTokens(int64_t way) {
  static const Class kinds[] = {Class::Value,   Class::Op,     Class::Number,
                                Class::Number,  Class::Number, Class::Element,
                                Class::Element, Class::Word,   Class::String,
                                Class::Mark,    Class::Symbol, Class::Location};
  std::vector<Token> tokens = split();
  Class kind = kinds[below(std::size(kinds))];
  int64_t at = pickToken(tokens, kind), other = pickToken(tokens, kind);
  if (at < 0)
    return;
  if (way == 0)
    std::swap(tokens[at].text, tokens[other].text);
  else if (way == 1)
    tokens.erase(tokens.begin() + at);
  else if (way == 2)
    tokens.insert(tokens.begin() + at, {Class::Mark, pick(marks) + " "});
  else
    substitute(tokens[at], tokens);
  text.clear();
  for (const Token &token : tokens)
    text += token.text;
}

/// All uses of one tensor type become another, so that what is wrong is found
/// after the types were compared.
void Mutation::mutateType() {
  std::vector<std::string> types;
  for (size_t i = 0; (i = text.find("tensor<", i)) != std::string::npos; ++i)
    if (size_t end = text.find('>', i); end != std::string::npos)
      types.push_back(text.substr(i, end + 1 - i));
  if (types.empty())
    return;
  std::string from = pick(types), to = from;
  size_t x = from.rfind('x');
  std::string element = x == std::string::npos
                            ? from.substr(7, from.size() - 8)
                            : from.substr(x + 1, from.size() - x - 2);
  std::string dims = x == std::string::npos ? "" : from.substr(7, x - 6);
  switch (below(4)) {
  case 0:
    to = "tensor<" + dims + pick(elements) + ">";
    break;
  case 1:
    to = "tensor<" + pick(numbers) + "x" + dims + element + ">";
    break;
  case 2:
    to = "tensor<" + dims.substr(std::min(dims.size(), dims.find('x') + 1)) +
         element + ">";
    break;
  default:
    to = "tensor<" + pick(numbers) + "x" +
         dims.substr(std::min(dims.size(), dims.find('x') + 1)) + element + ">";
  }
  for (size_t i = 0; (i = text.find(from, i)) != std::string::npos;
       i += to.size())
    text.replace(i, from.size(), to);
}

void Mutation::mutateLines(int64_t way) {
  Texts lines;
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find('\n', i), text.size() - 1) + 1;
    lines.push_back(text.substr(i, end - i));
    i = end;
  }
  if (lines.empty())
    return;
  int64_t at = below(static_cast<int64_t>(lines.size()));
  int64_t other = below(static_cast<int64_t>(lines.size()));
  std::string line = lines[at];
  if (way == 0)
    lines.erase(lines.begin() + at);
  else if (way == 1)
    lines.insert(lines.begin() + other, line);
  else if (way == 2)
    std::swap(lines[at], lines[other]);
  else if (way == 3)
    lines.resize(at + 1);
  else
    lines.insert(lines.begin() + at, 1 + below(300), line);
  text.clear();
  for (const std::string &each : lines)
    text += each;
}

/// What stands in braces, put into itself.
void Mutation::nestRegion() {
  std::vector<size_t> opening;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '{' || text[i] == '(' || text[i] == '<')
      opening.push_back(i);
  if (opening.empty())
    return;
  size_t begin = pick(opening);
  char open = text[begin],
       close = open == '{' ? '}' : (open == '(' ? ')' : '>');
  int depth = 0;
  size_t end = begin;
  for (; end < text.size(); ++end) {
    depth += (text[end] == open) - (text[end] == close);
    if (depth == 0)
      break;
  }
  if (end == text.size() || end - begin > 4000)
    return;
  static const std::vector<int64_t> depths = {1, 2, 10, 150, 250, 5000};
  int64_t times = pick(depths);
  std::string head = text.substr(begin, 1), tail(1, close), inner;
  // The front once more for each level: `tensor<tensor<...`, `{ {`.
  size_t word = begin;
  while (word && isWordCharacter(text[word - 1]))
    --word;
  for (int64_t i = 0; i < times; ++i)
    inner += text.substr(word, begin - word) + head;
  inner += text.substr(begin + 1, end - begin - 1);
  for (int64_t i = 0; i < times; ++i)
    inner += tail;
  text = text.substr(0, begin + 1) + inner + text.substr(end);
}

void Mutation::mutate() {
  int64_t way = below(20);
  if (way < 11)
    mutateTokens(way < 4 ? way : 3);
  else if (way < 15)
    mutateType();
  else if (way < 19)
    mutateLines(below(5));
  else
    nestRegion();
}

std::string llmc::test::mutateText(const std::string &text, uint64_t seed) {
  return Mutation(text, seed).run();
}
