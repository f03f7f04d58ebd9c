// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests forged indexes of a base: the checksums are right, the contents are wrong. A merge with
// such an index must end with an error, or with a well-formed result, which may be wrong. Also
// tests an index that changes while it is read, and indexes of unusual bases. base-index-test.py
// tests accidental damage; property_test.cc tests that results are the same with an index.
#include "common/io/file_io.h"
#include "merge/base_index/base_index.h"
#include "merge/base_index/layout.h"
#include "merge/input/final_btf.h"
#include "tests/merge/object_maker.h"
#include "tests/merge/random_types.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace btflink::merge::test
{

namespace
{

class ForgedIndex : public testing::Test
{
protected:
    void write_objects(const Corpus &corpus, size_t begin, size_t end)
    {
        std::vector<std::byte> all;
        for (size_t i = begin; i < end; ++i)
            all.insert(all.end(), corpus.objects[i].begin(), corpus.objects[i].end());
        ASSERT_TRUE(write_file(dir_ / "objects", all));
    }

    std::vector<std::byte> merge_over(const std::string &base)
    {
        Options options;
        options.inputs = {dir_ / "objects"};
        options.base = base;
        return merged_bytes(dir_, options);
    }

    /// Merges with a forged index. Returns no bytes if merge() fails, and counts this in `refused`.
    std::vector<std::byte> merge_over(const std::string &base, const std::string &index,
                                      size_t &refused)
    {
        Options options;
        options.inputs = {dir_ / "objects"};
        options.base = base;
        options.base_index = index;
        options.output = dir_ / "out.btf";
        Report report;
        const auto done = merge(options, report);
        if (done)
            return *read_file(options.output); // merge() has checked that it is well-formed
        ++refused;
        return {};
    }

    /// Returns a copy of `index` with some changed words after the header, and the right checksum.
    std::vector<std::byte> forged(std::vector<std::byte> index)
    {
        using index_layout::Header;
        const size_t words = (index.size() - sizeof(Header)) / 4;
        for (size_t n = 1 + random_() % 40; n; --n) {
            std::byte *at = index.data() + sizeof(Header) + random_() % words * 4;
            uint32_t word;
            std::memcpy(&word, at, 4);
            word = random_() % 2 ? static_cast<uint32_t>(random_()) : word + 1;
            std::memcpy(at, &word, 4);
        }
        Header h;
        std::memcpy(&h, index.data(), sizeof h);
        h.check = index_layout::check_of(index);
        std::memcpy(index.data(), &h, sizeof h);
        return index;
    }

    TempDir dir_;
    std::mt19937_64 random_;
};

TEST_F(ForgedIndex, DoesNotCrash)
{
    size_t accepted = 0, refused = 0, same = 0, runs = 0;
    for (uint64_t seed = 1; seed < 40; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        random_.seed(seed);
        const Corpus corpus = random_corpus(seed, {.enum_forwards = false});
        const size_t half = corpus.objects.size() / 2;
        write_objects(corpus, 0, half);
        auto base = merge_over("");
        ASSERT_FALSE(base.empty());
        ASSERT_TRUE(write_file(dir_ / "base", base));
        write_objects(corpus, half, corpus.objects.size());
        const auto expected = merge_over(dir_ / "base");
        auto parsed = Btf::parse(base, Where{"base"});
        const std::vector<std::byte> good = *make_index(*parsed, base, Where{"base"});
        for (int round = 0; round < 10; ++round) {
            const std::vector<std::byte> bad = forged(good);
            accepted += BaseIndex::open(bad, base, nullptr) != nullptr;
            ASSERT_TRUE(write_file(dir_ / "index", bad));
            const auto found = merge_over(dir_ / "base", dir_ / "index", refused);
            same += found == expected;
            ++runs;
        }
    }
    EXPECT_EQ(accepted, runs); // otherwise some merges would have used no forged index
    EXPECT_GT(same, 0u);
    EXPECT_LT(same, runs);
    EXPECT_GT(refused, 0u);
    EXPECT_LT(refused, runs);
}

/// Another process writes to the index while this process reads it.
TEST(ChangingIndex, DoesNotCrash)
{
    TempDir dir;
    std::string text;
    for (uint32_t id = 1; id < 200; ++id)
        text += strf("[%u] STRUCT 's%u' size=%u vlen=0\n", id, id, id);
    auto base = read_base(make_raw(dir, "base", text));
    ASSERT_TRUE(base);
    const std::vector<std::byte> good = *make_index(*base->btf, base->blob, base->where);
    void *memory =
        ::mmap(nullptr, good.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto *bytes = static_cast<std::byte *>(memory);
    std::ranges::copy(good, bytes);
    const auto index = BaseIndex::open({bytes, good.size()}, base->blob, nullptr);
    ASSERT_TRUE(index);
    const std::vector<Hash128> hashes = stub_hashes(*base->btf);
    const pid_t reader = ::getpid(), writer = ::fork();
    if (writer == 0) {
        for (uint8_t value = 0; ::getppid() == reader; ++value) { // ends also if the reader crashes
            std::memset(bytes + sizeof(index_layout::Header), value % 2 ? 0xff : 0,
                        good.size() - sizeof(index_layout::Header));
            std::ranges::copy(good, bytes);
        }
        ::_exit(0);
    }
    ASSERT_GT(writer, 0);
    uint64_t found = 0;
    auto check = [&](TypeId id, TypeId lowest) {
        ASSERT_GT(raw(id), 0u);
        ASSERT_LT(raw(id), raw(index->btf()->end_id()));
        ASSERT_GT(raw(lowest), 0u);
        ASSERT_LT(raw(lowest), raw(index->btf()->end_id()));
        found += index->btf()->name(id).size();
    };
    // The reader makes at least 500 rounds, and ends only after it has met an impossible number. On
    // a busy machine, the writer may not run for a while.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int round = 0; round < 500 || !index->is_malformed(); ++round) {
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        for (uint32_t id = 1; id < 200; ++id) {
            index->for_named("s" + std::to_string(id), check);
            index->for_types_with(hashes[id - 1], check);
            index->find_string("s" + std::to_string(id));
        }
    }
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    ::munmap(memory, good.size());
    EXPECT_GT(found, 0u);
    EXPECT_TRUE(index->is_malformed());
}

TEST(OddBase, HasAnIndexOrAnError)
{
    TempDir dir;
    auto make = [&](std::string_view text) {
        auto base = read_base(make_raw(dir, "base", text));
        EXPECT_TRUE(base);
        return make_index(*base->btf, base->blob, base->where);
    };
    EXPECT_TRUE(make("[1] STRUCT 's' size=8 vlen=1\n"
                     "\t'a' type_id=2 bits_offset=0\n"
                     "[2] PTR '(anon)' type_id=1"));
    EXPECT_TRUE(make("[1] PTR '(anon)' type_id=2\n" // a cycle without a name
                     "[2] CONST '(anon)' type_id=1"));
    const auto made = make("[1] FUNC_PROTO '(anon)' ret_type_id=0\n"
                           "[2] FUNC 'f' type_id=1 linkage=static\n"
                           "[3] PTR '(anon)' type_id=2");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().what, "type 3 (PTR) refers to a FUNC, VAR or DATASEC");
}

} // namespace

} // namespace btflink::merge::test
