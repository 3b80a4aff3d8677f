//===- TorchMetadata.cpp - The notes of PyTorch's exporter ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A note that reads differently from what is expected here is passed over, as
// if it were not there: what then has no name is refused by TorchNames.cpp.
//
// Test: test/Import/Onnx/TorchNamesTest.cpp
//===----------------------------------------------------------------------===//

#include "TorchMetadata.h"

#include <algorithm>

using namespace llmc;
using namespace llmc::onnx;

static std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \n\r\t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \n\r\t") - begin + 1);
}

static bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/// What stands between the two marks, or "".
static std::string_view between(std::string_view text, std::string_view before,
                                std::string_view after) {
  size_t begin = text.find(before);
  if (begin == std::string_view::npos)
    return {};
  text.remove_prefix(begin + before.size());
  size_t end = text.find(after);
  return end == std::string_view::npos ? std::string_view()
                                       : text.substr(0, end);
}

/// The text up to where the bracket before it closes.
static std::string_view upToClosing(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += c == '(' || c == '[' || c == '{';
    if ((c == ')' || c == ']' || c == '}') && depth-- == 0)
      return text.substr(0, i);
  }
  return text;
}

/// At the commas outside of brackets.
static std::vector<std::string_view> splitList(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth +=
        (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (i < text.size() && (c != ',' || depth > 0))
      continue;
    if (std::string_view part = trim(text.substr(begin, i - begin));
        !part.empty())
      parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

static std::string_view noteOf(const Node &node, std::string_view key) {
  auto found = node.metadata.find(key);
  return found == node.metadata.end() ? std::string_view() : found->second;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

const TorchTensor *TorchSignature::find(std::string_view argument) const {
  auto found = numberOf.find(argument);
  return found == numberOf.end() ? nullptr : &tensors[found->second];
}

std::optional<TorchSignature> onnx::readTorchSignature(const Graph &graph) {
  auto found =
      graph.metadata.find("pkg.torch.export.ExportedProgram.graph_signature");
  if (found == graph.metadata.end())
    return std::nullopt;
  TorchSignature signature;
  std::string_view text = found->second;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t colon = line.find(": ");
    if (colon == std::string_view::npos)
      continue;
    std::string_view kind = line.substr(colon + 2);
    kind = kind.substr(0, kind.find(' '));
    std::string_view target = between(line, "target='", "'");
    if (kind != "PARAMETER" && kind != "BUFFER")
      continue;
    std::string_view argument = trim(line.substr(0, colon));
    if (signature.numberOf.try_emplace(argument, signature.tensors.size())
            .second)
      signature.tensors.push_back({argument, target, kind == "PARAMETER"});
  }
  return signature;
}

//===----------------------------------------------------------------------===//
// A node
//===----------------------------------------------------------------------===//

static void readOperands(std::string_view text, TorchCall &call) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%')
      continue;
    size_t end = i + 1;
    while (end < text.size() && isWordCharacter(text[end]))
      ++end;
    std::string_view name = text.substr(i + 1, end - i - 1);
    if (call.taken.insert(name).second)
      call.operands.push_back(name);
  }
}

std::optional<TorchCall> onnx::readTorchCall(const Node &node) {
  std::string_view text = noteOf(node, "pkg.torch.onnx.fx_node");
  TorchCall call;
  call.name = between(text, "%", " ");
  call.target = between(text, "[target=", "]");
  for (std::string_view prefix : {"torch.ops.", "builtins."})
    if (call.target.substr(0, prefix.size()) == prefix)
      call.target.remove_prefix(prefix.size());
  constexpr std::string_view marks[] = {"(args = (", "kwargs = {"};
  size_t begin = text.find(marks[0]);
  if (call.name.empty() || call.target.empty() ||
      begin == std::string_view::npos)
    return std::nullopt;
  std::string_view list = upToClosing(text.substr(begin + marks[0].size()));
  call.arguments = splitList(list);
  readOperands(list, call);
  text.remove_prefix(begin + marks[0].size() + list.size());
  if (size_t rest = text.find(marks[1]); rest != std::string_view::npos) {
    list = upToClosing(text.substr(rest + marks[1].size()));
    readOperands(list, call);
    for (std::string_view pair : splitList(list))
      if (size_t colon = pair.find(": "); colon != std::string_view::npos)
        call.keywords[pair.substr(0, colon)] = pair.substr(colon + 2);
  }
  return call;
}

std::string_view onnx::readTorchModule(const Node &node) {
  // ['', 'h.0', 'h.0.attn', 'linear']: the last is the call itself.
  std::string_view text = noteOf(node, "pkg.torch.onnx.name_scopes");
  std::vector<std::string_view> scopes = splitList(between(text, "[", "]"));
  if (scopes.size() < 2)
    return {};
  return between(scopes[scopes.size() - 2], "'", "'");
}

bool onnx::isNamedInCode(const Node &node, std::string_view word) {
  std::string_view text = noteOf(node, "pkg.torch.onnx.stack_trace");
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    size_t end = at + word.size();
    if ((at == 0 || !isWordCharacter(text[at - 1])) &&
        (end == text.size() || !isWordCharacter(text[end])))
      return true;
  }
  return false;
}

std::pair<std::string_view, std::string_view>
onnx::splitTarget(std::string_view target) {
  size_t point = target.rfind('.');
  if (point == std::string_view::npos)
    return {{}, target};
  return {target.substr(0, point), target.substr(point + 1)};
}
