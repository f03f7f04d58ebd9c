// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prints BTF types as C.
#include "merge/explain/c_text.h"

#include <algorithm>
#include <cinttypes>

namespace btflink::merge
{

namespace
{

constexpr uint32_t shown_whole = 10; // up to this number, all members of a type are printed
constexpr uint32_t shown_around = 2; // of a longer type: members on either side of `place`
constexpr unsigned max_depth = 40;   // of types in types, such as pointers to pointers to ...
constexpr unsigned max_types = 1000; // in one text; an unnamed struct may reach itself many times

class CWriter
{
public:
    explicit CWriter(const Btf &btf) : btf_(btf) {}

    /// Declares `inner`, a name with the "*", "[]" and "()" around it so far, with type `ref`.
    std::string declare(uint32_t ref, std::string inner, unsigned indent,
                        std::span<const uint32_t> place, unsigned depth = 0)
    {
        if (depth > max_depth || ++written_ > max_types)
            return "..." + inner;
        TypeId id{ref};
        const btf_type *t = ref ? &btf_.type(id) : nullptr;
        auto to = [&](std::string around) {
            return declare(t->type, std::move(around), indent, place, depth + 1);
        };
        switch (btf::kind_info(btf_.kind(id)).family) {
        case btf::Family::pointer: {
            btf::Kind target = btf_.kind(unqualified(t->type));
            bool around = target == btf::Kind::ARRAY || target == btf::Kind::FUNC_PROTO;
            return to(around ? "(*" + inner + ")" : "*" + inner);
        }
        case btf::Family::modifier:
            if (btf_.kind(id) == btf::Kind::TYPEDEF)
                break;
            return qualified(qualifier(id), t->type, std::move(inner), to);
        case btf::Family::array:
            return declare(btf::tail_of(*t)[0],
                           inner + "[" + std::to_string(btf::tail_of(*t)[2]) + "]", indent, place,
                           depth + 1);
        case btf::Family::prototype:
            return to(inner + "(" + parameters(*t, indent, depth) + ")");
        case btf::Family::none:
        case btf::Family::number:
        case btf::Family::composite:
        case btf::Family::enumeration:
        case btf::Family::forward:
        case btf::Family::link:
        case btf::Family::tag:
            break;
        }
        std::string text = c_name(btf_, id);
        const btf::Kind kind = btf_.kind(id); // only structs, unions and enums have a body
        if ((btf::is_composite(kind) || btf::is_enum(kind)) && btf_.name(id).empty())
            text += " " + body(id, indent, place, depth);
        return inner.empty() || inner[0] == '[' ? text + inner : text + " " + inner;
    }

    /// "{ ... }" of a struct, union or enum.
    std::string body(TypeId id, unsigned indent, std::span<const uint32_t> place, unsigned depth)
    {
        const btf_type &t = btf_.type(id);
        uint32_t count = btf::vlen_of(t), begin = 0, end = count;
        if (count > shown_whole) {
            uint32_t at = std::min(place.empty() ? 0 : place[0], count - 1);
            begin = at > shown_around ? at - shown_around : 0;
            end = std::min(count, at + shown_around + 1);
        }
        const std::string tabs(indent + 1, '\t');
        std::string out = "{\n";
        auto skipped = [&](uint32_t n) {
            if (n)
                out += tabs + strf("/* %u more */\n", n);
        };
        skipped(begin);
        for (uint32_t i = begin; i < end; ++i) {
            std::span<const uint32_t> inner;
            if (!place.empty() && place[0] == i)
                inner = place.subspan(1);
            out += tabs + element(t, i, indent + 1, inner, depth) + "\n";
        }
        skipped(count - end);
        return out + std::string(indent, '\t') + "}";
    }

