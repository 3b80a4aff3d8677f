//===- Places.cpp - Lines of the user's file ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "llmc/Import/Onnx/Import.h"
#include "llmc/Runtime/Base/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llmc;
using namespace llmc::driver;
using llvm::StringRef;

/// `#loc3 = loc("name")`: the alias and the name; both empty otherwise.
static std::pair<StringRef, StringRef> readAlias(StringRef line) {
  auto [alias, rest] = line.split(" = loc(\"");
  if (!line.starts_with("#loc") || rest.empty())
    return {};
  return {alias, rest.split('"').first};
}

Places::Places(const std::string &model) : model(model), main(model) {
  if (onnx::isOnnxFile(model))
    return;
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(model);
  if (!file)
    return;
  StringRef text(file->text().data(), file->size());
  llvm::SmallVector<StringRef, 0> all;
  text.split(all, '\n');
  llvm::StringMap<StringRef> names;
  for (StringRef line : all)
    if (auto [alias, name] = readAlias(line); !alias.empty())
      names[alias] = name;
  for (size_t number = 0; number < all.size(); ++number) {
    StringRef line = all[number];
    if (line.starts_with("#loc"))
      continue;
    if (main == model && line.ltrim().starts_with("func.func public"))
      main = model + ":" + std::to_string(number + 1);
    for (size_t at = line.find("loc("); at != StringRef::npos;
         at = line.find("loc(", at + 1)) {
      StringRef inner = line.substr(at + 4);
      StringRef name = inner.consume_front("\"")
                           ? inner.split('"').first
                           : names.lookup(inner.split(')').first);
      if (!name.empty())
        lines.try_emplace(name, static_cast<int64_t>(number) + 1);
    }
  }
}

/// "model.py:31:7" of itself and of "mul (model.py:31:7)"; otherwise empty.
static StringRef findLine(StringRef place) {
  StringRef inner = place;
  if (inner.consume_back(")"))
    inner = inner.rsplit(" (").second;
  auto [file, column] = inner.rsplit(':');
  int64_t number = 0;
  bool isPlace = !column.getAsInteger(10, number) &&
                 !file.rsplit(':').second.getAsInteger(10, number);
  return isPlace ? inner : StringRef();
}

std::string Places::resolve(const std::string &place) const {
  if (place.empty())
    return main;
  if (StringRef line = findLine(place); !line.empty())
    return line.str();
  StringRef name = place;
  if (name.consume_front("\""))
    name.consume_back("\"");
  auto line = lines.find(name);
  return line == lines.end() ? main
                             : model + ":" + std::to_string(line->second);
}
