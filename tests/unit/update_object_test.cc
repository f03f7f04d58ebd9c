// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests update_file() with objects: after success, the file holds the new object; after an error,
// it is as before; no other file is ever left in the folder.
#include "tests/unit/elf_maker.h"

#include "common/io/file_io.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace btflink::emit
{

namespace
{

class UpdateObject : public testing::Test
{
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "update-XXXXXX";
        ASSERT_TRUE(mkdtemp(name.data()));
        folder = name;
        path = folder + "/t.o";
        ASSERT_TRUE(write_file(path, object));
    }
    void TearDown() override
    {
        for (const char *name : {"/t.o", "/link"})
            ::unlink((folder + name).c_str());
        EXPECT_EQ(::rmdir(folder.c_str()), 0); // fails if other files are left
    }
    struct stat stat_of(const std::string &file)
    {
        struct stat st = {};
        EXPECT_EQ(::stat(file.c_str(), &st), 0);
        return st;
    }

    /// Adds `btf` to the file folder + `name`. `before` is what a program has read from this file;
    /// update_file() must fail if the file has changed since.
    Result<void> update(const std::string &name, Bytes before, const ObjectBtf &btf)
    {
        auto change = TRY(plan_object_btf(before, target.arch, btf, Where{name}));
        return update_file(folder + name, before, change);
    }

    const Target &target = targets[0];
    std::string folder, path;
    std::vector<std::byte> object = build(target, false);
    const ObjectBtf added = make_btf(target);
    std::vector<std::byte> after = emit(target, object, added);
};

TEST_F(UpdateObject, AppendsInPlace)
{
    ASSERT_EQ(::symlink("t.o", (folder + "/link").c_str()), 0);
    struct stat st = stat_of(path);
    ASSERT_TRUE(update("/link", object, added));
    EXPECT_EQ(*read_file(path), after);
    EXPECT_EQ(stat_of(path).st_ino, st.st_ino);
    const struct timespec long_ago[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
    ASSERT_TRUE(update("/t.o", after, added)); // nothing to do, so the file is not touched
    EXPECT_EQ(stat_of(path).st_mtim.tv_sec, 1);
}

TEST_F(UpdateObject, StrippingReplacesTheFile)
{
    ObjectBtf btf = make_btf(target);
    btf.strip_dwarf = true;
    std::vector<std::byte> stripped = emit(target, object, btf);
    ASSERT_EQ(::symlink("t.o", (folder + "/link").c_str()), 0);
    ASSERT_TRUE(update("/link", object, btf));
    EXPECT_EQ(*read_file(path), stripped);
}

TEST_F(UpdateObject, RefusesChangedFile)
{
    std::vector<std::byte> longer = object;
    longer.push_back(std::byte{0});
    ASSERT_TRUE(write_file(path, longer));
    EXPECT_FALSE(update("/t.o", object, added));
    EXPECT_EQ(*read_file(path), longer);
    EXPECT_FALSE(update("/missing", object, added));
}

TEST_F(UpdateObject, UndoesFailedAppend)
{
    // A limit of the file size simulates a full disk.
    auto *handler = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit limit = {object.size() + 100, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    auto result = update("/t.o", object, added);
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_FALSE(result);
    EXPECT_EQ(*read_file(path), object);
}

} // namespace

} // namespace btflink::emit
