//===- Store.h - Where the processes of a job find each other -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and bytes that all processes of a job see. Equivalent to c10d::Store and
// gloo::rendezvous::Store.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_STORE_H
#define LLMC_RUNTIME_COMM_STORE_H

#include "llmc/Runtime/Base/Status.h"

#include <string>

namespace llmc::rt {

class Store {
public:
  virtual ~Store() = default;

  virtual Status set(const std::string &key, const std::string &value) = 0;
  /// Waits until somebody has set it. Errors: 11 (nobody did in time), 10 (the
  /// process that holds the store is gone).
  virtual Result<std::string> get(const std::string &key) = 0;
};

/// Where a process stands in its job, for those that make transports.
struct Place {
  int process = 0;
  int size = 1;
  /// The address under which others reach this machine.
  std::string address = "127.0.0.1";
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_STORE_H
