// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Merges random programs, 300 in each test but ManyPaths. Our engine must keep the meaning of all
// types, write no two types with equal words, and write the same bytes with one and three threads.
// It must not leave more types than btf__dedup, with two exceptions, which are counted:
//  - btf__dedup has lost a type, or missed the only definition of a declaration.
//  - A declaration agrees with several definitions, so that each engine may miss the smallest
//    result (merge/NOTES.md). One program in 200, plus one, is allowed. The seeds are printed.
// btf__dedup may refuse the programs of the tests Loops*, so only our engine merges these.
//
// BTFLINK_SEEDS=COUNT chooses the seeds 1 to COUNT; BTFLINK_SEEDS=FIRST:COUNT, COUNT seeds from
// FIRST on.
#include "common/io/file_io.h"
#include "common/io/parallel.h"
#include "common/object_btf/link_trailer.h"
#include "merge/gather/gatherer.h"
#include "tests/merge/meaning.h"
#include "tests/merge/object_maker.h"
#include "tests/merge/random_types.h"

#include <cstdlib>
#include <set>

using namespace btflink;
using namespace btflink::merge;
using namespace btflink::merge::test;

namespace
{

constexpr uint64_t programs = 300; // of each test; tests/run-all --full takes more

class Property : public testing::Test
{
protected:
    std::vector<std::byte> merge_by(Engine engine, unsigned threads, const std::string &base = "",
                                    const std::string &base_index = "")
    {
        Options options;
        options.base_index = base_index;
        options.inputs = paths_;
        options.engine = engine;
        options.threads = threads;
        options.base = base;
        return merged_bytes(dir_, options);
    }

    /// Merges the objects from memory. Two threads each add half of them, one in reverse order.
    std::vector<std::byte> merge_gathered(const Corpus &corpus)
    {
        auto gatherer = std::make_shared<Gatherer>(Where{"gathered"});
        const size_t count = corpus.objects.size();
        parallel_for(2, 2, [&](size_t thread) {
            auto strings = std::make_shared<StringTable>();
            for (size_t i = thread; i < count; i += 2) {
                const size_t number = i % 2 ? i : (count - 1) / 2 * 2 - i;
                auto parts = split_contributions(corpus.objects[number], Where{"object"});
                ASSERT_TRUE(parts && parts->size() == 1);
                auto btf = Btf::parse(parts->front().blob, Where{"object"});
                ASSERT_TRUE(btf);
                auto trailer = decode_trailer(parts->front().trailer, *btf, Where{"object"});
                ASSERT_TRUE(trailer);
                const ByteOrder order = btf->order();
                EXPECT_TRUE(gatherer->add(static_cast<uint32_t>(number), std::move(*btf),
                                          std::move(*trailer), order, strings));
            }
        });
        Options options;
        options.gathered = gatherer;
        return merged_bytes(dir_, options);
    }

    /// Writes objects `begin` to `end` - 1 into one file, as `ld -r` joins sections .BTF. Writing a
    /// file for each object would take longer than the merge. With BTFLINK_KEEP=FOLDER, also writes
    /// each object to FOLDER/oNUMBER, where the next program overwrites it.
    void write_objects(const Corpus &corpus, size_t begin, size_t end)
    {
        std::vector<std::byte> all;
        for (size_t i = begin; i < end; ++i) {
            all.resize(align_up(all.size(), 8));
            all.insert(all.end(), corpus.objects[i].begin(), corpus.objects[i].end());
            if (const char *keep = std::getenv("BTFLINK_KEEP")) {
                ASSERT_TRUE(write_file(keep + ("/o" + std::to_string(i)), corpus.objects[i]));
            }
        }
        paths_ = {dir_ / "objects"};
        ASSERT_TRUE(write_file(paths_[0], all));
    }

    void check(uint64_t seed, const CorpusRules &rules)
    {
        Corpus corpus = random_corpus(seed, rules);
        write_objects(corpus, 0, corpus.objects.size());
        auto ours = merge_by(Engine::hash, 1), theirs = merge_by(Engine::libbpf, 1);
        ASSERT_FALSE(ours.empty());
        ASSERT_FALSE(theirs.empty());
        EXPECT_EQ(ours, merge_by(Engine::hash, 3));
        if (rules.trailers) {
            EXPECT_EQ(ours, merge_gathered(corpus));
        }
        compare(seed, corpus, 0, ours, theirs, nullptr);
        if (!rules.forwards && !rules.enum_forwards)
            check_fewest(corpus, ours);
    }

