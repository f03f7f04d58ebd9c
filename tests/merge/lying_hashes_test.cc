// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests objects with false hashes or numbers in their link trailers. Some tests of CostOfLies use
// objects with true hashes instead, whose types are costly to compare. btf-merge trusts hashes, so
// the result may have wrong types. But there must be an error or a well-formed result, the same for
// any number of threads, in limited time (common/FORMAT.md, 6). CostOfLies also limits memory in
// some tests. With --verify, an object with a false hash is refused. BTFLINK_SEEDS=COUNT or
// =FIRST:COUNT chooses the seeds.
#include "common/io/file_io.h"
#include "common/object_btf/link_trailer.h"
#include "tests/merge/object_maker.h"
#include "tests/merge/random_types.h"

#include <cstring>
#include <ctime>
#include <random>
#include <sys/resource.h>

namespace btflink::merge::test
{

namespace
{

using Hash = std::array<std::byte, 16>;

/// The stub hashes in the link trailer of `object`, a contribution. set() changes `object`.
class HashTable
{
public:
    explicit HashTable(std::vector<std::byte> &object)
    {
        auto parts = split_contributions(object, Where{"object"});
        size_t trailer = parts->front().trailer_offset;
        auto word = [&](size_t at) { return load<uint32_t>(&object[trailer + at], host_order); };
        begin_ = &object[trailer + word(40)];
        count_ = word(44);
    }
    size_t size() const { return count_; }
    Hash get(size_t i) const
    {
        Hash h;
        std::memcpy(h.data(), begin_ + i * 16, 16);
        return h;
    }
    void set(size_t i, const Hash &h) { std::memcpy(begin_ + i * 16, h.data(), 16); }

private:
    std::byte *begin_;
    size_t count_;
};

class LyingHashes : public testing::Test
{
protected:
    /// Falsifies hashes in `table`, in one of several ways. `others`: the hashes of any object,
    /// perhaps `table` itself.
    void lie(HashTable table, HashTable others)
    {
        auto below = [&](size_t n) { return static_cast<size_t>(random_() % n); };
        auto noise = [&] {
            Hash h;
            for (std::byte &b : h)
                b = static_cast<std::byte>(random_());
            return h;
        };
        switch (below(7)) {
        case 0:
            table.set(below(table.size()), noise());
            break;
        case 1:
            for (size_t i = 0; i < table.size(); ++i)
                table.set(i, noise());
            break;
        case 2: // two types have the same hash
            table.set(below(table.size()), table.get(below(table.size())));
            break;
        case 3: // some types have hashes from `others`
            for (size_t n = 1 + below(table.size()); n; --n)
                table.set(below(table.size()), others.get(below(others.size())));
            break;
        case 4: // all types have the same hash
            for (size_t i = 0; i < table.size(); ++i)
                table.set(i, Hash{});
            break;
        case 5: // each type but the last has the hash of the next
            for (size_t i = 0; i + 1 < table.size(); ++i)
                table.set(i, table.get(i + 1));
            break;
        default: // the hashes are shuffled
            for (size_t i = table.size(); i > 1; --i) {
                size_t j = below(i);
                Hash h = table.get(j);
                table.set(j, table.get(i - 1));
                table.set(i - 1, h);
            }
        }
    }

    /// Merges the file DIR/objects. Returns the result or the text of an error. The test fails if
    /// this takes 5 seconds of processor time. `base` is a file; "": none.
    std::vector<std::byte> outcome(unsigned threads, const std::string &base = "",
                                   bool verify = false)
    {
        Options options;
        options.inputs = {dir_ / "objects"};
        options.base = base;
        options.output = dir_ / "out.btf";
        options.threads = threads;
        options.verify = verify;
        Report report;
        std::clock_t start = std::clock();
        auto done = merge(options, report);
        EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
        ++(done ? merged_ : refused_);
        if (done)
            return *read_file(options.output); // merge() has checked that the result is well-formed
        std::string text = done.error().str();
        return {as_bytes(text).begin(), as_bytes(text).end()};
    }

