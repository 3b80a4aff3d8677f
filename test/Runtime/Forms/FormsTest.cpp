//===- FormsTest.cpp - Forms are measured once and kept -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Forms/Forms.h"
#include "llmc/Runtime/Base/File.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace llmc::rt {
namespace {

using Kind = ContractionIndexKind;

/// c[m, n] from a[m, k], which lies transposed, and b[k, n].
ContractionShape matmul(int64_t m, int64_t n, int64_t k) {
  ContractionShape shape;
  shape.indices = {
      {Kind::m, m, 1, 0, n}, {Kind::n, n, 0, 1, 1}, {Kind::k, k, m, n, 0}};
  return shape;
}

const Backend &cpu() { return **findBackend("cpu"); }

TEST(FormsTest, MeasuresAllForms) {
  auto measured = measureForms(cpu(), matmul(64, 48, 32), 2);
  ASSERT_TRUE(measured.ok()) << measured.message();
  ASSERT_EQ(measured->size(), 4u);
  for (size_t i = 0; i < measured->size(); ++i) {
    EXPECT_EQ((*measured)[i].form.number, i);
    EXPECT_GT((*measured)[i].seconds, 0);
  }
}

// How many algorithms cuBLASLt lists is known when a device is there.
TEST(FormsTest, MeasuresTheAlgorithmsThatAGpuHas) {
  auto backend = findBackend("cuda");
  if (!backend.ok() || !(*backend)->codeTarget()) {
    GTEST_SKIP() << "no GPU, and none that stands in for one";
  }
  const Backend &gpu = **backend;
  size_t most = 0;
  for (int64_t n : {16, 32, 48, 64, 80}) {
    auto measured = measureForms(gpu, matmul(32, n, 16), 1);
    ASSERT_TRUE(measured.ok()) << measured.message();
    ASSERT_GE(measured->size(), 1u);
    EXPECT_LE(measured->size(),
              gpu.libraryForms({"", matmul(32, n, 16), 1, 0}).size());
    for (size_t i = 0; i < measured->size(); ++i) {
      EXPECT_EQ((*measured)[i].form.number, i);
      EXPECT_GT((*measured)[i].seconds, 0);
    }
    if (gpu.machine().find("stand-in") != std::string::npos) {
      EXPECT_LE(measured->size(), 4u); // It lists no more.
    }
    most = std::max(most, measured->size());
  }
  EXPECT_GT(most, 1u);
}

// Of what has one form, nothing is run.
TEST(FormsTest, OneFormTakesNoTime) {
  auto measured = measureForms(cpu(), ArgsortShape(), 1);
  ASSERT_TRUE(measured.ok()) << measured.message();
  ASSERT_EQ(measured->size(), 1u);
  EXPECT_EQ(measured->front().seconds, 0);
}

TEST(FormsTest, NoiseChoosesNothing) {
  auto choose = [](double first, double second, double third) {
    return chooseForm(
               {{{0, "a"}, first}, {{1, "b"}, second}, {{3, "c"}, third}})
        .form.number;
  };
  EXPECT_EQ(choose(1, 0.98, 0.99), 0u);
  EXPECT_EQ(choose(1, 0.96, 0.99), 1u);
  EXPECT_EQ(choose(1, 0.96, 0.95), 3u);
  EXPECT_EQ(choose(1, 2, 3), 0u);
}

TEST(FormsTest, DescriptorsPrintWhatTellsThemApart) {
  EXPECT_EQ(
      printDescriptor(matmul(4, 6, 8)),
      "contraction a f32, b f32, c f32, accumulate f32, indices [[kind m, "
      "size 4, stride_a 1, stride_b 0, stride_c 6, stride_bias 0]; [kind "
      "n, size 6, stride_a 0, stride_b 1, stride_c 1, stride_bias 0]; "
      "[kind k, size 8, stride_a 4, stride_b 6, stride_c 0, stride_bias "
      "0]], alpha 1, beta 0, has_bias no, bias f32, activation none");
}

class FormTableTest : public testing::Test {
protected:
  void SetUp() override {
    path = std::filesystem::temp_directory_path() /
           ("llmc-forms-" + std::to_string(getpid()) + ".json");
    std::filesystem::remove(path);
  }
  void TearDown() override { std::filesystem::remove(path); }
  std::string path;
};

TEST_F(FormTableTest, MeasuresOnce) {
  auto table = FormTable::read(path);
  ASSERT_TRUE(table.ok());
  auto first = table->find(cpu(), matmul(64, 48, 32), 1);
  ASSERT_TRUE(first.ok()) << first.message();
  EXPECT_EQ(table->numMeasured(), 1u);
  ASSERT_TRUE(table->write(path).ok());

  auto again = FormTable::read(path);
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(*again->find(cpu(), matmul(64, 48, 32), 1), *first);
  EXPECT_EQ(again->numMeasured(), 0u);
  // Other threads, and other sizes, are other calls.
  ASSERT_TRUE(again->find(cpu(), matmul(64, 48, 32), 2).ok());
  ASSERT_TRUE(again->find(cpu(), matmul(64, 48, 33), 1).ok());
  EXPECT_EQ(again->numMeasured(), 2u);
  EXPECT_EQ(again->size(), 3u);
}

// What the file says goes before what a measurement would.
TEST_F(FormTableTest, TheFileDecides) {
  for (std::string form : {"packed", "as it lies"}) {
    std::string row = "[{\"machine\": \"" + cpu().machine() +
                      "\", \"threads\": 1, \"call\": \"" +
                      printDescriptor(matmul(64, 48, 32)) + "\", \"form\": \"" +
                      form + "\", \"seconds\": {}}]";
    ASSERT_TRUE(writeFileAtomically(path, row).ok());
    auto table = FormTable::read(path);
    ASSERT_TRUE(table.ok()) << table.message();
    EXPECT_EQ(*table->find(cpu(), matmul(64, 48, 32), 1), form == "packed");
    EXPECT_EQ(table->numMeasured(), 0u);
  }
}

// A form that this library has not got, and another machine.
TEST_F(FormTableTest, MeasuresWhatDoesNotFit) {
  for (std::string machine : {cpu().machine(), std::string("another")}) {
    std::string row = "[{\"machine\": \"" + machine +
                      "\", \"threads\": 1, \"call\": \"" +
                      printDescriptor(matmul(64, 48, 32)) +
                      "\", \"form\": \"folded\", \"seconds\": {}}]";
    ASSERT_TRUE(writeFileAtomically(path, row).ok());
    auto table = FormTable::read(path);
    ASSERT_TRUE(table.ok()) << table.message();
    ASSERT_TRUE(table->find(cpu(), matmul(64, 48, 32), 1).ok());
    EXPECT_EQ(table->numMeasured(), 1u);
  }
}

TEST_F(FormTableTest, RefusesOtherFiles) {
  for (const char *text : {"", "{", "[{\"machine\": 3}]", "[3]"}) {
    ASSERT_TRUE(writeFileAtomically(path, text).ok());
    auto table = FormTable::read(path);
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_EQ(table.kind(), ErrorKind::malformed);
    EXPECT_EQ(table.message().find("expected a table of measured forms in '" +
                                   path + "'"),
              0u);
  }
}

} // namespace
} // namespace llmc::rt