    /// No two types may have the same words.
    static void check_distinct(const Btf &merged)
    {
        std::set<std::vector<uint32_t>> seen;
        for (TypeId id : merged.ids()) {
            const std::span words = btf::all_words(merged.type(id));
            EXPECT_TRUE(seen.insert({words.begin(), words.end()}).second)
                << "type " << raw(id) << " repeats a type of the result";
        }
    }

    static std::vector<Btf> parse(const Corpus &corpus)
    {
        std::vector<Btf> parsed;
        for (const auto &object : corpus.objects)
            parsed.push_back(*Btf::parse(object, Where{"object"}));
        return parsed;
    }

    /// Without declarations, only one number of types is right, and it is computed here without
    /// either engine.
    void check_fewest(const Corpus &corpus, const std::vector<std::byte> &ours)
    {
        const std::vector<Btf> parsed = parse(corpus);
        std::vector<const Btf *> objects;
        for (const Btf &btf : parsed)
            objects.push_back(&btf);
        EXPECT_EQ(Btf::parse(ours, Where{"ours"})->size(), fewest_types(objects));
    }

    /// Checks a program that btf__dedup may refuse.
    void check_alone(uint64_t seed, const CorpusRules &rules)
    {
        Corpus corpus = random_corpus(seed, rules);
        write_objects(corpus, 0, corpus.objects.size());
        auto ours = merge_by(Engine::hash, 1);
        ASSERT_FALSE(ours.empty());
        EXPECT_EQ(ours, merge_by(Engine::hash, 3));
        if (rules.trailers) {
            EXPECT_EQ(ours, merge_gathered(corpus));
        }
        auto merged = Btf::parse(ours, Where{"ours"});
        ASSERT_TRUE(merged);
        check_distinct(*merged);
        const std::vector<Btf> objects = parse(corpus);
        for (const Btf &object : objects)
            EXPECT_EQ(first_lost(object, *merged, known_to(objects)), "");
        if (!rules.forwards && !rules.enum_forwards)
            check_fewest(corpus, ours);
        ++all_;
    }

    void check_over_base(uint64_t seed, const CorpusRules &rules)
    {
        Corpus corpus = random_corpus(seed, rules);
        size_t half = corpus.objects.size() / 2;
        write_objects(corpus, 0, half);
        auto base = merge_by(Engine::libbpf, 1);
        ASSERT_FALSE(base.empty());
        ASSERT_TRUE(write_file(dir_ / "base", base));
        auto parsed = Btf::parse(base, Where{"base"});
        ASSERT_TRUE(parsed);
        write_objects(corpus, half, corpus.objects.size());
        auto ours = merge_by(Engine::hash, 1, dir_ / "base"),
             theirs = merge_by(Engine::libbpf, 1, dir_ / "base");
        ASSERT_FALSE(ours.empty());
        ASSERT_FALSE(theirs.empty());
        EXPECT_EQ(ours, merge_by(Engine::hash, 3, dir_ / "base"));
        // The first merge makes an index of this base, which replaces that of the previous seed's
        // base. The other two merges use the new index.
        for (unsigned threads : {1, 1, 3})
            EXPECT_EQ(ours, merge_by(Engine::hash, threads, dir_ / "base", dir_ / "index"));
        compare(seed, corpus, half, ours, theirs, std::make_shared<const Btf>(std::move(*parsed)));
    }

    void compare(uint64_t seed, const Corpus &corpus, size_t begin,
                 const std::vector<std::byte> &ours, const std::vector<std::byte> &theirs,
                 std::shared_ptr<const Btf> base)
    {
        auto a = Btf::parse(ours, Where{"ours"}, base),
             b = Btf::parse(theirs, Where{"btf__dedup's"}, base);
        ASSERT_TRUE(a);
        ASSERT_TRUE(b);
        check_distinct(*a);
        std::vector<Btf> objects = parse(corpus);
        objects.erase(objects.begin(), objects.begin() + static_cast<ptrdiff_t>(begin));
        const Known known = known_to(objects, base.get());
        for (size_t i = 0; i < objects.size(); ++i)
            EXPECT_EQ(first_lost(objects[i], *a, known), "") << "of object " << begin + i;
        fewer_ += a->size() < b->size();
        if (a->size() > b->size()) {
            bool theirs_lost = false;
            for (size_t i = 0; i < objects.size() && !theirs_lost; ++i)
                theirs_lost = !first_lost(objects[i], *b, known).empty();
            ++(theirs_lost ? more_than_lossy_ : more_);
            if (!theirs_lost)
                std::printf("seed %llu: %u types, btf__dedup %u\n",
                            static_cast<unsigned long long>(seed), a->size(), b->size());
        }
        same_bytes_ += ours == theirs;
        ++all_;
    }

