//===- Mailbox.h - Messages that ranks leave for each other ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message has a name, and lies there until it is removed. Ranks of one
// process leave them in its memory, others as files of a folder in /dev/shm.
// Guarded by the lock of the scheduler.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_NCCL_MAILBOX_H
#define LLMC_TEST_RUNTIME_STANDIN_NCCL_MAILBOX_H

#include <memory>
#include <string>
#include <vector>

namespace llmc::standin {

using Message = std::vector<char>;

class Mailbox {
public:
  virtual ~Mailbox() = default;
  virtual void leave(const std::string &name, const Message &message) = 0;
  virtual bool holds(const std::string &name) = 0;
  /// False where it is not there.
  virtual bool read(const std::string &name, Message &message) = 0;
  virtual void remove(const std::string &name) = 0;
  /// All whose name begins so.
  virtual void removeAll(const std::string &prefix) = 0;

  /// That of this process.
  static std::shared_ptr<Mailbox> ofProcess();
  /// The folder of this name, which is made, and goes with its last message.
  static std::shared_ptr<Mailbox> ofMachine(const std::string &folder);
};

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_NCCL_MAILBOX_H
