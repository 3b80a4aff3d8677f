//===- Launch.cpp - Starts the processes of a job on a machine ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Launch.h"

#include "Prepare.h"
#include "ProcessLines.h"
#include "Sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <random>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace llmc::rt {

using job::Clock;
using job::Socket;

namespace {

constexpr int mostChildren = 4096;
/// Of a child that could not start its program, which then says so itself.
constexpr int cannotStart = 127;

/// Of a line that has no end.
constexpr size_t mostOfLine = size_t(1) << 20;

/// The end of a pipe that this process reads.
struct Stream {
  Socket end;
  std::string line; ///< Not whole yet.
};

struct Child {
  pid_t pid = 0;
  Stream errors, output;
  std::string last; ///< The last whole line of its errors.
  bool runs = true;
  std::optional<Clock::time_point> stopped; ///< Since when.
};

class LocalLauncher {
public:
  LocalLauncher(const LaunchOptions &options, int turn)
      : options(options), turn(turn), lines(options) {}
  /// Nobody is left behind, whatever went wrong.
  ~LocalLauncher() { sendAll(SIGKILL, /*andWait=*/true); }

  Status start();
  LaunchResult waitForAll();
  /// A signal from outside was passed on.
  bool wasAsked() const { return forwarded; }
  /// Processes that were killed, and not by this one after a failure.
  int lost() const { return killed; }

private:
  Status startOne(int process, int port, const std::string &token);
  [[noreturn]] void become(int process, int port, const std::string &token,
                           int errors, int output);
  void pass(Child &child, Stream &stream, int process);
  void passAll(int milliseconds);
  void collect();
  void judge(const Child &child, int process, int status);
  void endStopped();
  void sendAll(int signal, bool andWait = false);
  void hurry();
  bool anyRuns() const;
  /// In the job.
  int numberOf(int process) const {
    return options.nodeRank * options.processes + process;
  }

