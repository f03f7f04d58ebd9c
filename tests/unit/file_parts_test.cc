// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests whether check_mapped_files() notices that another program changes a mapped file.
// tests/hostile/files-test.py tests what a program does then.
#include "common/io/file_io.h"

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

class MappedFile : public testing::Test
{
protected:
    void SetUp() override
    {
        std::string name = (fs::temp_directory_path() / "btflink-test-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        path_ = (folder_ / "file").string();
        ASSERT_TRUE(write_file(path_, std::vector<std::byte>(size, std::byte{7})));
        auto parts = read_parts(path_);
        ASSERT_TRUE(parts);
        parts_ = std::move(*parts);
        ASSERT_EQ(parts_.bytes.size(), size);
        EXPECT_TRUE(check_mapped_files());
    }
    void TearDown() override
    {
        std::error_code error;
        fs::remove_all(folder_, error);
    }

    static constexpr size_t size = 300001; // large enough to be mapped, not read
    fs::path folder_;
    std::string path_;
    FileParts parts_;
};

TEST_F(MappedFile, CutOff)
{
    ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
    EXPECT_FALSE(check_mapped_files());
    parts_ = {};
    EXPECT_TRUE(check_mapped_files()); // no longer mapped
}

TEST_F(MappedFile, Written)
{
    struct timespec times[2] = {{1, 0}, {1, 0}}; // differs from the time of the file
    ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
    EXPECT_FALSE(check_mapped_files());
}

TEST_F(MappedFile, Replaced)
{
    ASSERT_TRUE(write_file(path_, std::vector<std::byte>(size, std::byte{8})));
    EXPECT_EQ(parts_.bytes[size - 1], std::byte{7});
    EXPECT_TRUE(check_mapped_files());
}

} // namespace

} // namespace btflink