    std::string element(const btf_type &t, uint32_t i, unsigned indent,
                        std::span<const uint32_t> place, unsigned depth)
    {
        const uint32_t *tail = btf::tail_of(t);
        bool is_signed = btf::kflag_of(t); // of an enum
        if (btf::kind_of(t) == btf::Kind::ENUM) {
            std::string name = plain_text(btf_.str(tail[i * 2]));
            auto value = static_cast<int32_t>(tail[i * 2 + 1]);
            return name + (is_signed ? strf(" = %" PRId32 ",", value)
                                     : strf(" = %" PRIu32 ",", static_cast<uint32_t>(value)));
        }
        if (btf::kind_of(t) == btf::Kind::ENUM64) {
            std::string name = plain_text(btf_.str(tail[i * 3]));
            uint64_t value = uint64_t{tail[i * 3 + 2]} << 32 | tail[i * 3 + 1];
            return name + (is_signed ? strf(" = %" PRId64 ",", static_cast<int64_t>(value))
                                     : strf(" = %" PRIu64 ",", value));
        }
        const uint32_t *m = tail + i * 3;
        uint32_t bits = btf::kflag_of(t) ? m[2] >> 24 : 0;
        return declare(m[1], plain_text(btf_.str(m[0])), indent, place, depth + 1) +
               (bits ? strf(" : %u;", bits) : ";");
    }

private:
    TypeId unqualified(uint32_t ref) const
    {
        for (unsigned i = 0; i < max_depth && ref; ++i) {
            btf::Kind kind = btf_.kind(TypeId{ref});
            if (!btf::is_modifier(kind) || kind == btf::Kind::TYPEDEF)
                break;
            ref = btf_.type(TypeId{ref}).type;
        }
        return TypeId{ref};
    }

    /// "const", "volatile" or "restrict": the kind in lower case; or a type tag as an attribute.
    std::string qualifier(TypeId modifier) const
    {
        if (btf_.kind(modifier) == btf::Kind::TYPE_TAG) {
            const std::string text = plain_text(btf_.name(modifier));
            return btf::kflag_of(btf_.type(modifier)) ? "__attribute__((" + text + "))"
                                                      : "btf_type_tag(\"" + text + "\")";
        }
        std::string keyword = btf_.kind_name(modifier);
        std::ranges::transform(keyword, keyword.begin(),
                               [](char c) { return static_cast<char>(c | 0x20); });
        return keyword;
    }

    /// A pointer's qualifier follows the asterisk; all others come first.
    template <typename To>
    std::string qualified(const std::string &word, uint32_t target, std::string inner, To to)
    {
        if (btf_.kind(unqualified(target)) == btf::Kind::PTR)
            return to(inner.empty() ? word : word + " " + inner);
        return word + " " + to(std::move(inner));
    }

    std::string parameters(const btf_type &t, unsigned indent, unsigned depth)
    {
        std::string out;
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            if (written_ > max_types)
                return out + ", ...";
            const uint32_t *p = btf::tail_of(t) + i * 2;
            bool rest = i + 1 == btf::vlen_of(t) && p[0] == 0 && p[1] == 0;
            out +=
                (i ? ", " : "") +
                (rest ? "..." : declare(p[1], plain_text(btf_.str(p[0])), indent, {}, depth + 1));
        }
        return out.empty() ? "void" : out;
    }

    const Btf &btf_;
    unsigned written_ = 0; // types
};

} // namespace

std::string c_declaration(const Btf &btf, TypeId id, std::string_view name, unsigned indent,
                          std::span<const uint32_t> place)
{
    return CWriter(btf).declare(raw(id), plain_text(name), indent, place);
}

std::string c_definition(const Btf &btf, TypeId id, unsigned indent,
                         std::span<const uint32_t> place)
{
    if (btf.kind(id) == btf::Kind::TYPEDEF)
        return "typedef " +
               c_declaration(btf, TypeId{btf.type(id).type}, btf.name(id), indent, place) + ";";
    if (btf::is_declaration(btf.type(id)))
        return c_name(btf, id) + ";";
    return c_name(btf, id) + " " + CWriter(btf).body(id, indent, place, 0) + ";";
}

std::string c_element(const Btf &btf, TypeId id, uint32_t i)
{
    const btf_type &t = btf.type(id);
    return i < btf::vlen_of(t) ? CWriter(btf).element(t, i, 0, {}, 0) : "nothing";
}

std::string c_name(const Btf &btf, TypeId id)
{
    const char *word = "enum";
    switch (btf::kind_info(btf.kind(id)).family) {
    case btf::Family::none:
        return "void";
    case btf::Family::composite:
    case btf::Family::forward:
        word = btf::is_union(btf.type(id)) ? "union" : "struct";
        break;
    case btf::Family::enumeration:
        break;
    case btf::Family::number:
    case btf::Family::pointer:
    case btf::Family::array:
    case btf::Family::modifier:
    case btf::Family::prototype:
    case btf::Family::link:
    case btf::Family::tag:
        return plain_text(btf.name(id));
    }
    return btf.name(id).empty() ? word : std::string(word) + " " + plain_text(btf.name(id));
}

} // namespace btflink::merge
