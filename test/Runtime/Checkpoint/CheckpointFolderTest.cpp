//===- CheckpointFolderTest.cpp - Checkpoints of one run ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/CheckpointFolder.h"

#include "TestFolder.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"

#include <gmock/gmock.h>

#include <fstream>
#include <unistd.h>

namespace llmc::rt::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A checkpoint with one file, "contents".
void save(CheckpointFolder &folder, int64_t step, double loss = 0) {
  CheckpointManifest manifest;
  manifest.step = step;
  manifest.metrics["loss"] = loss;
  manifest.files = {{"x", 8, hash64("contents")}};
  ASSERT_TRUE(folder.begin(step).ok());
  std::ofstream(writingPath(folder.path(), step) + "/x") << "contents";
  Status status = folder.commit(manifest);
  ASSERT_TRUE(status.ok()) << status.message();
}

TEST(CheckpointFolder, NamesAreOfSteps) {
  EXPECT_EQ(checkpointName(20), "step-00000020");
  EXPECT_EQ(stepOfName("step-00000020"), 20);
  EXPECT_EQ(stepOfName("step-123456789"), 123456789);
  for (const char *name :
       {"step-20", "step-", "step-0000002x", "xstep-00000020",
        "step-99999999999999999999", ".writing-step-00000020"}) {
    EXPECT_EQ(stepOfName(name), std::nullopt) << name;
  }
}

// Whatever the clock said when they were written.
TEST(CheckpointFolder, TheNewestIsThatOfTheLastStep) {
  TestFolder at;
  auto folder = CheckpointFolder::open(at.path, systemCalls());
  ASSERT_TRUE(folder.ok());
  for (int64_t step : {100, 9, 20}) {
    save(*folder, step);
  }
  EXPECT_THAT(*listCheckpoints(at.path),
              ElementsAre("step-00000100", "step-00000020", "step-00000009"));
  auto nothing = [](const std::string &, const Status &) { FAIL(); };
  EXPECT_EQ(*findNewest(at.path, nothing), at.path + "/step-00000100");
}

TEST(CheckpointFolder, DamagedOnesArePassedOver) {
  TestFolder at;
  auto folder = CheckpointFolder::open(at.path, systemCalls());
  ASSERT_TRUE(folder.ok());
  for (int64_t step = 1; step <= 6; ++step) {
    save(*folder, step);
  }
  auto of = [&](int64_t step) { return at.path + "/" + checkpointName(step); };
  std::ofstream(of(6) + "/x") << "content";
  std::ofstream(of(5) + "/x") << "contentS";
  std::filesystem::remove(of(4) + "/x");
  std::filesystem::remove(of(3) + "/manifest.json");
  std::filesystem::resize_file(of(2) + "/manifest.json", 40);
  std::string reasons;
  auto note = [&](const std::string &, const Status &why) {
    reasons += describe(why.error()) + "\n";
  };
  EXPECT_EQ(*findNewest(at.path, note), of(1));
  for (const char *reason :
       {"step-00000006/x: expected 8 bytes, got 7\n",
        "step-00000005/x: expected checksum ", "step-00000004/x: cannot open: ",
        "step-00000003/manifest.json: cannot open: ",
        "step-00000002/manifest.json: expected the manifest of a checkpoint"}) {
    EXPECT_THAT(reasons, HasSubstr(reason));
  }
  std::filesystem::remove_all(of(1));
  EXPECT_EQ(findNewest(at.path, note).message(),
            "expected a whole checkpoint, got damaged ones only");
}

TEST(CheckpointFolder, IsOfOneRun) {
  TestFolder at;
  std::filesystem::create_directories(at.path + "/.writing-step-00000003/y");
  {
    auto folder = CheckpointFolder::open(at.path, systemCalls());
    ASSERT_TRUE(folder.ok());
    EXPECT_FALSE(std::filesystem::exists(at.path + "/.writing-step-00000003"));
    auto second = CheckpointFolder::open(at.path, systemCalls());
    ASSERT_EQ(second.kind(), ErrorKind::noCheckpoint);
    EXPECT_THAT(second.message(),
                HasSubstr("one that process " + std::to_string(::getpid())));
  }
  // The lock of a run that is gone counts no more, whatever the file says.
  EXPECT_TRUE(CheckpointFolder::open(at.path, systemCalls()).ok());
}

TEST(CheckpointFolder, OldOnesGo) {
  TestFolder at;
  auto folder = CheckpointFolder::open(at.path, systemCalls());
  ASSERT_TRUE(folder.ok());
  save(*folder, 90, -1); // Of a later step: it was passed over.
  for (int64_t step = 1; step <= 5; ++step) {
    save(*folder, step, step == 2 ? 0.5 : 1);
  }
  ASSERT_TRUE(folder->prune(5, 0, "").ok());
  EXPECT_EQ(listCheckpoints(at.path)->size(), 6u);
  ASSERT_TRUE(folder->prune(5, 2, "loss").ok());
  EXPECT_THAT(*listCheckpoints(at.path),
              ElementsAre("step-00000090", "step-00000005", "step-00000004",
                          "step-00000002"));
  ASSERT_TRUE(folder->prune(5, 1, "").ok());
  EXPECT_THAT(*listCheckpoints(at.path),
              ElementsAre("step-00000090", "step-00000005"));
}

// One of the same step that was passed over makes way.
TEST(CheckpointFolder, AStepIsWrittenAnew) {
  TestFolder at;
  auto folder = CheckpointFolder::open(at.path, systemCalls());
  ASSERT_TRUE(folder.ok());
  save(*folder, 7);
  std::ofstream(at.path + "/step-00000007/x") << "damaged";
  save(*folder, 7);
  EXPECT_EQ(*readFile(at.path + "/step-00000007/x"), "contents");
  EXPECT_FALSE(std::filesystem::exists(writingPath(at.path, 7)));
}

TEST(CheckpointFolder, WhatIsNoFolderIsOneLine) {
  TestFolder at;
  std::ofstream(at.path + "/file") << "x";
  auto folder = CheckpointFolder::open(at.path + "/file/x", systemCalls());
  ASSERT_EQ(folder.kind(), ErrorKind::noCheckpoint);
  EXPECT_EQ(describe(folder.error()),
            at.path + "/file/x: cannot make a folder: Not a directory (give a "
                      "folder; a part of the path is a file)");
  EXPECT_TRUE(listCheckpoints(at.path + "/none")->empty());
}

} // namespace
} // namespace llmc::rt::test
