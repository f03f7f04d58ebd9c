// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes random programs from a seed: objects with BTF, which share the names of types.
#include "tests/merge/random_types.h"

#include "common/object_btf/link_trailer.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace btflink::merge::test
{

namespace
{

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// A type as it is written in a program.
struct Expr {
    enum Kind : uint8_t {
        integer,
        pointer,
        constant,
        volatile_,
        array,
        typedef_,
        structure,
        enum_,
        prototype,
        unnamed, // struct or union
        tag,
        knot, // unnamed struct that may reach itself
        loop  // typedef that may reach itself
    };
    Kind kind;
    uint32_t number = 0; // index of an integer, name or tag; array: length; unnamed: 1 is a union
    bool local = false;  // for a struct: the second definition of the name, if the object has one
    std::vector<ExprPtr> parts = {}; // target; element; members; or result and parameters
};

struct Definition {
    bool is_union = false;
    bool bitfields = false; // sets the kflag: members may be bitfields
    uint32_t bits = 0;      // width of each integer member; 0: these are not bitfields
    std::vector<ExprPtr> members;
};

constexpr uint32_t wide = 0x100; // added to the number of an enum's values if it is an ENUM64

struct Program {
    std::vector<std::vector<Definition>> structs; // per name: its definitions
    std::vector<bool> union_names;                // per name: is it a union?
    std::vector<std::vector<ExprPtr>> typedefs;   // per name: its definitions
    std::vector<std::vector<uint32_t>> enums;     // per name and definition: number of values,
                                                  // | wide if it is an ENUM64
    std::vector<std::vector<ExprPtr>> knots;      // members of each
    std::vector<ExprPtr> loops;                   // target of each
};

class Random
{
public:
    explicit Random(uint64_t seed) : engine_(seed) {}
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
    bool chance(uint32_t percent) { return below(100) < percent; }

private:
    std::mt19937_64 engine_;
};

class ProgramMaker
{
public:
    ProgramMaker(Random &random, const CorpusRules &rules) : random_(random), rules_(rules) {}

    Program run()
    {
        uint32_t structs = 2 + random_.below(7);
        conflicts_ = random_.below(50);
        out_.structs.resize(structs);
        out_.typedefs.resize(random_.below(4));
        out_.enums.resize(1 + random_.below(2));
        for (auto &e : out_.enums)
            e.assign(1 + random_.chance(20), 1 + random_.below(3));
        for (auto &e : out_.enums)
            if (e.size() > 1)
                e[1] = random_.chance(50) ? e[0] + 1 : e[0] | wide;
        out_.knots.resize(rules_.knots ? random_.below(4) : 0);
        out_.loops.resize(rules_.loops ? random_.below(3) : 0);
        for (auto &t : out_.typedefs) {
            bool chain = typedefs_ && random_.chance(30);
            t.push_back(chain ? make(Expr::typedef_, random_.below(typedefs_)) : expr(3));
            if (random_.chance(20))
                t.push_back(expr(3));
            ++typedefs_; // a typedef names only earlier ones, because C has no cycles of typedefs
        }
        for (uint32_t s = 0; s < structs; ++s) {
            out_.union_names.push_back(random_.chance(15));
            Definition d;
            d.is_union = out_.union_names.back();
            d.bitfields = random_.chance(15);
            d.bits = d.bitfields ? random_.below(5) : 0;
            for (uint32_t n = random_.below(4); n; --n)
                d.members.push_back(expr(3));
            out_.structs[s].push_back(d);
            while (random_.chance(conflicts_) && out_.structs[s].size() < 4) {
                Definition other = d;
                if (other.members.empty() || random_.chance(30))
                    other.members.push_back(expr(2));
                else if (!random_.chance(30))
                    other.members[random_.below(static_cast<uint32_t>(d.members.size()))] = expr(2);
                else if (other.bitfields)
                    ++other.bits;
                else
                    other.bitfields = true;
                out_.structs[s].push_back(other);
            }
        }
        for (auto &k : out_.knots) // after all typedefs, so that knots can refer to each of them
            for (uint32_t n = 1 + random_.below(3); n; --n)
                k.push_back(make(Expr::pointer, 0, {expr(2)}));
        for (auto &l : out_.loops)
            l = make(Expr::pointer, 0, {make(Expr::prototype, 0, {expr(2), expr(2)})});
        return out_;
    }

private:
    ExprPtr make(Expr::Kind kind, uint32_t number, std::vector<ExprPtr> parts = {})
    {
        return std::make_shared<Expr>(Expr{kind, number, random_.chance(15), std::move(parts)});
    }

    /// A random type. `depth` limits how deep it nests. Named structs and knots are used only
    /// through pointers, so no struct contains itself.
    ExprPtr expr(uint32_t depth)
    {
        if (depth == 0)
            return make(Expr::integer, random_.below(3));
        if (!out_.knots.empty() && random_.chance(15))
            return make(
                Expr::pointer, 0,
                {make(Expr::knot, random_.below(static_cast<uint32_t>(out_.knots.size())))});
        if (!out_.loops.empty() && random_.chance(15))
            return make(Expr::loop, random_.below(static_cast<uint32_t>(out_.loops.size())));
        switch (random_.below(12)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return make(
                Expr::pointer, 0,
                {make(Expr::structure, random_.below(static_cast<uint32_t>(out_.structs.size())))});
        case 4:
            return make(Expr::pointer, 0, {expr(depth - 1)});
        case 5:
            return make(random_.chance(50) ? Expr::constant : Expr::volatile_, 0,
                        {make(Expr::pointer, 0, {expr(depth - 1)})});
        case 6:
            return make(Expr::array, 1 + random_.below(2), {expr(depth - 1)});
        case 7:
            if (typedefs_)
                return make(Expr::pointer, 0, {make(Expr::typedef_, random_.below(typedefs_))});
            return make(Expr::integer, 0);
        case 8:
            return make(Expr::enum_, random_.below(static_cast<uint32_t>(out_.enums.size())));
        case 9: {
            std::vector<ExprPtr> parts{expr(depth - 1)};
            for (uint32_t n = random_.below(3); n; --n)
                parts.push_back(expr(depth - 1));
            return make(Expr::pointer, 0, {make(Expr::prototype, 0, std::move(parts))});
        }
        case 10: {
            std::vector<ExprPtr> parts;
            for (uint32_t n = random_.below(10) ? 1 + random_.below(2) : 0; n; --n)
                parts.push_back(expr(depth - 1));
            return make(Expr::unnamed, random_.below(2), std::move(parts));
        }
        default:
            return random_.chance(30) ? make(Expr::pointer, 0,
                                             {make(Expr::tag, random_.below(2), {expr(depth - 1)})})
                                      : make(Expr::integer, random_.below(3));
        }
    }

    Random &random_;
    const CorpusRules &rules_;
    Program out_;
    uint32_t conflicts_ = 0; // chance in percent of each further definition of a struct
    uint32_t typedefs_ = 0;  // number of typedefs that may be used
};

/// One object's view of the program, written as BTF.
class ObjectMaker
{
public:
    ObjectMaker(const Program &program, Random &random, const CorpusRules &rules)
        : program_(program), random_(random)
    {
        // The percentage of structs and unions that this object only declares.
        uint32_t ignorance = rules.forwards ? random.below(60) : 0;
        for (const auto &s : program.structs) {
            auto count = static_cast<uint32_t>(s.size());
            View v{random.below(count), none, random.chance(ignorance)};
            if (rules.local_names && count > 1 && random.chance(10) && !v.declared)
                v.local = (v.definition + 1 + random.below(count - 1)) % count;
            structs_.push_back(v);
        }
        for (const auto &t : program.typedefs)
            typedefs_.push_back(random.below(static_cast<uint32_t>(t.size())));
        for (const auto &e : program.enums) {
            // Unlike in C, the type of a member may be an enum that is only declared. The
            // declaration has a size of 4 bytes, so an enum with a wider definition is always
            // defined.
            bool narrow =
                std::all_of(e.begin(), e.end(), [](uint32_t values) { return !(values & wide); });
            enums_.push_back(rules.enum_forwards && narrow && random.chance(10)
                                 ? none
                                 : random.below(static_cast<uint32_t>(e.size())));
        }
    }

    std::vector<std::byte> run(bool trailer)
    {
        std::vector<std::pair<bool, uint32_t>> roots;
        for (uint32_t s = 0; s < program_.structs.size(); ++s)
            roots.emplace_back(false, s);
        for (uint32_t t = 0; t < program_.typedefs.size(); ++t)
            roots.emplace_back(true, t);
        for (size_t i = roots.size(); i > 1; --i)
            std::swap(roots[i - 1], roots[random_.below(static_cast<uint32_t>(i))]);
        roots.resize(1 + random_.below(static_cast<uint32_t>(roots.size())));
        for (auto [is_typedef, n] : roots)
            visit(Expr{is_typedef ? Expr::typedef_ : Expr::structure, n, random_.chance(20), {}});
        for (const auto &write : writers_)
            write();
        std::vector<std::byte> blob = builder_.serialize(host_order);
        if (!trailer)
            return blob;
        LinkTrailer t;
        t.features = default_features();
        t.plain_end = builder_.next_id();
        t.hashes = stub_hashes(builder_.view());
        auto bytes = encode_trailer(t, blob, host_order);
        blob.resize(align_up(blob.size(), 8));
        blob.insert(blob.end(), bytes.begin(), bytes.end());
        return blob;
    }

private:
    static constexpr uint32_t none = UINT32_MAX;
    struct View {
        uint32_t definition;
        uint32_t local; // index of the second definition; `none`: there is only one
        bool declared;  // the object has only a declaration
    };

    bool is_wide(uint32_t n) const
    {
        return enums_[n] != none && (program_.enums[n][enums_[n]] & wide);
    }

    /// The name of a struct or union. A union may have the name of the struct before it.
    std::string name_of(uint32_t number) const
    {
        bool twin =
            number % 3 == 2 && program_.union_names[number] && !program_.union_names[number - 1];
        return "s" + std::to_string(twin ? number - 1 : number);
    }

    /// The size in bytes of a type that can be a member.
    uint32_t size_of(const Expr &e) const
    {
        uint32_t sum = 0;
        switch (e.kind) {
        case Expr::integer:
            return 1u << e.number;
        case Expr::enum_:
            return is_wide(e.number) ? 8 : 4;
        case Expr::array:
            return e.number * size_of(*e.parts[0]);
        case Expr::unnamed:
            for (const ExprPtr &p : e.parts)
                sum += (size_of(*p) + 7) / 8 * 8;
            return sum;
        default:
            return 8;
        }
    }

    /// Equal keys mean the same type of this object.
    std::string key(const Expr &e)
    {
        std::string k = std::to_string(e.kind) + "." + std::to_string(e.number);
        if (e.kind == Expr::structure)
            return k + (e.local && structs_[e.number].local != none ? "L" : "");
        if (e.kind == Expr::typedef_ || e.kind == Expr::enum_ || e.kind == Expr::knot ||
            e.kind == Expr::loop)
            return k;
        k += "(";
        for (const ExprPtr &p : e.parts)
            k += key(*p) + ",";
        return k + ")";
    }

    TypeId add_struct(bool is_union, const std::string &name, const std::vector<ExprPtr> &members,
                      const Definition &d, const std::vector<std::shared_ptr<uint32_t>> &ids)
    {
        uint32_t size = 0, at = 0;
        for (const ExprPtr &m : members)
            size += (size_of(*m) + 7) / 8 * 8;
        TypeId t = builder_.add_composite(is_union ? btf::Kind::UNION : btf::Kind::STRUCT, name,
                                          size, d.bitfields);
        for (size_t i = 0; i < members.size(); ++i) {
            uint32_t bits = members[i]->kind == Expr::integer ? d.bits : 0;
            builder_.add_member("m" + std::to_string(i), TypeId{*ids[i]},
                                (is_union ? 0 : at * 8) | bits << 24);
            at += (size_of(*members[i]) + 7) / 8 * 8;
        }
        return t;
    }

    /// Gives an id to a type and to each of its parts that has none yet, and for each adds to
    /// writers_ a function that writes it. Returns a pointer to the type's id. The parts get their
    /// ids first. A part that refers back to the type keeps this pointer, and its writer reads the
    /// id.
    std::shared_ptr<uint32_t> visit(const Expr &e)
    {
        std::string k = key(e);
        if (auto found = ids_.find(k); found != ids_.end())
            return found->second;
        auto id = std::make_shared<uint32_t>(0);
        ids_[k] = id;
        std::vector<std::shared_ptr<uint32_t>> parts;
        auto put = [&](auto write) {
            *id = ++last_id_;
            writers_.push_back([write, parts, id] {
                TypeId made = write(parts);
                if (raw(made) != *id)
                    std::abort();
            });
        };
        auto ref = [&builder = builder_](btf::Kind kind, const std::string &name) {
            return [&builder, kind, name](const auto &p) {
                return builder.add_ref(kind, name, TypeId{*p[0]});
            };
        };
        if (e.kind == Expr::structure) {
            const View &v = structs_[e.number];
            std::string name = name_of(e.number);
            if (v.declared) {
                bool is_union = program_.union_names[e.number];
                put([=, this](const auto &) { return builder_.add_fwd(name, is_union); });
                return id;
            }
            bool local = e.local && v.local != none;
            const Definition *d = &program_.structs[e.number][local ? v.local : v.definition];
            for (const ExprPtr &p : d->members)
                parts.push_back(visit(*p));
            put([=, this](const auto &p) {
                return add_struct(d->is_union, name, d->members, *d, p);
            });
            return id;
        }
        if (e.kind == Expr::typedef_)
            parts.push_back(visit(*program_.typedefs[e.number][typedefs_[e.number]]));
        if (e.kind == Expr::knot)
            for (const ExprPtr &p : program_.knots[e.number])
                parts.push_back(visit(*p));
        if (e.kind == Expr::loop)
            parts.push_back(visit(*program_.loops[e.number]));
        for (const ExprPtr &p : e.parts)
            parts.push_back(visit(*p));
        switch (e.kind) {
        case Expr::integer:
            put([n = e.number, this](const auto &) {
                return builder_.add_int("int" + std::to_string(n), 1u << n, 0);
            });
            break;
        case Expr::pointer:
            put(ref(btf::Kind::PTR, ""));
            break;
        case Expr::constant:
            put(ref(btf::Kind::CONST, ""));
            break;
        case Expr::volatile_:
            put(ref(btf::Kind::VOLATILE, ""));
            break;
        case Expr::typedef_:
            put(ref(btf::Kind::TYPEDEF, "t" + std::to_string(e.number)));
            break;
        case Expr::tag:
            put(ref(btf::Kind::TYPE_TAG, e.number ? "rcu" : "user"));
            break;
        case Expr::loop:
            put(ref(btf::Kind::TYPEDEF, "l" + std::to_string(e.number)));
            break;
        case Expr::knot:
            put([n = e.number, this](const auto &p) {
                return add_struct(false, "", program_.knots[n], {}, p);
            });
            break;
        case Expr::array:
            parts.push_back(visit(Expr{Expr::integer, 2, false, {}}));
            put([n = e.number, this](const auto &p) {
                return builder_.add_array(TypeId{*p[0]}, TypeId{*p[1]}, n);
            });
            break;
        case Expr::enum_:
            put([n = e.number, this](const auto &) {
                TypeId t = builder_.add_enum(is_wide(n) ? btf::Kind::ENUM64 : btf::Kind::ENUM,
                                             "e" + std::to_string(n), is_wide(n) ? 8 : 4, false);
                uint32_t values = enums_[n] == none ? 0 : program_.enums[n][enums_[n]] & ~wide;
                for (uint32_t i = 0; i < values; ++i)
                    builder_.add_enumerator("V" + std::to_string(n) + std::to_string(i), i);
                return t;
            });
            break;
        case Expr::prototype:
            put([this](const auto &p) {
                TypeId t = builder_.add_func_proto(TypeId{*p[0]});
                for (size_t i = 1; i < p.size(); ++i)
                    builder_.add_param("", TypeId{*p[i]});
                return t;
            });
            break;
        default:
            put([n = e.number, members = e.parts, this](const auto &p) {
                return add_struct(n, "", members, {}, p);
            });
        }
        return id;
    }

    const Program &program_;
    Random &random_;
    std::vector<View> structs_;
    std::vector<uint32_t> typedefs_, enums_;
    BtfBuilder builder_;
    std::map<std::string, std::shared_ptr<uint32_t>> ids_;
    std::vector<std::function<void()>> writers_;
    uint32_t last_id_ = 0;
};

} // namespace

void for_seeds(uint64_t count, const std::function<void(uint64_t)> &test)
{
    uint64_t first = 1;
    if (const char *text = std::getenv("BTFLINK_SEEDS")) {
        char *end;
        count = std::strtoull(text, &end, 10);
        if (*end == ':') {
            first = count;
            count = std::strtoull(end + 1, nullptr, 10);
        }
    }
    ASSERT_GT(count, 0U) << "BTFLINK_SEEDS chooses no seeds";
    for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        test(seed);
    }
}

Corpus random_corpus(uint64_t seed, const CorpusRules &rules)
{
    Random random(seed);
    Program program = ProgramMaker(random, rules).run();
    Corpus out;
    uint32_t count = 2 + random.below(6);
    for (uint32_t n = 0; n < count; ++n) {
        CorpusRules mine = rules;
        mine.forwards = rules.forwards && (n >= count / 2 || !rules.base_complete);
        out.objects.push_back(ObjectMaker(program, random, mine).run(rules.trailers));
    }
    return out;
}

} // namespace btflink::merge::test
