//===- JobTest.cpp - Processes find each other, and miss each other -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes are threads here, but for those that are to be killed or stopped:
// test/EndToEnd/processes.test does that.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <thread>
#include <unistd.h>

namespace llmc::rt::test {

/// A port of this test's own, below those that the system gives to whoever
/// connects (from 32768 on).
static int nextPort() {
  static std::atomic<int> offset{0};
  return 20000 + (getpid() * 16 + offset++) % 12000;
}

/// Runs `work` in each process of a job, of which `late` comes a little later.
static std::vector<Status> runJob(int size,
                                  const std::function<Status(Job &, int)> &work,
                                  const std::string &oddToken = "t",
                                  int late = -1,
                                  const std::string &host = "127.0.0.1") {
  std::vector<Status> results(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  const int port = nextPort();
  for (int process = 0; process < size; ++process) {
    threads.emplace_back([&, process] {
      JobOptions options;
      options.joining = std::chrono::seconds(5);
      options.silence = std::chrono::seconds(2);
      JobPlace place{process, size, host, port, process == 1 ? oddToken : "t"};
      if (process == late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(80));
      }
      auto job = Job::join(place, options);
      results[process] = job.ok() ? work(**job, process) : job.status();
      if (job.ok()) {
        results[process] = (*job)->leave(results[process]);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return results;
}

TEST(Job, AllMeet) {
  for (const Status &status : runJob(4, [](Job &job, int process) {
         LLMC_TRY(job.store().set("k" + std::to_string(process),
                                  std::string(process * 1000, 'x')));
         for (int other = 0; other < 4; ++other) {
           LLMC_TRY_ASSIGN(auto value,
                           job.store().get("k" + std::to_string(other)));
           EXPECT_EQ(value.size(), static_cast<size_t>(other * 1000));
         }
         return job.compare("plan", "abc");
       })) {
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST(Job, MeetsAtAnAddressOfIPv6) {
  for (const char *host : {"::1", "localhost"}) {
    for (const Status &status : runJob(
             2, [](Job &job, int) { return job.compare("plan", "abc"); }, "t",
             -1, host)) {
      if (status.kind() == ErrorKind::usage) {
        GTEST_SKIP() << "no IPv6 on this machine";
      }
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
}

TEST(Job, ADifferenceIsNamedByAll) {
  for (const Status &status : runJob(3, [](Job &job, int process) {
         return job.compare("plan", process == 2 ? "odd" : "even");
       })) {
    EXPECT_EQ(status.kind(), ErrorKind::mismatch);
    EXPECT_NE(status.message().find("process 2 (host"), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find("'odd'"), std::string::npos);
  }
}

// Its error reaches those who wait for a message from it.
static void endAll(int late) {
  struct Waits final : Transport {
    std::mutex mutex;
    std::condition_variable aborted;
    Status reason;
    int process() const override { return 0; }
    int size() const override { return 3; }
    Status exchange(uint32_t, const std::vector<PeerMessage> &,
                    const std::vector<PeerMessage> &) override {
      return Status::success();
    }
    void abort(const Status &why) override {
      std::lock_guard<std::mutex> lock(mutex);
      reason = why;
      aborted.notify_all();
    }
  };
  auto results = runJob(
      3,
      [](Job &job, int process) {
        if (process == 1) {
          return makeError(ErrorKind::numeric,
                           "expected a finite loss, got nan");
        }
        auto waits = std::make_shared<Waits>();
        job.guard(waits);
        std::unique_lock<std::mutex> lock(waits->mutex);
        waits->aborted.wait_for(lock, std::chrono::seconds(10),
                                [&] { return !waits->reason.ok(); });
        return waits->reason;
      },
      "t", late);
  EXPECT_EQ(results[1].kind(), ErrorKind::numeric);
  for (int process : {0, 2}) {
    EXPECT_EQ(results[process].kind(), ErrorKind::peerLost)
        << results[process].message();
    EXPECT_NE(results[process].message().find("process 1 (host"),
              std::string::npos)
        << results[process].message();
    EXPECT_NE(results[process].message().find("a finite loss, got nan"),
              std::string::npos);
  }
}

TEST(Job, AnErrorOfOneEndsAll) { endAll(-1); }
// Also those who come when it is gone.
TEST(Job, AnErrorOfOneEndsWhoComesLate) { endAll(2); }

TEST(Job, StrangersAreRefused) {
  auto results =
      runJob(2, [](Job &, int) { return Status::success(); }, "another");
  EXPECT_EQ(results[1].kind(), ErrorKind::mismatch) << results[1].message();
  EXPECT_EQ(results[0].kind(), ErrorKind::timeout) << results[0].message();
}

TEST(Job, NobodyListens) {
  JobOptions options;
  options.joining = std::chrono::milliseconds(200);
  auto job = Job::join({1, 2, "127.0.0.1", nextPort(), ""}, options);
  EXPECT_EQ(job.kind(), ErrorKind::timeout);
  const int port = nextPort();
  job = Job::join({1, 2, "::1", port, ""}, options);
  EXPECT_NE(job.status().message().find(fmt::format("at [::1]:{},", port)),
            std::string::npos)
      << job.status().message();
}

TEST(Job, LibrariesThatAreNotThere) {
  runJob(1, [](Job &job, int) {
    EXPECT_EQ(job.connect("none").kind(), ErrorKind::mismatch);
    return Status::success();
  });
}

} // namespace llmc::rt::test
