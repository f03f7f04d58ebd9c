// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes large and unusual sets of object BTF from an existing set, for benchmarks. All types are
// rewritten with BtfBuilder, and their hashes are computed again. Address pools, relocations and
// true signatures are dropped, so OUT can only be merged without an image.
//
//   btf-corpus clone N/D IN OUT       writes N/D times as many objects. If N/D is below 1, it
//                                     chooses objects evenly. Otherwise it copies them (the last
//                                     copy may have only some of the objects), and each copy after
//                                     the first has its own names for source files, and
//                                     for functions, variables, structs, unions, enums and typedefs
//                                     that occur in few objects. This is how a kernel grows with
//                                     more drivers, which share its core.
//   btf-corpus explode STRUCT IN OUT  writes the same objects. In every second object whose STRUCT
//                                     has a member that is neither a bitfield nor volatile, the
//                                     first such member becomes volatile.
//
// IN is a file with object BTF: an object, the result of ld -r, or only the section. OUT gets the
// contributions without an ELF file. Exit status: 0 success, 1 a file cannot be read or written, or
// IN has no valid object BTF, 2 wrong usage.
#include "common/btf/btf_builder.h"
#include "common/io/bytes.h"
#include "tests/tools/btf_file.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>

using namespace btflink;

namespace
{

using Names = std::unordered_set<std::string_view>;

/// How an object differs from its original.
struct Change {
    std::string suffix; // appended to the source file's name, and to the names in `own`
    Names own{};
    TypeId volatile_of{}; // the struct with a member that becomes volatile; void: no struct
    uint32_t member = 0;  // index of the member that becomes volatile
};

/// True if a type of this kind can have a name with which C code refers to it. Names of base types
/// and of sections do not count.
bool has_own_name(btf::Kind kind)
{
    const btf::Naming naming = btf::kind_info(kind).naming;
    return naming == btf::Naming::identifier || naming == btf::Naming::optional;
}

class Rewriter
{
public:
    Rewriter(const Btf &btf, LinkTrailer trailer, const Change &change)
        : btf_(btf), trailer_(std::move(trailer)), change_(change)
    {
    }

    std::vector<std::byte> run()
    {
        for (TypeId id : btf_.ids()) {
            if (id == trailer_.plain_end)
                add_volatile();
            copy(id);
        }
        if (trailer_.plain_end == btf_.end_id())
            add_volatile();
        rewrite_trailer();
        std::vector<std::byte> out = out_.serialize(host_order);
        out.resize(align_up(out.size(), 8));
        auto parsed = Btf::parse(out, Where{"made"});
        auto bytes = encode_trailer(trailer_, Bytes(out).first(parsed->blob_size()), host_order);
        out.insert(out.end(), bytes.begin(), bytes.end());
        return out;
    }

private:
    bool changes() const { return change_.volatile_of != void_id; }
    /// add_volatile() inserts a type, which moves the ids from plain_end on by one.
    uint32_t shifted(uint32_t id) const
    {
        return changes() && TypeId{id} >= trailer_.plain_end ? id + 1 : id;
    }

    /// If a member becomes volatile, adds the VOLATILE for the member as the last plain type.
    void add_volatile()
    {
        if (changes())
            out_.add_ref(
                btf::Kind::VOLATILE, "",
                TypeId{btf::tail_of(btf_.type(change_.volatile_of))[change_.member * 3 + 1]});
    }

    void copy(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        auto *begin = reinterpret_cast<const uint32_t *>(&t);
        words_.assign(begin, begin + btf::words_of(t));
        auto &made = *reinterpret_cast<btf_type *>(words_.data());
        bool first = has_own_name(btf::kind_of(t)); // the type's name precedes its elements' names
        btf::for_each_str_off(made, [&](uint32_t &off) {
            off = raw(std::exchange(first, false) ? renamed(StrOff{off}) : moved(StrOff{off}));
        });
        btf::for_each_type_id(made, [&](uint32_t &ref) { ref = shifted(ref); });
        if (changes() && id == change_.volatile_of)
            btf::tail_of(made)[change_.member * 3 + 1] = raw(trailer_.plain_end);
        out_.add_words(words_);
    }

