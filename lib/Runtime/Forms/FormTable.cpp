//===- FormTable.cpp - What was measured, in a file -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Forms/FormsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Forms/Forms.h"
#include "llmc/Runtime/Plan/Format/PlanFields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <tuple>

namespace llmc::rt {

namespace {

/// Fields one after the other: "a f32, indices [kind m, size 4, ...]".
class DescriptorWriter {
public:
  std::string text;

  template <typename T> void operator()(const char *name, const T &value) {
    text += fmt::format("{}{} ", text.empty() || isOpen() ? "" : ", ", name);
    write(value);
  }

private:
  bool isOpen() const { return text.back() == '[' || text.back() == ' '; }

  template <typename T> void write(const T &value) {
    if constexpr (std::is_same_v<T, bool>) {
      text += value ? "yes" : "no";
    } else if constexpr (std::is_enum_v<T>) {
      text += nameOf(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      text += fmt::format("{}", value);
    } else {
      text += '[';
      plan::fields(*this, value);
      text += ']';
    }
  }
  template <typename T> void write(const std::vector<T> &list) {
    text += '[';
    for (const T &each : list) {
      text += &each == &list.front() ? "" : "; ";
      write(each);
    }
    text += ']';
  }
};

} // namespace

std::string printDescriptor(const LibraryDescriptor &descriptor) {
  DescriptorWriter writer;
  std::visit([&](const auto &each) { plan::fields(writer, each); }, descriptor);
  return fmt::format("{} {}", nameOf(descriptor), writer.text);
}

bool FormTable::Key::operator<(const Key &other) const {
  return std::tie(machine, call, threads) <
         std::tie(other.machine, other.call, other.threads);
}

Result<FormTable> FormTable::read(const std::string &path) {
  FormTable table;
  if (!std::filesystem::exists(path)) {
    return std::move(table);
  }
  LLMC_TRY_ASSIGN(std::string text, readFile(path));
  try {
    for (const auto &row : nlohmann::json::parse(text)) {
      Key key{row.at("machine"), row.at("call"), row.at("threads")};
      table.rows[key] = {row.at("form"), row.at("seconds")};
    }
  } catch (const nlohmann::json::exception &error) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected a table of measured forms in '{}': "
                                 "{}",
                                 path, error.what()))
        .withHint("remove the file to measure again");
  }
  return std::move(table);
}

Status FormTable::write(const std::string &path) const {
  std::string text = "[";
  for (const auto &[key, row] : rows) {
    nlohmann::ordered_json entry;
    entry["machine"] = key.machine;
    entry["threads"] = key.threads;
    entry["call"] = key.call;
    entry["form"] = row.form;
    entry["seconds"] = row.seconds;
    text += (text.size() > 1 ? ",\n " : "\n ") + entry.dump();
  }
  return writeFileAtomically(path, text + "\n]\n");
}

Result<uint32_t> FormTable::find(const Backend &backend,
                                 const LibraryDescriptor &descriptor,
                                 int threads) {
  std::vector<LibraryForm> forms =
      backend.libraryForms({"measured", descriptor, threads, 0});
  if (forms.size() < 2) {
    return 0u;
  }
  Key key{backend.machine(), printDescriptor(descriptor), threads};
  auto known = rows.find(key);
  if (known != rows.end()) {
    for (const LibraryForm &form : forms) {
      if (form.name == known->second.form) {
        return uint32_t(form.number);
      }
    }
  }
  LLMC_TRY_ASSIGN(std::vector<MeasuredForm> measured,
                  measureForms(backend, descriptor, threads));
  const MeasuredForm &chosen = chooseForm(measured);
  Row row{chosen.form.name, {}};
  for (const MeasuredForm &each : measured) {
    row.seconds[each.form.name] = each.seconds;
  }
  rows[key] = std::move(row);
  ++added;
  return uint32_t(chosen.form.number);
}

} // namespace llmc::rt
