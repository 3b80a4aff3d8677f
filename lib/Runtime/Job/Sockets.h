//===- Sockets.h - Frames over TCP ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A frame is a length of four bytes, a kind, and bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_JOB_SOCKETS_H
#define LLMC_LIB_RUNTIME_JOB_SOCKETS_H

#include "llmc/Runtime/Base/Status.h"

#include <chrono>
#include <optional>
#include <string>

namespace llmc::rt::job {

using Clock = std::chrono::steady_clock;

/// What a frame asks for or says.
enum class FrameKind : uint8_t {
  hello = 1, ///< Token, process, who it is: first on each connection.
  set = 2,   ///< Key and value.
  get = 3,   ///< Key.
  value = 4, ///< The answer, once there is one.
  beat = 5,  ///< I am alive.
  bye = 6,   ///< I end; "" or the error.
  lost = 7,  ///< Somebody else has ended; what happened.
};

struct Frame {
  FrameKind kind = FrameKind::beat;
  std::string text;
};

/// Owns a descriptor.
class Socket {
public:
  Socket() = default;
  explicit Socket(int fd) : fd(fd) {}
  Socket(Socket &&other) noexcept : fd(other.fd) { other.fd = -1; }
  Socket &operator=(Socket &&other) noexcept;
  ~Socket();

  int get() const { return fd; }
  bool isOpen() const { return fd >= 0; }
  /// Ends reads and writes of other threads.
  void shutdown() const;
  /// The address of this end.
  std::string localAddress() const;

private:
  int fd = -1;
};

/// A host and a port as they are written together, numbers of IPv6 in brackets.
std::string endpoint(const std::string &host, int port);

/// Listens at all addresses of IPv4 and IPv6, or where `host` is this machine
/// alone ("127.0.0.1", "localhost", "::1") there. Error (2): the port is taken.
Result<Socket> listenAt(const std::string &host, int port);
/// Tries all addresses of a name, of IPv4 and IPv6, again until somebody
/// listens. Error (11) after the deadline.
Result<Socket> connectTo(const std::string &host, int port,
                         Clock::time_point deadline);

/// Writes a whole frame. Errors: 10 (the other end is gone).
Status sendFrame(const Socket &socket, const Frame &frame);
/// The next frame. Errors: 10 (the other end is gone), 11 (the deadline), 3 (no
/// frame of ours).
Result<Frame> receiveFrame(const Socket &socket, Clock::time_point deadline);

/// The frame at the beginning of `bytes`, which is taken away; absent where it
/// is not complete yet. Error (3) for what is none.
Result<std::optional<Frame>> takeFrame(std::string &bytes);

/// Two texts in one, and back; absent where it is none.
std::string joinTexts(const std::string &first, const std::string &second);
std::optional<std::pair<std::string, std::string>>
splitTexts(const std::string &text);

} // namespace llmc::rt::job

#endif // LLMC_LIB_RUNTIME_JOB_SOCKETS_H