    StrOff moved(StrOff off) { return out_.str(btf_.str(off)); }
    StrOff renamed(StrOff off)
    {
        std::string_view name = btf_.str(off);
        return change_.own.contains(name) ? suffixed(name) : moved(off);
    }
    StrOff suffixed(std::string_view name)
    {
        return name.empty() ? StrOff{0} : out_.str(std::string(name) + change_.suffix);
    }

    void rewrite_trailer()
    {
        trailer_.source = suffixed(btf_.str(trailer_.source));
        trailer_.true_signatures.clear();
        for (StrOff &name : trailer_.ambiguous)
            name = renamed(name);
        for (LinkVariable &v : trailer_.variables) {
            v.var = TypeId{shifted(raw(v.var))};
            v.section = moved(v.section);
        }
        std::vector<uint32_t> &words = trailer_.proto_words;
        for (size_t i = 0; i < words.size();) {
            uint32_t count = words[i + 1];
            for (i += 2; count; --count, i += 2)
                words[i] = raw(moved(StrOff{words[i]}));
        }
        for (LinkFunction &f : trailer_.functions) {
            f.name = renamed(f.name);
            f.func = TypeId{shifted(raw(f.func))};
        }
        // `made` refers to the strings of `out_`, so no string may be added from here on.
        Btf made = out_.view();
        trailer_.hashes = stub_hashes(made);
        if (changes())
            trailer_.plain_end = TypeId{raw(trailer_.plain_end) + 1};
        LooseHasher hasher(made);
        std::vector<TypeId> params;
        for (LinkFunction &f : trailer_.functions) {
            uint32_t result, count;
            const uint32_t *at;
            if (f.func != void_id) {
                const btf_type &t = made.type(TypeId{made.type(f.func).type});
                result = t.type;
                count = btf::vlen_of(t);
                at = btf::tail_of(t);
            } else {
                result = words[f.proto];
                count = words[f.proto + 1];
                at = &words[f.proto] + 2;
            }
            params.clear();
            for (uint32_t i = 0; i < count; ++i)
                params.push_back(TypeId{at[i * 2 + 1]});
            f.loose_hash = hasher.prototype(TypeId{result}, params);
        }
    }

    const Btf &btf_;
    LinkTrailer trailer_;
    const Change &change_;
    BtfBuilder out_;
    std::vector<uint32_t> words_;
};

/// Finds the first struct `name` with a member that is neither a bitfield nor volatile, and the
/// first such member. Returns a Change without a struct if there is none.
Change volatile_in(const Btf &btf, std::string_view name)
{
    for (TypeId id : btf.ids()) {
        if (btf.kind(id) != btf::Kind::STRUCT || btf.name(id) != name)
            continue;
        const btf_type &t = btf.type(id);
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            TypeId member{btf::tail_of(t)[i * 3 + 1]};
            bool bitfield = btf::kflag_of(t) && btf::tail_of(t)[i * 3 + 2] >> 24;
            if (!bitfield && btf.kind(member) != btf::Kind::VOLATILE)
                return {"", {}, id, i};
        }
    }
    return {};
}

class Corpus
{
public:
    Corpus(const tools::BtfFile &in, std::FILE *out) : in_(in), out_(out) {}

    Result<void> clone(unsigned long n, unsigned long d)
    {
        size_t count = in_.parts().size();
        Change change;
        for (unsigned long copy = 0; copy * d < n; ++copy) {
            unsigned long share = std::min(d, n - copy * d); // the copy has share/d of the objects
            if (copy == 1)
                TRY(find_own(change.own));
            if (copy)
                change.suffix = "_" + std::to_string(copy);
            for (size_t i = 0; i < count; ++i)
                if ((i + 1) * share / d != i * share / d)
                    TRY(write(i, change));
        }
        return {};
    }

    Result<void> explode(const std::string &name)
    {
        size_t found = 0;
        for (size_t i = 0; i < in_.parts().size(); ++i) {
            auto btf = TRY(in_.parse(i));
            Change change = volatile_in(btf, name);
            if (change.volatile_of != void_id && ++found % 2)
                change = {};
            TRY(write(i, change));
        }
        std::printf("%zu of %zu objects have a struct %s with a member that can become volatile; "
                    "%zu were changed\n",
                    found, in_.parts().size(), name.c_str(), found / 2);
        return {};
    }

private:
    struct Object {
        Btf btf;
        LinkTrailer trailer;
    };

