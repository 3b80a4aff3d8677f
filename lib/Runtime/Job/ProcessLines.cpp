//===- ProcessLines.cpp - What the processes of a job say -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessLines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace llmc::rt::job {

std::string printNumbers(const std::vector<int> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() &&
           numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    text += last > i ? fmt::format("-{}", numbers[last]) : "";
    i = last + 1;
  }
  return text;
}

static Status cannotWrite(const std::string &path, const std::string &why) {
  return makeError(ErrorKind::noCheckpoint,
                   fmt::format("cannot write {}: {}", path, why));
}

Status ProcessLines::open(int first, int count, int turn) {
  if (options.logs.empty()) {
    return Status::success();
  }
  std::error_code code;
  std::filesystem::create_directories(options.logs, code);
  if (code) {
    return cannotWrite(options.logs, code.message());
  }
  for (int number = first; number < first + count; ++number) {
    std::string path =
        fmt::format("{}/process-{:05}.log", options.logs, number);
    std::FILE *file = std::fopen(path.c_str(), "ae");
    if (!file) {
      return cannotWrite(path, std::strerror(errno));
    }
    files[number].reset(file);
    if (turn > 0) {
      write(number, fmt::format("llmc-launch: restart {}", turn));
    }
  }
  return Status::success();
}

/// Where the file is full, the rest is printed alone.
void ProcessLines::write(int number, const std::string &line) {
  auto found = files.find(number);
  if (found == files.end()) {
    return;
  }
  std::FILE *file = found->second.get();
  if (std::fprintf(file, "%s\n", line.c_str()) < 0 || std::fflush(file) != 0) {
    fmt::print(options.errors,
               "llmc-launch: warning: the log of process {} ends here: {}\n",
               number, std::strerror(errno));
    files.erase(found);
  }
}

void ProcessLines::add(int number, bool isOutput, const std::string &line) {
  write(number, line);
  for (Entry &entry : waiting) {
    auto at =
        std::lower_bound(entry.numbers.begin(), entry.numbers.end(), number);
    bool isNew = at == entry.numbers.end() || *at != number;
    if (isNew && entry.isOutput == isOutput && entry.text == line) {
      entry.numbers.insert(at, number);
      return;
    }
  }
  waiting.push_back({{number}, isOutput, line, Clock::now()});
}

void ProcessLines::flush(bool all) {
  bool isPrinted = false;
  while (!waiting.empty() &&
         (all || Clock::now() - waiting.front().since >= options.gather)) {
    const Entry &entry = waiting.front();
    std::string text =
        fmt::format("[{}] {}\n", printNumbers(entry.numbers), entry.text);
    std::fwrite(text.data(), 1, text.size(),
                entry.isOutput ? options.output : options.errors);
    waiting.pop_front();
    isPrinted = true;
  }
  if (isPrinted) {
    std::fflush(options.errors);
    std::fflush(options.output);
  }
}

} // namespace llmc::rt::job