    /// Merges one or more contributions with --verify. Returns the error, or "" on success.
    std::string verified(Bytes contribution)
    {
        EXPECT_TRUE(write_file(dir_ / "objects", contribution));
        const size_t before = refused_;
        auto text = outcome(1, "", true);
        return refused_ == before ? ""
                                  : std::string(reinterpret_cast<char *>(text.data()), text.size());
    }

    void for_programs(auto each)
    {
        for_seeds(400, [&](uint64_t seed) {
            random_.seed(seed);
            Corpus corpus = random_corpus(seed, {.forwards = seed % 2 == 0,
                                                 .local_names = seed % 3 == 0,
                                                 .enum_forwards = seed % 5 == 0,
                                                 .loops = seed % 7 == 0});
            each(corpus);
        });
    }

    /// Gives false hashes to one or more objects, beginning with number `first`. Writes all objects
    /// from `first` on to DIR/objects.
    void write_lying(Corpus &corpus, size_t first)
    {
        size_t liars = 1 + random_() % corpus.objects.size();
        std::vector<std::byte> all;
        for (size_t i = first; i < corpus.objects.size(); ++i) {
            auto &object = corpus.objects[i];
            if (i < first + liars)
                lie(HashTable(object), HashTable(corpus.objects[random_() % (i + 1)]));
            all.insert(all.end(), object.begin(), object.end());
        }
        ASSERT_TRUE(write_file(dir_ / "objects", all));
    }

    void TearDown() override { std::printf("%zu merged, %zu refused\n", merged_, refused_); }

