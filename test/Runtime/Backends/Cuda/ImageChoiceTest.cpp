//===- ImageChoiceTest.cpp - Which code of a kernel suits a GPU -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImageChoice.h"
#include "Kernels.h"

#include <gtest/gtest.h>

namespace llmc::rt::cuda {
namespace {

KernelShape kernelOf(std::vector<KernelImageView> images) {
  KernelShape shape;
  shape.name = "k";
  shape.images = std::move(images);
  return shape;
}

const KernelImageView ptx80{KernelFormat::ptx, "sm_80", "k", "p80"};
const KernelImageView ptx90{KernelFormat::ptx, "sm_90", "k", "p90"};
const KernelImageView cubin86{KernelFormat::cubin, "sm_86", "k", "c86"};
const KernelImageView cubin90{KernelFormat::cubin, "sm_90", "k", "c90"};
const KernelImageView cubin90a{KernelFormat::cubin, "sm_90a", "k", "c90a"};
const KernelImageView object{KernelFormat::object, "", "k", {}};

std::string chosen(const std::vector<KernelImageView> &images, int gpu) {
  KernelShape shape = kernelOf(images);
  Result<const KernelImageView *> image = chooseImage(shape, gpu);
  return image.ok() ? std::string((*image)->data) : "none";
}

TEST(ImageChoiceTest, CubinOfTheArchitectureIsBest) {
  EXPECT_EQ(chosen({ptx90, cubin90, ptx80}, 90), "c90");
  EXPECT_EQ(chosen({object, ptx80, ptx90}, 90), "p90");
  EXPECT_EQ(chosen({ptx80, ptx90}, 80), "p80");
  // The driver compiles older text for newer GPUs.
  EXPECT_EQ(chosen({ptx80, cubin90}, 100), "p80");
}

// Machine code runs on later minor versions of its major one alone.
TEST(ImageChoiceTest, CubinsOfTheMajorVersion) {
  EXPECT_EQ(chosen({cubin86}, 89), "c86");
  EXPECT_EQ(chosen({cubin86}, 80), "none");
  EXPECT_EQ(chosen({cubin86}, 90), "none");
  EXPECT_EQ(chosen({cubin90a}, 90), "c90a");
  EXPECT_EQ(chosen({cubin90a}, 93), "none");
}

TEST(ImageChoiceTest, WhatThereIsIsNamed) {
  Status status = chooseImage(kernelOf({object, cubin90}), 80).status();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(),
            "expected code of kernel 'k' for a GPU of compute capability 8.0, "
            "got object of any, cubin sm_90");
  EXPECT_EQ(chooseImage(kernelOf({}), 90).message(),
            "expected code of kernel 'k' for a GPU of compute capability 9.0, "
            "got none");
}

TEST(ImageChoiceTest, Architectures) {
  EXPECT_EQ((*parseArchitecture("sm_120")).number, 120);
  EXPECT_TRUE((*parseArchitecture("sm_90a")).isExact);
  for (const char *text : {"", "sm_", "sm_9", "sm_90b", "compute_90", "sm_90 ",
                           "sm_99999", "90"}) {
    EXPECT_EQ(parseArchitecture(text).kind(), ErrorKind::mismatch) << text;
  }
}

TEST(ImageChoiceTest, BlocksOfALaunch) {
  KernelShape shape = kernelOf({});
  EXPECT_EQ(*blocksOf(shape), 1u);
  shape.rows = 10;
  shape.rowsPerBlock = 4;
  EXPECT_EQ(*blocksOf(shape), 3u);
  shape.rows = 8;
  EXPECT_EQ(*blocksOf(shape), 2u);
  shape.rows = int64_t(1) << 40;
  EXPECT_EQ(blocksOf(shape).message(),
            "expected at most 2147483647 blocks of kernel 'k', got "
            "274877906944");
}

} // namespace
} // namespace llmc::rt::cuda