    void TearDown() override
    {
        std::printf("%llu programs; same bytes %llu, fewer types than btf__dedup %llu, more %llu, "
                    "more where btf__dedup lost a type %llu\n",
                    all_, same_bytes_, fewer_, more_, more_than_lossy_);
    }

    TempDir dir_;
    std::vector<std::string> paths_;
    unsigned long long more_ = 0, more_than_lossy_ = 0, all_ = 0, fewer_ = 0, same_bytes_ = 0;
};

TEST_F(Property, Conflicts)
{
    for_seeds(programs, [&](uint64_t seed) {
        check(seed, {.forwards = false, .local_names = false, .enum_forwards = false});
    });
    EXPECT_EQ(more_, 0u);
}

TEST_F(Property, ConflictsWithoutTrailers)
{
    for_seeds(programs, [&](uint64_t seed) {
        check(seed,
              {.trailers = false, .forwards = false, .local_names = false, .enum_forwards = false});
    });
    EXPECT_EQ(more_, 0u);
}

TEST_F(Property, LocalNames)
{
    for_seeds(programs,
              [&](uint64_t seed) { check(seed, {.forwards = false, .enum_forwards = false}); });
    EXPECT_EQ(more_, 0u);
}

// If a declaration agrees with several definitions, each engine chooses one of them in its own way.
TEST_F(Property, Forwards)
{
    for_seeds(programs,
              [&](uint64_t seed) { check(seed, {.local_names = false, .enum_forwards = false}); });
    EXPECT_LE(more_, all_ / 200 + 1);
}

TEST_F(Property, All)
{
    for_seeds(programs, [&](uint64_t seed) { check(seed, {.trailers = seed % 2 == 0}); });
    EXPECT_LE(more_, all_ / 200 + 1);
}

// A typedef of a pointer to a function that takes this typedef is a cycle without a struct. C lacks
// such cycles, but other languages have them. btf__dedup before libbpf 1.7 fails on them.
TEST_F(Property, Loops)
{
    for_seeds(programs, [&](uint64_t seed) {
        check_alone(
            seed,
            {.trailers = seed % 2 == 0, .forwards = false, .enum_forwards = false, .loops = true});
    });
}

TEST_F(Property, LoopsAndForwards)
{
    for_seeds(programs, [&](uint64_t seed) {
        check_alone(seed, {.trailers = seed % 2 == 0, .loops = true});
    });
}

// Each prototype takes two pointers to the previous one, so the number of paths is two to the power
// of the number of prototypes, too many to walk. All paths end at struct q, which each object
// defines or declares differently.
TEST_F(Property, ManyPaths)
{
    Corpus corpus;
    for (uint32_t size : {0u, 4u, 8u}) { // 0: a declaration only
        BtfBuilder b;
        TypeId number = b.add_int("int", 4, 0);
        TypeId end =
            size ? b.add_composite(btf::Kind::STRUCT, "q", size, false) : b.add_fwd("q", false);
        TypeId pointer = b.add_ref(btf::Kind::PTR, "", end);
        for (int depth = 0; depth < 60; ++depth) {
            TypeId prototype = b.add_func_proto(number);
            b.add_param("", pointer);
            b.add_param("", pointer);
            pointer = b.add_ref(btf::Kind::PTR, "", prototype);
        }
        b.add_composite(btf::Kind::STRUCT, "s", 8, false);
        b.add_member("f", pointer, 0);
        corpus.objects.push_back(b.serialize(host_order));
    }
    write_objects(corpus, 0, corpus.objects.size());
    auto ours = merge_by(Engine::hash, 1);
    auto theirs = merge_by(Engine::libbpf, 1);
    EXPECT_EQ(Btf::parse(ours, Where{"ours"})->size(),
              Btf::parse(theirs, Where{"btf__dedup's"})->size());
}

TEST_F(Property, OverBase)
{
    for_seeds(programs, [&](uint64_t seed) {
        check_over_base(seed, {.forwards = false, .enum_forwards = false});
    });
    EXPECT_EQ(more_, 0u);
}

TEST_F(Property, DeclarationsOverBase)
{
    for_seeds(programs, [&](uint64_t seed) {
        check_over_base(seed, {.enum_forwards = false, .base_complete = true});
    });
    EXPECT_LE(more_, all_ / 200 + 1);
}

// Some bases only declare a struct that the module defines. Then the declaration in the base agrees
// with any definition, and the module's result keeps the definition of the module.
TEST_F(Property, OverPartialBase)
{
    for_seeds(programs, [&](uint64_t seed) { check_over_base(seed, {.enum_forwards = false}); });
    EXPECT_LE(more_, all_ / 200 + 1);
}

} // namespace
