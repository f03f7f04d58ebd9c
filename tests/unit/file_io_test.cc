// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests reading and writing files: modes, links, pipes, devices, response files, errors.
#include "common/io/file_io.h"

#include <atomic>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace btflink
{

namespace
{

/// A folder of its own for each test.
class FileIo : public testing::Test
{
protected:
    void SetUp() override
    {
        std::string name = (fs::temp_directory_path() / "btflink-test-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override
    {
        std::error_code error;
        fs::remove_all(folder_, error);
    }
    std::string path(const char *name) const { return (folder_ / name).string(); }
    static std::string contents(const std::string &name)
    {
        auto bytes = read_file(name);
        if (!bytes)
            return "error: " + bytes.error().str();
        return {reinterpret_cast<const char *>(bytes->data()), bytes->size()};
    }
    static mode_t mode(const std::string &name)
    {
        struct stat st;
        return ::stat(name.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
    }
    /// The number of names in the folder, to check that no temporary file is left.
    size_t count() const
    {
        return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
    }
    static std::string write_error(const std::string &name, std::string_view text)
    {
        auto done = write_file(name, as_bytes(text));
        return done ? "" : done.error().str();
    }

    fs::path folder_;
};

TEST_F(FileIo, WritesAndReads)
{
    EXPECT_EQ(write_error(path("a"), "hello"), "");
    EXPECT_EQ(contents(path("a")), "hello");
    EXPECT_EQ(write_error(path("a"), ""), "");
    EXPECT_EQ(contents(path("a")), "");
    std::string large(1000000, 'x');
    EXPECT_EQ(write_error(path("a"), large), "");
    EXPECT_EQ(contents(path("a")), large);
    EXPECT_EQ(count(), 1u);
}

TEST_F(FileIo, NewFilesHaveTheUsualMode)
{
    mode_t mask = ::umask(027);
    EXPECT_EQ(write_error(path("a"), "x"), "");
    ::umask(mask);
    EXPECT_EQ(mode(path("a")), 0640u);
}

TEST_F(FileIo, ModeIsKept)
{
    ASSERT_EQ(write_error(path("a"), "x"), "");
    for (mode_t m : {0600u, 0755u, 0664u}) {
        ASSERT_EQ(::chmod(path("a").c_str(), m), 0);
        EXPECT_EQ(write_error(path("a"), "y"), "");
        EXPECT_EQ(mode(path("a")), m);
    }
}

TEST_F(FileIo, ReplacedNotOverwritten)
{
    ASSERT_EQ(write_error(path("a"), "old"), "");
    fs::create_hard_link(path("a"), path("same"));
    EXPECT_EQ(write_error(path("a"), "new"), "");
    EXPECT_EQ(contents(path("a")), "new");
    EXPECT_EQ(contents(path("same")), "old");
}

TEST_F(FileIo, LinksAreFollowed)
{
    fs::create_directory(path("sub"));
    ASSERT_EQ(write_error(path("sub/target"), "old"), "");
    fs::create_symlink("sub/target", path("link"));
    fs::create_symlink("link", path("link2"));
    EXPECT_EQ(write_error(path("link2"), "new"), "");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_TRUE(fs::is_symlink(path("link2")));
    EXPECT_EQ(contents(path("sub/target")), "new");
    fs::create_symlink("loop", path("loop"));
    EXPECT_NE(write_error(path("loop"), "x").find("Too many levels of symbolic links"),
              std::string::npos);
    EXPECT_TRUE(fs::is_symlink(path("loop")));
    fs::create_symlink("sub/later", path("dangling"));
    EXPECT_EQ(write_error(path("dangling"), "made"), "");
    EXPECT_EQ(contents(path("sub/later")), "made");
}

TEST_F(FileIo, FullDisk)
{
    if (!fs::exists("/dev/full"))
        GTEST_SKIP() << "no /dev/full here";
    EXPECT_EQ(write_error("/dev/full", "x"), "/dev/full: cannot write: No space left on device");
    fs::create_symlink("/dev/full", path("link"));
    EXPECT_NE(write_error(path("link"), "x"), "");
    EXPECT_EQ(count(), 1u);
}

TEST_F(FileIo, DevicesAreWrittenDirectly)
{
    EXPECT_EQ(write_error("/dev/null", "x"), "");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(contents("/dev/null"), "");
}

TEST_F(FileIo, OpenFilesWithoutANameAreWrittenDirectly)
{
    int fd = ::memfd_create("unnamed", MFD_CLOEXEC);
    ASSERT_GE(fd, 0);
    std::string name = strf("/proc/self/fd/%d", fd);
    EXPECT_EQ(write_error(name, "much longer"), "");
    EXPECT_EQ(write_error(name, "short"), "");
    EXPECT_EQ(contents(name), "short");
    ::close(fd);
}

TEST_F(FileIo, OpenFilesOfDeletedFoldersAreWritable)
{
    fs::create_directory(path("folder"));
    const int fd = ::open(path("folder/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0);
    fs::remove_all(path("folder"));
    EXPECT_TRUE(check_writable(strf("/proc/self/fd/%d", fd)));
    ::close(fd);
}

TEST_F(FileIo, PipesCanBeRead)
{
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "piped", 5), 5);
    ::close(ends[1]);
    EXPECT_EQ(contents(strf("/proc/self/fd/%d", ends[0])), "piped");
    ::close(ends[0]);
}

/// `count` parts of different sizes, some of them empty, and all parts joined.
std::pair<std::vector<std::string>, std::string> many_parts(size_t count)
{
    std::vector<std::string> parts;
    std::string whole;
    for (size_t i = 0; i < count; ++i) {
        parts.push_back(std::string(i % 977, static_cast<char>('a' + i % 26)));
        whole += parts.back();
    }
    return {parts, whole};
}

std::vector<Bytes> bytes_of(const std::vector<std::string> &parts)
{
    std::vector<Bytes> bytes;
    for (const std::string &part : parts)
        bytes.push_back(as_bytes(part));
    return bytes;
}

TEST_F(FileIo, MorePartsThanOneCallTakes)
{
    auto [parts, whole] = many_parts(5 * IOV_MAX / 2);
    ASSERT_TRUE(write_file(path("a"), bytes_of(parts)));
    EXPECT_EQ(contents(path("a")), whole);
    ASSERT_TRUE(write_file(path("a"), std::vector<Bytes>(3)));
    EXPECT_EQ(contents(path("a")), "");
}

TEST_F(FileIo, InterruptedWritesGoOn)
{
    const std::string pipe = path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    struct sigaction action = {}, old;
    action.sa_handler = [](int) {}; // without SA_RESTART
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &old), 0);
    auto made = many_parts(3000);
    std::string got;
    std::atomic<bool> done = false;
    const pthread_t writer = ::pthread_self();
    std::thread reader([&] {
        int fd = ::open(pipe.c_str(), O_RDONLY);
        char buffer[9999];
        for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
            got.append(buffer, static_cast<size_t>(n));
            if (!done)
                ::pthread_kill(writer, SIGUSR1);
        }
        ::close(fd);
    });
    auto wrote = write_file(pipe, bytes_of(made.first));
    done = true;
    reader.join();
    ::sigaction(SIGUSR1, &old, nullptr);
    ASSERT_TRUE(wrote) << wrote.error().str();
    EXPECT_TRUE(got == made.second) << got.size() << " bytes of " << made.second.size();
}

TEST_F(FileIo, NoMoreIsReadThanIsAllowed)
{
    ASSERT_TRUE(write_file(path("a"), as_bytes("12345")));
    EXPECT_EQ(read_file(path("a"), 5)->size(), 5u);
    EXPECT_EQ(read_file(path("a"), 4).error().str(), path("a") + ": is longer than 4 bytes");
    EXPECT_EQ(read_file("/dev/zero", 1000).error().str(), "/dev/zero: is longer than 1000 bytes");
}

TEST_F(FileIo, ResponseFilesAreBounded)
{
    // Each file names the next one twice. Without a limit, the last one would be read 16,384 times.
    std::string text(1 << 14, 'x');
    for (char name = 'o'; name >= 'a'; --name) {
        std::string file = path(std::string(1, name).c_str());
        ASSERT_TRUE(write_file(file, as_bytes(text)));
        text = "@" + file + " @" + file;
    }
    auto words = unfold_response_files({"@" + path("a")});
    ASSERT_FALSE(words);
    EXPECT_EQ(words.error().where.file, path("o"));
    EXPECT_EQ(words.error().what, "response files are longer than 33554432 bytes in all");
}

TEST_F(FileIo, ErrorsNameTheFile)
{
    std::string missing = path("no/such");
    EXPECT_EQ(contents(missing), "error: " + missing + ": cannot open: No such file or directory");
    EXPECT_NE(write_error(missing, "x").find(missing + ": cannot"), std::string::npos);
    EXPECT_EQ(contents(folder_), "error: " + folder_.string() + ": is a directory");
    EXPECT_EQ(write_error(folder_, "x"), folder_.string() + ": cannot write: is a directory");
    EXPECT_EQ(count(), 0u);
}

TEST_F(FileIo, UnwritableFilesStay)
{
    if (::geteuid() == 0)
        GTEST_SKIP() << "root may write everything";
    ASSERT_EQ(write_error(path("a"), "old"), "");
    ASSERT_EQ(::chmod(path("a").c_str(), 0444), 0);
    EXPECT_NE(write_error(path("a"), "new"), "");
    EXPECT_EQ(contents(path("a")), "old");
    ASSERT_EQ(::chmod(path("a").c_str(), 0644), 0);
    ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
    EXPECT_NE(write_error(path("a"), "new"), "");
    EXPECT_EQ(contents(path("a")), "old");
    ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    EXPECT_EQ(count(), 1u);
}

} // namespace

} // namespace btflink