    TempDir dir_;
    std::mt19937_64 random_;
    size_t merged_ = 0, refused_ = 0;
};

TEST_F(LyingHashes, AreTolerated)
{
    for_programs([&](Corpus &corpus) {
        write_lying(corpus, 0);
        auto one = outcome(1);
        EXPECT_EQ(one, outcome(3));
    });
    EXPECT_GT(merged_, 0u);
}

// The base is made from objects with true hashes. It may declare structs that the objects with
// false hashes define.
TEST_F(LyingHashes, AreToleratedOverBase)
{
    size_t over_base = 0; // successful merges of objects with false hashes
    for_programs([&](Corpus &corpus) {
        const size_t below = corpus.objects.size() / 2;
        std::vector<std::byte> all;
        for (size_t i = 0; i < below; ++i)
            all.insert(all.end(), corpus.objects[i].begin(), corpus.objects[i].end());
        if (all.empty())
            return;
        ASSERT_TRUE(write_file(dir_ / "objects", all));
        const size_t refused = refused_;
        ASSERT_TRUE(write_file(dir_ / "base", outcome(1)));
        ASSERT_EQ(refused_, refused); // BTF, not an error text
        write_lying(corpus, below);
        const size_t merged = merged_;
        auto one = outcome(1, dir_ / "base");
        EXPECT_EQ(one, outcome(3, dir_ / "base"));
        over_base += merged_ - merged;
    });
    EXPECT_GT(over_base, 0u);
}

/// A contribution with true hashes, except that its last type has the hash `stated` if this is
/// given. The first type of its link part is `plain_end` if this is given.
std::vector<std::byte> contribution(const BtfBuilder &builder, std::optional<Hash128> stated = {},
                                    TypeId plain_end = {})
{
    std::vector<std::byte> blob = builder.serialize(host_order);
    LinkTrailer trailer;
    trailer.features = default_features();
    trailer.plain_end = plain_end == TypeId{} ? builder.next_id() : plain_end;
    trailer.hashes = stub_hashes(builder.view());
    if (stated)
        trailer.hashes.back() = *stated;
    auto bytes = encode_trailer(trailer, blob, host_order);
    blob.resize(align_up(blob.size(), 8));
    blob.insert(blob.end(), bytes.begin(), bytes.end());
    return blob;
}

TEST_F(LyingHashes, AreRefusedIfVerified)
{
    for_programs([&](Corpus &corpus) {
        std::vector<std::byte> honest;
        for (const auto &object : corpus.objects)
            honest.insert(honest.end(), object.begin(), object.end());
        ASSERT_TRUE(write_file(dir_ / "objects", honest));
        EXPECT_EQ(outcome(1), outcome(2, "", true));
        write_lying(corpus, 0);
        auto all = *read_file(dir_ / "objects");
        if (all != honest) { // else lie() happened to write the true hashes
            EXPECT_NE(verified(all), "");
        }
    });
}

TEST_F(LyingHashes, AreNamedIfVerified)
{
    BtfBuilder b;
    b.add_composite(btf::Kind::STRUCT, "s", 4, false);
    EXPECT_EQ(verified(contribution(b)), "");
    // The object id is right, so it does not reveal the false hash.
    std::string text = verified(contribution(b, Hash128{1, 2}));
    EXPECT_TRUE(text.ends_with("stored hash of type 1 (STRUCT 's') does not match its contents"))
        << text;
}

TEST_F(LyingHashes, EachByteIsVerified)
{
    BtfBuilder b;
    TypeId s = b.add_composite(btf::Kind::STRUCT, "s", 4, false);
    b.add_ref(btf::Kind::PTR, "", s);
    const auto good = contribution(b);
    const size_t blob_end = b.serialize(host_order).size(), trailer = align_up(blob_end, 8);
    for (size_t at = 0; at < good.size(); ++at) {
        if (at >= blob_end && at < trailer)
            continue; // padding
        auto bad = good;
        bad[at] ^= std::byte{0x10};
        EXPECT_NE(verified(bad), "") << "byte " << at;
    }
}

TEST_F(LyingHashes, NumberOfTypesIsVerified)
{
    constexpr size_t number_at = 44; // position in the trailer of the number of hashes
    BtfBuilder b;
    for (uint32_t i = 0; i < 7; ++i)
        b.add_composite(btf::Kind::STRUCT, "s" + std::to_string(i), 4, false);
    auto bad = contribution(b, {}, TypeId{7});
    std::byte &number = bad.at(align_up(b.serialize(host_order).size(), 8) + number_at);
    ASSERT_EQ(number, std::byte{7});
    number = std::byte{6}; // 6 types have as many position samples as 7
    const std::string text = verified(bad);
    EXPECT_TRUE(text.ends_with("the blob has 7 types, but its link trailer states 6")) << text;
}

/// A trailer that states one type too many, and a plain end that fits this number, passes all
/// checks when the object is loaded. When the merge reads type 8, the walk from the last position
/// sample reaches the end of the types, and check_sampled() reports the wrong number.
TEST_F(LyingHashes, TypesThatDoNotExistAreAnError)
{
    constexpr size_t plain_end_at = 32, number_at = 44; // positions in the trailer
    BtfBuilder b;
    for (uint32_t i = 0; i < 7; ++i)
        b.add_int("i" + std::to_string(i), 4, 0);
    std::vector<std::byte> blob = b.serialize(host_order);
    LinkTrailer trailer;
    trailer.features = default_features();
    trailer.plain_end = b.next_id();
    trailer.hashes = stub_hashes(b.view());
    trailer.addresses = {0, 0}; // unused; makes room for an eighth hash
    auto bytes = encode_trailer(trailer, blob, host_order);
    bytes.at(number_at) = std::byte{8};
    bytes.at(plain_end_at) = std::byte{9};
    blob.resize(align_up(blob.size(), 8));
    blob.insert(blob.end(), bytes.begin(), bytes.end());
    ASSERT_TRUE(write_file(dir_ / "objects", blob));
    const auto text = outcome(1);
    EXPECT_EQ(refused_, 1u);
    const std::string error(reinterpret_cast<const char *>(text.data()), text.size());
    EXPECT_TRUE(error.ends_with("the blob has 7 types, but its link trailer states 8")) << error;
}

class CostOfLies : public LyingHashes
{
protected:
    /// Merges `objects`. Fails if the peak of memory use rises by 256 MB or more.
    void expect_small(const std::vector<std::byte> &objects)
    {
        ASSERT_TRUE(write_file(dir_ / "objects", objects));
        const auto before = peak();
        outcome(1);
        EXPECT_LT(peak() - before, 256 * 1024) << "kilobytes more";
    }
    /// Small objects that state the hash of a large type must cost no more than other small ones:
    /// merges the object `first` and 2000 small ones. Each small object has a different struct s
    /// and the types that add_last() adds. For its last type it states the hash of the last type of
    /// `first`.
    void expect_small(const BtfBuilder &first, auto add_last)
    {
        const Hash128 stated = stub_hashes(first.view()).back();
        std::vector<std::byte> all = contribution(first);
        for (uint32_t i = 1; i <= 2000; ++i) {
            BtfBuilder liar = with_struct(i);
            add_last(liar);
            auto object = contribution(liar, stated);
            all.insert(all.end(), object.begin(), object.end());
        }
        expect_small(all);
    }
    /// The number of types after two objects were merged; 0 if the merge failed.
    uint32_t merged_size(const BtfBuilder &first, const BtfBuilder &second)
    {
        std::vector<std::byte> all = contribution(first);
        const auto more = contribution(second);
        all.insert(all.end(), more.begin(), more.end());
        EXPECT_TRUE(write_file(dir_ / "objects", all));
        const auto bytes = outcome(1);
        return merged_ == 1 ? Btf::parse(bytes, Where{"result"})->size() : 0;
    }
    static BtfBuilder with_struct(uint32_t size)
    {
        BtfBuilder b;
        b.add_composite(btf::Kind::STRUCT, "s", size, false);
        return b;
    }
    static constexpr uint32_t many = 60000;

private:
    static long peak()
    {
        rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    }
};

/// All hashes are true. The first object declares struct d, and has a chain of structs that leads
/// to the declaration. The last object has the same chain, but defines d twice. So each struct of
/// its chain agrees with that of the first object, but cannot join it, and each attempt to join
/// walks the rest of the chain. most_failed_slots limits these attempts. The objects between the
/// first and the last make z the name with the most nodes, so that the first object joins first.
TEST_F(CostOfLies, AttemptsToJoin)
{
    auto chain = [](BtfBuilder &b, TypeId a, TypeId c) {
        TypeId next = b.add_composite(btf::Kind::STRUCT, "leaf", 16, false);
        b.add_member("a", b.next_id(), 0);
        b.add_member("b", TypeId{raw(b.next_id()) + 1}, 64);
        b.add_ref(btf::Kind::PTR, "", a);
        b.add_ref(btf::Kind::PTR, "", c);
        for (uint32_t i = 0; i < many; ++i) {
            const TypeId pointer = b.add_ref(btf::Kind::PTR, "", next);
            next = b.add_composite(btf::Kind::STRUCT, "s" + std::to_string(i), 8, false);
            b.add_member("next", pointer, 0);
        }
    };
    auto with_z = [](uint32_t size) {
        BtfBuilder b;
        b.add_composite(btf::Kind::STRUCT, "z", size, false);
        return b;
    };
    BtfBuilder first = with_z(1), last;
    const TypeId declared = first.add_fwd("d", false);
    chain(first, declared, declared);
    const TypeId small = last.add_composite(btf::Kind::STRUCT, "d", 4, false),
                 large = last.add_composite(btf::Kind::STRUCT, "d", 8, false);
    chain(last, small, large);
    std::vector<std::byte> all;
    for (const auto &object :
         {contribution(first), contribution(with_z(2)), contribution(with_z(3)),
          contribution(with_z(4)), contribution(last)})
        all.insert(all.end(), object.begin(), object.end());
    ASSERT_TRUE(write_file(dir_ / "objects", all));
    outcome(1);
    EXPECT_EQ(merged_, 1u);
}

TEST_F(CostOfLies, Prototypes)
{
    BtfBuilder first = with_struct(0);
    TypeId pointer = first.add_ref(btf::Kind::PTR, "", TypeId{1});
    first.add_func_proto(void_id);
    for (uint32_t i = 0; i < many; ++i)
        first.add_param("", pointer);
    expect_small(first, [](BtfBuilder &liar) { liar.add_func_proto(void_id); });
    expect_small(first, [](BtfBuilder &liar) {
        liar.add_ref(btf::Kind::PTR, "", TypeId{1});
        liar.add_func_proto(void_id);
    });
    EXPECT_EQ(merged_, 2u);
}

TEST_F(CostOfLies, Structs)
{
    BtfBuilder first = with_struct(0);
    TypeId pointer = first.add_ref(btf::Kind::PTR, "", TypeId{1});
    std::vector<TypeId> members;
    for (uint32_t i = 0; i < many; ++i) {
        members.push_back(
            first.add_composite(btf::Kind::STRUCT, "s" + std::to_string(i), 8, false));
        first.add_member("p", pointer, 0);
    }
    first.add_composite(btf::Kind::STRUCT, "all", many * 8, false);
    for (uint32_t i = 0; i < many; ++i)
        first.add_member("m", members[i], i * 64);
    expect_small(first, [](BtfBuilder &liar) {
        liar.add_composite(btf::Kind::STRUCT, "all", many * 8, false);
    });
    EXPECT_EQ(merged_, 1u);
}

// Here all hashes are true. The merge walks the types of an ambiguous object, and reaches a
// prototype with many parameters many times.
TEST_F(CostOfLies, Walks)
{
    BtfBuilder b = with_struct(1);
    b.add_composite(btf::Kind::STRUCT, "s", 2, false);
    const TypeId proto = b.add_func_proto(void_id);
    for (uint32_t i = 0; i < 10000; ++i)
        b.add_param("", TypeId{1 + i % 2});
    const TypeId pointer = b.add_ref(btf::Kind::PTR, "", proto);
    for (uint32_t i = 0; i < 100; ++i) {
        b.add_composite(btf::Kind::STRUCT, "many" + std::to_string(i), 800, false);
        for (uint32_t m = 0; m < 100; ++m)
            b.add_member("m", pointer, m * 64);
    }
    expect_small(contribution(b));
    EXPECT_EQ(merged_, 1u);
}

// Here all hashes are true. Both objects are ambiguous and have a struct with many callbacks. The
// walk is long, but must stay below the limit (most_references), or types would be duplicated.
TEST_F(CostOfLies, Callbacks)
{
    BtfBuilder b = with_struct(1);
    const TypeId pointer =
        b.add_ref(btf::Kind::PTR, "", b.add_composite(btf::Kind::STRUCT, "s", 2, false));
    const TypeId proto = b.add_func_proto(pointer);
    for (uint32_t i = 0; i < 8; ++i)
        b.add_param("", pointer);
    const TypeId callback =
        b.add_ref(btf::Kind::TYPEDEF, "callback_t", b.add_ref(btf::Kind::PTR, "", proto));
    b.add_composite(btf::Kind::STRUCT, "ops", 8000, false);
    for (uint32_t i = 0; i < 1000; ++i)
        b.add_member("m", callback, i * 64);
    EXPECT_EQ(merged_size(b, b), raw(b.next_id()) - 1);
}

// Here all hashes are true. One object has thousands of definitions of a name, another object has
// as many typedefs that lead to a declaration of this name. A typedef that both objects have shows
// which definition the declaration stands for.
TEST_F(CostOfLies, Definitions)
{
    constexpr uint32_t count = 10000;
    BtfBuilder definitions, typedefs;
    for (uint32_t i = 0; i < count; ++i)
        definitions.add_composite(btf::Kind::STRUCT, "s", i, false);
    definitions.add_ref(btf::Kind::TYPEDEF, "t0",
                        definitions.add_ref(btf::Kind::PTR, "", TypeId{1}));
    const TypeId pointer = typedefs.add_ref(btf::Kind::PTR, "", typedefs.add_fwd("s", false));
    for (uint32_t i = 0; i < count; ++i)
        typedefs.add_ref(btf::Kind::TYPEDEF, "t" + std::to_string(i), pointer);
    // All types of both objects except for the declaration, the pointer to it, and one of two t0.
    EXPECT_EQ(merged_size(definitions, typedefs), 2 * count + 1);
}

} // namespace

} // namespace btflink::merge::test