    Result<Object> object(size_t i) const
    {
        auto btf = TRY(in_.parse(i));
        if (in_.parts()[i].trailer.empty())
            return fail(in_.place(i), "has no link trailer");
        auto trailer =
            TRY(decode_trailer(in_.parts()[i].trailer, btf, in_.trailer_place(i), false));
        return Object{std::move(btf), std::move(trailer)};
    }

    /// Finds the names that each copy after the first changes: those that few objects define or
    /// declare (at most one in a hundred, or a single one), except names of types that a type with
    /// an unchanged name reaches. So all types with unchanged names are equal in all copies.
    Result<void> find_own(Names &own) const
    {
        struct Seen {
            size_t objects = 0, last = 0; // last: the last object with the name, counted from 1
        };
        std::unordered_map<std::string_view, Seen> seen;
        for (size_t i = 0; i < in_.parts().size(); ++i) {
            auto from = TRY(object(i));
            auto count = [&](std::string_view name) {
                Seen &s = seen[name];
                s.objects += std::exchange(s.last, i + 1) != i + 1;
            };
            const Btf &btf = from.btf;
            for (TypeId id : btf.ids())
                if (has_own_name(btf.kind(id)))
                    count(btf.name(id));
            for (const LinkFunction &f : from.trailer.functions)
                count(btf.str(f.name));
        }
        for (const auto &[name, s] : seen)
            if (!name.empty() && s.objects <= std::max<size_t>(1, in_.parts().size() / 100))
                own.insert(name);
        for (size_t before = 0; before != own.size();) {
            before = own.size();
            for (size_t i = 0; i < in_.parts().size(); ++i) {
                auto btf = TRY(in_.parse(i));
                remove_shared(btf, own);
            }
        }
        return {};
    }

    /// Removes from `own` the names of all types that a named type outside `own` reaches in this
    /// object.
    static void remove_shared(const Btf &btf, Names &own)
    {
        std::vector<char> seen(raw(btf.end_id()));
        std::vector<TypeId> open;
        auto visit = [&](TypeId id) {
            if (id == void_id || std::exchange(seen[raw(id)], 1))
                return;
            own.erase(btf.name(id));
            open.push_back(id);
        };
        for (TypeId id : btf.ids())
            if (!btf.name(id).empty() && has_own_name(btf.kind(id)) && !own.contains(btf.name(id)))
                visit(id);
        while (!open.empty()) {
            TypeId id = open.back();
            open.pop_back();
            btf::for_each_type_id(btf.type(id), [&](uint32_t ref) { visit(TypeId{ref}); });
        }
    }

    Result<void> write(size_t i, const Change &change)
    {
        auto from = TRY(object(i));
        auto bytes = Rewriter(from.btf, std::move(from.trailer), change).run();
        if (std::fwrite(bytes.data(), 1, bytes.size(), out_) != bytes.size())
            return fail({}, std::string("cannot write: ") + std::strerror(errno));
        return {};
    }

    const tools::BtfFile &in_;
    std::FILE *out_;
};

} // namespace

int main(int argc, char **argv)
{
    std::string_view what = argc == 5 ? argv[1] : "";
    unsigned long n = 0, d = 0;
    char end;
    if (!((what == "clone" && std::sscanf(argv[2], "%lu/%lu%c", &n, &d, &end) == 2 && n && d) ||
          what == "explode")) {
        std::fputs("usage: btf-corpus clone N/D IN OUT\n       btf-corpus explode STRUCT IN OUT\n",
                   stderr);
        return 2;
    }
    auto error = [](const std::string &text) {
        std::fprintf(stderr, "btf-corpus: ERROR: %s\n", text.c_str());
        return 1;
    };
    auto in = tools::BtfFile::open(argv[3]);
    if (!in)
        return error(in.error().str());
    std::FILE *file = std::fopen(argv[4], "wb");
    if (!file)
        return error(std::string(argv[4]) + ": " + std::strerror(errno));
    Corpus corpus(*in, file);
    auto done = what == "clone" ? corpus.clone(n, d) : corpus.explode(argv[2]);
    if (!done)
        return error(done.error().str());
    return std::fclose(file) == 0 ? 0 : error(std::string(argv[4]) + ": " + std::strerror(errno));
}
