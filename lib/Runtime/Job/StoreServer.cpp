//===- StoreServer.cpp - The meeting place, held by process 0 -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Job/JobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "StoreServer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <poll.h>
#include <sys/socket.h>

namespace llmc::rt::job {

StoreServer::StoreServer(Socket listener, std::string token, int processes,
                         std::chrono::milliseconds silence)
    : listener(std::move(listener)), token(std::move(token)),
      processes(processes), silence(silence), thread([this] { serve(); }) {}

StoreServer::~StoreServer() {
  leaving = true;
  thread.join();
}

void StoreServer::waitForAll(std::chrono::milliseconds deadline) {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait_for(lock, deadline, [this] { return numEnded >= processes; });
}

void StoreServer::serve() {
  constexpr int turnMilliseconds = 20;
  while (!leaving) {
    std::vector<pollfd> polled = {{listener.get(), POLLIN, 0}};
    for (auto &connection : connections) {
      polled.push_back({connection->socket.get(), POLLIN, 0});
    }
    ::poll(polled.data(), polled.size(), turnMilliseconds);
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents) {
        read(*connections[i - 1]);
      }
    }
    findSilent();
    answer();
    connections.erase(
        std::remove_if(connections.begin(), connections.end(),
                       [](const auto &each) { return each->isClosed; }),
        connections.end());
    if (polled[0].revents) {
      accept();
    }
  }
}

void StoreServer::accept() {
  Socket socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.isOpen()) {
    connections.push_back(std::make_unique<Connection>());
    connections.back()->socket = std::move(socket);
    connections.back()->heard = Clock::now();
  }
}

void StoreServer::read(Connection &connection) {
  char block[65536];
  ssize_t got =
      ::recv(connection.socket.get(), block, sizeof(block), MSG_DONTWAIT);
  if (got <= 0) {
    close(connection, "ended without a word, as one that is killed does");
    return;
  }
  connection.heard = Clock::now();
  connection.bytes.append(block, static_cast<size_t>(got));
  while (!connection.isClosed) {
    Result<std::optional<Frame>> frame = takeFrame(connection.bytes);
    if (!frame.ok()) {
      close(connection, "says what no process of llmc says");
      return;
    }
    if (!*frame) {
      return;
    }
    handle(connection, **frame);
  }
}

/// The first frame: the token, then the process of a watch or "", then who it
/// is. Strangers hear nothing.
void StoreServer::greet(Connection &connection, const std::string &text) {
  auto outer = splitTexts(text);
  auto inner = outer ? splitTexts(outer->second) : std::nullopt;
  if (!inner || outer->first != token) {
    connection.isClosed = true;
    return;
  }
  connection.isKnown = true;
  connection.who = inner->second;
  int process = 0;
  const std::string &number = inner->first;
  if (!number.empty()) {
    std::from_chars(number.data(), number.data() + number.size(), process);
    connection.watches = process;
    // Who comes late hears of the first that is gone.
    if (!lost.empty()) {
      (void)sendFrame(connection.socket, {FrameKind::lost, lost});
    }
  }
}

void StoreServer::handle(Connection &connection, const Frame &frame) {
  if (!connection.isKnown) {
    if (frame.kind == FrameKind::hello) {
      greet(connection, frame.text);
    } else {
      connection.isClosed = true;
    }
    return;
  }
  switch (frame.kind) {
  case FrameKind::set:
    if (auto pair = splitTexts(frame.text)) {
      values[pair->first] = pair->second;
    }
    break;
  case FrameKind::get:
    connection.wanted = frame.text;
    break;
  case FrameKind::beat:
    (void)sendFrame(connection.socket, frame);
    break;
  case FrameKind::bye:
    close(connection, frame.text.empty() ? "" : "ended with: " + frame.text);
    break;
  default:
    close(connection, "says what no process of llmc says");
  }
}

void StoreServer::answer() {
  for (auto &connection : connections) {
    auto found = connection->wanted && !connection->isClosed
                     ? values.find(*connection->wanted)
                     : values.end();
    if (found != values.end()) {
      (void)sendFrame(connection->socket, {FrameKind::value, found->second});
      connection->wanted.reset();
    }
  }
}

/// Of a watch that ends with a reason all others hear.
void StoreServer::close(Connection &connection, const std::string &why) {
  connection.isClosed = true;
  if (!connection.watches) {
    return;
  }
  if (!why.empty()) {
    tellLost(connection, why);
  }
  std::lock_guard<std::mutex> lock(mutex);
  ++numEnded;
  ended.notify_all();
}

void StoreServer::tellLost(const Connection &gone, const std::string &why) {
  std::string text = fmt::format("{} {}", gone.who, why);
  for (auto &other : connections) {
    if (other->watches && !other->isClosed) {
      (void)sendFrame(other->socket, {FrameKind::lost, text});
    }
  }
  if (lost.empty()) {
    lost = text;
  }
}

void StoreServer::findSilent() {
  for (auto &connection : connections) {
    if (connection->watches && !connection->isClosed &&
        Clock::now() - connection->heard > silence) {
      close(*connection,
            fmt::format("says nothing for {} ms, as one that is stopped or cut "
                        "off does",
                        silence.count()));
    }
  }
}

} // namespace llmc::rt::job
