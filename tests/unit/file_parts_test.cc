// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Files that a run can do without, and what becomes of them meanwhile. (What becomes of a run whose
// needed files are cut off: tests/hostile.)
#include "common/io/file_io.h"
#include "common/io/file_parts.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace btflink
{

namespace
{

class SpareFile : public testing::Test
{
protected:
    void SetUp() override
    {
        report_lost_files("test");
        std::string name = (fs::temp_directory_path() / "btflink-test-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        path_ = (folder_ / "file").string();
        ASSERT_TRUE(write_file(path_, std::vector<std::byte>(size, std::byte{7})));
        auto parts = read_parts(path_, Need::spare);
        ASSERT_TRUE(parts);
        parts_ = std::move(*parts);
        ASSERT_EQ(parts_.bytes.size(), size);
        EXPECT_TRUE(is_intact(parts_.bytes));
    }
    void TearDown() override
    {
        std::error_code error;
        fs::remove_all(folder_, error);
    }

    static constexpr size_t size = 300001; // more than is read into memory
    fs::path folder_;
    std::string path_;
    FileParts parts_;
};

TEST_F(SpareFile, CutOff)
{
    ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
    for (size_t at : {size - 1, size / 2, size_t{0}})
        EXPECT_EQ(parts_.bytes[at], std::byte{0});
    EXPECT_FALSE(is_intact(parts_.bytes));
    EXPECT_FALSE(is_intact(parts_.bytes.subspan(size - 1)));
    EXPECT_TRUE(check_mapped_files());
}

TEST_F(SpareFile, Written)
{
    struct timespec times[2] = {{1, 0}, {1, 0}}; // another time than now, whatever the clock does
    ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
    EXPECT_EQ(parts_.bytes[size - 1], std::byte{7});
    EXPECT_FALSE(is_intact(parts_.bytes));
    EXPECT_TRUE(check_mapped_files());
}

TEST_F(SpareFile, Replaced)
{
    ASSERT_TRUE(write_file(path_, std::vector<std::byte>(size, std::byte{8})));
    EXPECT_EQ(parts_.bytes[size - 1], std::byte{7});
    EXPECT_TRUE(is_intact(parts_.bytes));
}

TEST_F(SpareFile, OthersAreNeeded)
{
    const auto needed = read_parts(path_);
    ASSERT_TRUE(needed);
    EXPECT_TRUE(check_mapped_files());
    ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
    EXPECT_FALSE(check_mapped_files());
    const int here = 0;
    EXPECT_TRUE(is_intact(std::as_bytes(std::span(&here, 1)))); // in no file
}

} // namespace

} // namespace btflink