  const LaunchOptions &options;
  int turn; ///< How often the processes were started before.
  job::ProcessLines lines;
  std::vector<Child> children;
  LaunchResult result;
  Clock::time_point failed{}; ///< When the first one did.
  int first = 0;              ///< Whose code is the job's.
  int killed = 0;
  bool forwarded = false;
  bool asked = false, forced = false;
};

std::string randomToken() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

Status LocalLauncher::start() {
  LLMC_TRY(lines.open(numberOf(0), options.processes, turn));
  int port = options.port;
  // A port that was free a moment ago; the socket is closed again.
  std::random_device source;
  for (int turn = 0; port == 0 && turn < 100; ++turn) {
    int guess = 20000 + static_cast<int>(source() % 40000);
    port = job::listenAt("127.0.0.1", guess).ok() ? guess : 0;
  }
  const std::string token =
      options.token.empty() ? randomToken() : options.token;
  for (int process = 0; process < options.processes; ++process) {
    LLMC_TRY(startOne(process, port, token));
  }
  return Status::success();
}

/// The end that the child writes; a pipe's other end goes into `stream`.
static Result<Socket> openPipe(Stream &stream) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return makeError(
        ErrorKind::outOfMemory,
        fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  stream.end = Socket(ends[0]);
  return Socket(ends[1]);
}

Status LocalLauncher::startOne(int process, int port,
                               const std::string &token) {
  Child child;
  LLMC_TRY_ASSIGN(Socket errors, openPipe(child.errors));
  // The job's own output may be a terminal, and is left to process 0.
  Socket output;
  if (numberOf(process) > 0) {
    LLMC_TRY_ASSIGN(output, openPipe(child.output));
  }
  std::fflush(nullptr);
  pid_t pid = ::fork();
  if (pid == 0) {
    become(process, port, token, errors.get(), output.get());
  }
  child.pid = pid;
  if (pid < 0) {
    return makeError(ErrorKind::outOfMemory,
                     fmt::format("expected {} processes, the machine starts {} "
                                 "({})",
                                 options.processes, process,
                                 std::strerror(errno)));
  }
  ::setpgid(pid, pid);
  children.push_back(std::move(child));
  return Status::success();
}

/// In the child: a group of its own, so that what it starts can be ended too.
void LocalLauncher::become(int process, int port, const std::string &token,
                           int errors, int output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(errors, STDERR_FILENO);
  if (output >= 0) {
    ::dup2(output, STDOUT_FILENO);
  }
  auto set = [](const char *name, const std::string &value) {
    ::setenv(name, value.c_str(), 1);
  };
  set("LLMC_RANK", std::to_string(numberOf(process)));
  set("LLMC_WORLD_SIZE", std::to_string(options.nodes * options.processes));
  set("LLMC_LOCAL_RANK", std::to_string(process));
  set("LLMC_ADDRESS", options.address);
  set("LLMC_PORT", std::to_string(port));
  set("LLMC_TOKEN", token);
  set("LLMC_RESTART", std::to_string(turn));
  std::vector<char *> arguments;
  for (const std::string &each : options.command) {
    arguments.push_back(const_cast<char *>(each.c_str()));
  }
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::string text = fmt::format("cannot start '{}': {}\n", arguments[0],
                                 std::strerror(errno));
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(cannotStart);
}

/// Whole lines of a child, each with its number.
void LocalLauncher::pass(Child &child, Stream &stream, int process) {
  bool isOutput = &stream == &child.output;
  auto add = [&](const std::string &line) {
    if (!isOutput) {
      child.last = line;
    }
    lines.add(numberOf(process), isOutput, line);
  };
  char block[4096];
  ssize_t got = ::read(stream.end.get(), block, sizeof(block));
  if (got <= 0) {
    if (got == 0 || errno != EINTR) {
      stream.end = Socket();
    }
  } else {
    stream.line.append(block, static_cast<size_t>(got));
  }
  size_t end = 0;
  while ((end = stream.line.find('\n')) != std::string::npos) {
    add(stream.line.substr(0, end));
    stream.line.erase(0, end + 1);
  }
  bool isCut = !stream.end.isOpen() || stream.line.size() > mostOfLine;
  if (isCut && !stream.line.empty()) {
    add(std::exchange(stream.line, ""));
  }
}

/// Waits for lines for so long, and passes what is there.
void LocalLauncher::passAll(int milliseconds) {
  std::vector<pollfd> polled;
  std::vector<std::pair<size_t, Stream *>> owners;
  for (size_t i = 0; i < children.size(); ++i) {
    for (Stream *stream : {&children[i].errors, &children[i].output}) {
      if (stream->end.isOpen()) {
        polled.push_back({stream->end.get(), POLLIN, 0});
        owners.push_back({i, stream});
      }
    }
  }
  ::poll(polled.data(), polled.size(), milliseconds);
  for (size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents) {
      auto [child, stream] = owners[i];
      pass(children[child], *stream, static_cast<int>(child));
    }
  }
}

/// Who fails because another one is lost is not the cause.
void LocalLauncher::judge(const Child &child, int process, int status) {
  bool isKilled = WIFSIGNALED(status);
  int code = isKilled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code == 0) {
    return;
  }
  const int follows = exitCode(ErrorKind::peerLost);
  killed += isKilled && !asked && !forwarded;
  bool isFirst = result.code == 0;
  if (isFirst) {
    failed = Clock::now();
  }
  if (isFirst || (result.code == follows && code != follows && !asked)) {
    result.code = code;
    first = process;
    result.cause =
        isKilled ? fmt::format("process {} (pid {}) was killed by signal {}",
                               numberOf(process), child.pid, WTERMSIG(status))
                 : fmt::format("process {} (pid {}) ended with code {}",
                               numberOf(process), child.pid, code);
  }
}

void LocalLauncher::collect() {
  for (size_t i = 0; i < children.size(); ++i) {
    int status = 0;
    Child &child = children[i];
    if (!child.runs ||
        ::waitpid(child.pid, &status, WNOHANG | WUNTRACED | WCONTINUED) !=
            child.pid) {
      continue;
    }
    if (WIFSTOPPED(status)) {
      child.stopped = Clock::now();
    } else if (WIFCONTINUED(status)) {
      child.stopped.reset();
    } else {
      child.runs = false;
      judge(child, static_cast<int>(i), status);
    }
  }
}

void LocalLauncher::endStopped() {
  for (size_t i = 0; i < children.size(); ++i) {
    Child &child = children[i];
    if (child.runs && child.stopped &&
        Clock::now() - *child.stopped > options.stopped) {
      lines.add(numberOf(static_cast<int>(i)), /*isOutput=*/false,
                fmt::format("was stopped for {} ms, and is ended",
                            options.stopped.count()));
      child.stopped.reset();
      ::kill(-child.pid, SIGKILL);
    }
  }
}

