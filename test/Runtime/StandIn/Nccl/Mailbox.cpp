//===- Mailbox.cpp - Messages that ranks leave for each other -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Mailbox.h"
#include "Core/Report.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmc::standin;

namespace {

class ProcessMailbox : public Mailbox {
public:
  void leave(const std::string &name, const Message &message) override {
    messages[name] = message;
  }
  bool holds(const std::string &name) override { return messages.count(name); }
  bool read(const std::string &name, Message &message) override {
    auto found = messages.find(name);
    if (found == messages.end())
      return false;
    message = found->second;
    return true;
  }
  void remove(const std::string &name) override { messages.erase(name); }
  void removeAll(const std::string &prefix) override {
    auto at = messages.lower_bound(prefix);
    while (at != messages.end() && !at->first.compare(0, prefix.size(), prefix))
      at = messages.erase(at);
  }

private:
  std::map<std::string, Message> messages;
};

/// Each message is a file, which has another name until it is whole.
class MachineMailbox : public Mailbox {
public:
  explicit MachineMailbox(const std::string &name)
      : folder("/dev/shm/llmc-standin-" + name) {
    if (mkdir(folder.c_str(), 0700) && errno != EEXIST)
      violation("no folder '%s': %s", folder.c_str(), std::strerror(errno));
  }
  ~MachineMailbox() override { rmdir(folder.c_str()); }

  void leave(const std::string &name, const Message &message) override {
    std::string path = folder + "/" + name, unfinished = path + ".part";
    int file = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const char *data = message.data();
    size_t left = message.size();
    while (file >= 0 && left) {
      ssize_t done = write(file, data, left);
      if (done <= 0)
        break;
      data += done;
      left -= done;
    }
    if (file < 0 || left || close(file) ||
        rename(unfinished.c_str(), path.c_str()))
      violation("no message '%s': %s", path.c_str(), std::strerror(errno));
  }

  bool holds(const std::string &name) override {
    return access((folder + "/" + name).c_str(), F_OK) == 0;
  }

  bool read(const std::string &name, Message &message) override {
    int file = open((folder + "/" + name).c_str(), O_RDONLY);
    if (file < 0)
      return false;
    struct stat status;
    fstat(file, &status);
    message.resize(status.st_size);
    size_t got = 0;
    while (got < message.size()) {
      ssize_t done = ::read(file, message.data() + got, message.size() - got);
      if (done <= 0)
        violation("cannot read message '%s'", name.c_str());
      got += done;
    }
    close(file);
    return true;
  }

  void remove(const std::string &name) override {
    unlink((folder + "/" + name).c_str());
  }

  void removeAll(const std::string &prefix) override {
    std::error_code error;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder, error)) {
      std::string name = entry.path().filename();
      if (!name.compare(0, prefix.size(), prefix))
        remove(name);
    }
  }

private:
  std::string folder;
};

} // namespace

std::shared_ptr<Mailbox> Mailbox::ofProcess() {
  static auto *mailbox =
      new std::shared_ptr<Mailbox>(std::make_shared<ProcessMailbox>());
  return *mailbox;
}

std::shared_ptr<Mailbox> Mailbox::ofMachine(const std::string &folder) {
  return std::make_shared<MachineMailbox>(folder);
}
