//===- StoreServer.h - The meeting place, held by process 0 ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread serves all connections. Each process has two: one asks for keys
// and sets them, the other, its *watch*, says that it is alive and hears who is
// not. A watch that is closed without a word, or is silent for too long, is a
// process that is lost; all others are told who it was.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_JOB_STORESERVER_H
#define LLMC_LIB_RUNTIME_JOB_STORESERVER_H

#include "Sockets.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace llmc::rt::job {

/// How often a watch says that it is alive.
constexpr std::chrono::milliseconds beatInterval(200);

class StoreServer {
public:
  /// `silence`: how long a watch may say nothing.
  StoreServer(Socket listener, std::string token, int processes,
              std::chrono::milliseconds silence);
  ~StoreServer();

  /// Waits until every process has ended, well or not.
  void waitForAll(std::chrono::milliseconds deadline);

private:
  struct Connection {
    Socket socket;
    std::string bytes;                 ///< Received, and not a frame yet.
    std::string who;                   ///< "process 1 (host h, pid 7)".
    std::optional<int> watches;        ///< The process whose watch it is.
    std::optional<std::string> wanted; ///< The key that it waits for.
    Clock::time_point heard;
    bool isKnown = false, isClosed = false;
  };

  void serve();
  void accept();
  void read(Connection &connection);
  void handle(Connection &connection, const Frame &frame);
  void greet(Connection &connection, const std::string &text);
  void answer();
  void close(Connection &connection, const std::string &why);
  void tellLost(const Connection &gone, const std::string &why);
  void findSilent();

  Socket listener;
  std::string token;
  int processes;
  std::chrono::milliseconds silence;
  std::map<std::string, std::string> values;
  std::string lost; ///< Who ended first with a reason, and why.
  std::vector<std::unique_ptr<Connection>> connections;
  std::atomic<bool> leaving{false};
  std::mutex mutex;
  std::condition_variable ended;
  int numEnded = 0;
  std::thread thread;
};

} // namespace llmc::rt::job

#endif // LLMC_LIB_RUNTIME_JOB_STORESERVER_H