void LocalLauncher::sendAll(int signal, bool andWait) {
  for (Child &child : children) {
    if (child.runs) {
      ::kill(-child.pid, signal);
    }
    if (child.runs && andWait) {
      ::waitpid(child.pid, nullptr, 0);
      child.runs = false;
    }
  }
}

/// After a failure the others get a while to end by themselves, then a request,
/// then no choice.
void LocalLauncher::hurry() {
  if (int signal = options.signal ? options.signal->exchange(0) : 0) {
    forwarded = true;
    sendAll(signal);
  }
  if (result.code == 0) {
    return;
  }
  if (!asked && Clock::now() - failed > options.grace) {
    asked = true;
    sendAll(SIGTERM);
  }
  if (!forced && Clock::now() - failed > 2 * options.grace) {
    forced = true;
    sendAll(SIGKILL);
  }
}

bool LocalLauncher::anyRuns() const {
  return std::any_of(children.begin(), children.end(),
                     [](const Child &child) { return child.runs; });
}

LaunchResult LocalLauncher::waitForAll() {
  constexpr int turnMilliseconds = 20;
  bool runs = true;
  while (runs) {
    passAll(turnMilliseconds);
    lines.flush(/*all=*/false);
    collect();
    endStopped();
    hurry();
    runs = anyRuns();
  }
  // What they said last. A grandchild may hold a pipe open for longer.
  for (size_t i = 0; i < children.size(); ++i) {
    for (Stream *stream : {&children[i].errors, &children[i].output}) {
      pollfd one{stream->end.get(), POLLIN, 0};
      while (stream->end.isOpen() && ::poll(&one, 1, 0) > 0) {
        pass(children[i], *stream, static_cast<int>(i));
      }
    }
  }
  lines.flush(/*all=*/true);
  if (result.code != 0 && !children[first].last.empty()) {
    result.cause += ": " + children[first].last;
  }
  return result;
}

} // namespace

static Status checkNodes(const LaunchOptions &options) {
  if (options.nodes < 1 || options.nodeRank < 0 ||
      options.nodeRank >= options.nodes) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected a node's rank from 0 to {}, got {} "
                                 "of {} nodes",
                                 options.nodes - 1, options.nodeRank,
                                 options.nodes));
  }
  if (options.nodes > 1 && (options.port == 0 || options.token.empty())) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected a {} that all nodes know, got none",
                                 options.port == 0 ? "port" : "token"))
        .withHint(options.port == 0 ? "give --master-port"
                                    : "set the variable LLMC_TOKEN on each");
  }
  return Status::success();
}

/// After a lost, late or killed process; whatever else is wrong would be so
/// again.
static bool doesRestartHelp(int code) {
  return code == exitCode(ErrorKind::peerLost) ||
         code == exitCode(ErrorKind::timeout) || code > 128;
}

Result<LaunchResult> launch(const LaunchOptions &options) {
  LLMC_TRY(checkNodes(options));
  LLMC_TRY(job::checkFewer(options));
  if (options.command.empty()) {
    return makeError(ErrorKind::usage, "expected a command after --, got none");
  }
  if (options.processes < 1 || options.processes > mostChildren) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected 1 to {} processes, got {}",
                                 mostChildren, options.processes));
  }
  for (int turn = 0, before = 0, processes = options.processes;; ++turn) {
    const LaunchOptions now = job::withProcesses(options, processes);
    LaunchResult result =
        processes == before ? LaunchResult() : job::prepare(now);
    if (result.code != 0) {
      return result;
    }
    LocalLauncher launcher(now, turn);
    LLMC_TRY(launcher.start());
    result = launcher.waitForAll();
    if (turn >= options.restarts || launcher.wasAsked() ||
        !doesRestartHelp(result.code)) {
      return result;
    }
    before = processes;
    processes = job::processesLeft(options, processes, launcher.lost());
    if (processes == 0) {
      result.cause += "; --elastic has no number of processes below " +
                      std::to_string(before);
      return result;
    }
    fmt::print(options.errors, "llmc-launch: restart {} of {}{}: {}\n",
               turn + 1, options.restarts,
               processes == before
                   ? ""
                   : fmt::format(" with {} process{}", processes,
                                 processes == 1 ? "" : "es"),
               result.cause);
    std::fflush(options.errors);
  }
}

} // namespace llmc::rt
