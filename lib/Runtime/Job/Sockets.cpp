//===- Sockets.cpp - Frames over TCP --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace llmc::rt::job {

constexpr size_t headerBytes = 5;
constexpr uint32_t mostFrameBytes = 64u << 20;

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(fd, other.fd);
  return *this;
}

Socket::~Socket() {
  if (fd >= 0) {
    ::close(fd);
  }
}

void Socket::shutdown() const { ::shutdown(fd, SHUT_RDWR); }

std::string Socket::localAddress() const {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  char text[NI_MAXHOST] = "127.0.0.1";
  auto *any = reinterpret_cast<sockaddr *>(&address);
  if (::getsockname(fd, any, &length) == 0) {
    ::getnameinfo(any, length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  }
  // How a listener at addresses of both kinds sees one of IPv4.
  constexpr char mapped[] = "::ffff:";
  bool four = std::strncmp(text, mapped, sizeof(mapped) - 1) == 0;
  return four ? text + sizeof(mapped) - 1 : text;
}

std::string endpoint(const std::string &host, int port) {
  return host.find(':') == std::string::npos
             ? fmt::format("{}:{}", host, port)
             : fmt::format("[{}]:{}", host, port);
}

static Status gone() {
  return makeError(ErrorKind::peerLost, "the connection was closed");
}

/// Binds and listens at what a name or number without a lookup stands for; with
/// errno set where that fails.
static Socket listenAs(const addrinfo &hints, const char *host, int port) {
  addrinfo *found = nullptr;
  if (::getaddrinfo(host, std::to_string(port).c_str(), &hints, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return Socket();
  }
  Socket socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int yes = 1, no = 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (found->ai_family == AF_INET6) {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  }
  bool listens = ::bind(socket.get(), found->ai_addr, found->ai_addrlen) == 0 &&
                 ::listen(socket.get(), SOMAXCONN) == 0;
  ::freeaddrinfo(found);
  return listens ? std::move(socket) : Socket();
}

Result<Socket> listenAt(const std::string &host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  bool here = host == "127.0.0.1" || host == "localhost" || host == "::1";
  const char *four = here ? "127.0.0.1" : nullptr;
  hints.ai_family = AF_INET6;
  // A listener at any address of IPv6 hears IPv4 too.
  Socket socket = here && host != "::1"
                      ? Socket()
                      : listenAs(hints, here ? "::1" : nullptr, port);
  if (!socket.isOpen() && host != "::1") {
    hints.ai_family = AF_INET;
    socket = listenAs(hints, four, port);
  }
  if (!socket.isOpen()) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected a port that is free, got {} ({})",
                                 port, std::strerror(errno)))
        .withHint("choose another one by MASTER_PORT or LLMC_PORT");
  }
  return socket;
}

/// One attempt with the first address that answers.
static Socket tryConnect(const std::string &host, int port) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints,
                    &list) != 0) {
    return Socket();
  }
  Socket found;
  for (addrinfo *each = list; each && !found.isOpen(); each = each->ai_next) {
    Socket socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0) {
      found = std::move(socket);
    }
  }
  ::freeaddrinfo(list);
  return found;
}

Result<Socket> connectTo(const std::string &host, int port,
                         Clock::time_point deadline) {
  for (;;) {
    Socket socket = tryConnect(host, port);
    if (socket.isOpen()) {
      int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      return socket;
    }
    if (Clock::now() > deadline) {
      return makeError(ErrorKind::timeout,
                       fmt::format("expected process 0 to listen at {}, got "
                                   "no answer",
                                   endpoint(host, port)))
          .withHint("MASTER_ADDR and MASTER_PORT say where it runs");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status sendFrame(const Socket &socket, const Frame &frame) {
  auto size = static_cast<uint32_t>(frame.text.size());
  std::string bytes(headerBytes, '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  bytes[4] = static_cast<char>(frame.kind);
  bytes += frame.text;
  for (size_t at = 0; at < bytes.size();) {
    ssize_t sent = ::send(socket.get(), bytes.data() + at, bytes.size() - at,
                          MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return gone();
    }
    at += static_cast<size_t>(sent);
  }
  return Status::success();
}

Result<std::optional<Frame>> takeFrame(std::string &bytes) {
  if (bytes.size() < headerBytes) {
    return std::optional<Frame>();
  }
  uint32_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof(size));
  auto kind = static_cast<uint8_t>(bytes[4]);
  if (size > mostFrameBytes || kind < static_cast<uint8_t>(FrameKind::hello) ||
      kind > static_cast<uint8_t>(FrameKind::lost)) {
    return makeError(ErrorKind::malformed,
                     "expected a process of a job of llmc at the other end of "
                     "the connection, got something else");
  }
  if (bytes.size() - headerBytes < size) {
    return std::optional<Frame>();
  }
  Frame frame{static_cast<FrameKind>(kind), bytes.substr(headerBytes, size)};
  bytes.erase(0, headerBytes + size);
  return std::optional<Frame>(std::move(frame));
}

/// Reads exactly `size` bytes more into `bytes`.
static Status receiveBytes(const Socket &socket, size_t size,
                           Clock::time_point deadline, std::string &bytes) {
  while (size > 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - Clock::now());
    pollfd one{socket.get(), POLLIN, 0};
    int ready =
        ::poll(&one, 1,
               static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30)));
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready == 0) {
      return makeError(ErrorKind::timeout, "nothing was said in time");
    }
    char block[4096];
    ssize_t got = ::recv(socket.get(), block, std::min(size, sizeof(block)), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return gone();
    }
    bytes.append(block, static_cast<size_t>(got));
    size -= static_cast<size_t>(got);
  }
  return Status::success();
}

/// For the rest of a frame that has begun, so that the next one is found.
constexpr std::chrono::seconds restOfFrame(10);

Result<Frame> receiveFrame(const Socket &socket, Clock::time_point deadline) {
  std::string bytes;
  LLMC_TRY(receiveBytes(socket, 1, deadline, bytes));
  deadline = Clock::now() + restOfFrame;
  LLMC_TRY(receiveBytes(socket, headerBytes - 1, deadline, bytes));
  LLMC_TRY_ASSIGN(auto frame, takeFrame(bytes));
  if (!frame) {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    LLMC_TRY(receiveBytes(socket, size, deadline, bytes));
    LLMC_TRY_ASSIGN(frame, takeFrame(bytes));
  }
  return frame ? Result<Frame>(*std::move(frame)) : Result<Frame>(gone());
}

std::string joinTexts(const std::string &first, const std::string &second) {
  auto size = static_cast<uint32_t>(first.size());
  std::string text(sizeof(size), '\0');
  std::memcpy(text.data(), &size, sizeof(size));
  return text + first + second;
}

std::optional<std::pair<std::string, std::string>>
splitTexts(const std::string &text) {
  uint32_t size = 0;
  if (text.size() < sizeof(size)) {
    return std::nullopt;
  }
  std::memcpy(&size, text.data(), sizeof(size));
  if (size > text.size() - sizeof(size)) {
    return std::nullopt;
  }
  return std::make_pair(text.substr(sizeof(size), size),
                        text.substr(sizeof(size) + size));
}

} // namespace llmc::rt::job
