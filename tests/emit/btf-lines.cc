// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prints the BTF of a file as lines that tests compare with expected ones. The lines are sorted and
// have no ids, so they do not depend on the order in which a compiler describes types. For object
// BTF, also prints the functions, true signatures, variables and ambiguous names of the link
// trailer. usage: btf-lines FILE
#include "common/io/file_io.h"
#include "common/object_btf/link_trailer.h"
#include "tests/tools/btf_file.h"

#include <algorithm>
#include <cstdio>
#include <set>

using namespace btflink;

namespace
{

class Lines
{
public:
    explicit Lines(const Btf &btf) : btf_(btf) {}

    std::string line(TypeId id) const
    {
        const btf_type &t = btf_.type(id);
        std::string head = std::string(btf_.kind_name(id));
        std::string name(btf_.name(id));
        if (!name.empty())
            head += " " + name;
        const uint32_t *tail = btf::tail_of(t);
        switch (btf::kind_of(t)) {
        case btf::Kind::INT:
            return head + strf(" size %u bits %u", t.size, tail[0] & 0xff) +
                   (tail[0] >> 24 & BTF_INT_SIGNED ? " signed" : "") +
                   (tail[0] >> 24 & BTF_INT_CHAR ? " char" : "") +
                   (tail[0] >> 24 & BTF_INT_BOOL ? " bool" : "");
        case btf::Kind::FLOAT:
            return head + strf(" size %u", t.size);
        case btf::Kind::FWD:
            return head + (btf::kflag_of(t) ? " union" : " struct");
        case btf::Kind::STRUCT:
        case btf::Kind::UNION:
            return head + strf(" size %u", t.size) + members(t);
        case btf::Kind::ENUM:
        case btf::Kind::ENUM64:
            return head + strf(" size %u", t.size) + enumerators(t);
        case btf::Kind::TYPEDEF:
            return head + " = " + ref(t.type);
        case btf::Kind::FUNC:
            return head + ": " + ref(t.type);
        case btf::Kind::VAR:
            return head + ": " + ref(t.type) + (tail[0] ? " global" : " static");
        case btf::Kind::DATASEC:
            return head + strf(" size %u", t.size) + entries(t);
        case btf::Kind::DECL_TAG:
            return head + " on " + btf_.kind_name(TypeId{t.type}) + " " +
                   std::string(btf_.name(TypeId{t.type})) +
                   (static_cast<int32_t>(tail[0]) < 0 ? "" : strf(" part %u", tail[0]));
        default:
            return std::string(btf_.kind_name(id)) + ": " + ref(raw(id));
        }
    }

    std::string function(const LinkTrailer &trailer, const LinkFunction &f) const
    {
        struct Flag {
            uint32_t bit;
            const char *name;
        };
        constexpr Flag flags[] = {
            {fn_unexpected_reg, "unexpected-register"},
            {fn_optimized_param, "optimized"},
            {fn_uncertain_loc, "uncertain"},
            {fn_reordered, "reordered"},
            {fn_signature_changed, "changed"},
            {fn_has_address, "address"},
            {fn_has_ranges, "ranges"},
            {fn_inline, "inline"},
            {fn_external, "external"},
        };
        std::string text = "FUNCTION " + std::string(btf_.str(f.name));
        if (f.func == void_id) {
            const uint32_t *words = &trailer.proto_words[f.proto];
            text += " " + ref(words[0]) + " (";
            for (uint32_t i = 0; i < words[1]; ++i)
                text += (i ? ", " : "") + param(words[2 + i * 2], words[3 + i * 2]);
            text += ")";
        }
        for (const Flag &flag : flags)
            if (f.flags & flag.bit)
                text += std::string(" ") + flag.name;
        return text + (f.pool_index ? " pool" : "");
    }

    std::string variable(const LinkVariable &v) const
    {
        return "VARIABLE " + std::string(btf_.name(v.var)) + " in " +
               std::string(btf_.str(v.section)) + strf(" size %u", v.size) +
               (v.flags & var_external ? " external" : "") + (v.flags & var_weak ? " weak" : "") +
               (v.pool_index ? " pool" : "");
    }

private:
    static constexpr int max_depth = 12; // ends circles, which malformed DWARF may have

    std::string ref(uint32_t id, int depth = max_depth) const
    {
        if (id == 0)
            return "void";
        const btf_type &t = btf_.type(TypeId{id});
        std::string name(btf_.str(t.name_off));
        const uint32_t *tail = btf::tail_of(t);
        if (depth == 0)
            return "...";
        auto target = [&] { return ref(t.type, depth - 1); };
        switch (btf::kind_of(t)) {
        case btf::Kind::PTR:
            return "*" + target();
        case btf::Kind::CONST:
            return "const " + target();
        case btf::Kind::VOLATILE:
            return "volatile " + target();
        case btf::Kind::RESTRICT:
            return "restrict " + target();
        case btf::Kind::TYPE_TAG:
            return "tag(" + name + ") " + target();
        case btf::Kind::ARRAY:
            return strf("[%u by ", tail[2]) + ref(tail[1], depth - 1) + "]" +
                   ref(tail[0], depth - 1);
        case btf::Kind::FUNC_PROTO: {
            std::string text = target() + " (";
            for (uint32_t i = 0; i < btf::vlen_of(t); ++i)
                text += (i ? ", " : "") + param(tail[2 * i], tail[2 * i + 1], depth - 1);
            return text + ")";
        }
        case btf::Kind::STRUCT:
            return "struct " + (name.empty() ? "{" + members(t, depth - 1) + " }" : name);
        case btf::Kind::UNION:
            return "union " + (name.empty() ? "{" + members(t, depth - 1) + " }" : name);
        case btf::Kind::FWD:
            return (btf::kflag_of(t) ? "union " : "struct ") + name;
        case btf::Kind::ENUM:
        case btf::Kind::ENUM64:
            return "enum " + name;
        default:
            return name;
        }
    }

    std::string param(uint32_t name, uint32_t type, int depth = max_depth) const
    {
        if (name == 0 && type == 0)
            return "...";
        return ref(type, depth) + (btf_.str(name).empty() ? "" : " " + std::string(btf_.str(name)));
    }

    std::string members(const btf_type &t, int depth = max_depth) const
    {
        std::string text;
        const uint32_t *m = btf::tail_of(t);
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i, m += 3) {
            bool kflag = btf::kflag_of(t);
            text += "; " + ref(m[1], depth) + " " + std::string(btf_.str(m[0])) +
                    strf("@%u", kflag ? m[2] & 0xffffff : m[2]);
            if (kflag && m[2] >> 24)
                text += strf(":%u", m[2] >> 24);
        }
        return text;
    }

    std::string enumerators(const btf_type &t) const
    {
        bool wide = btf::kind_of(t) == btf::Kind::ENUM64, is_signed = btf::kflag_of(t);
        std::string text = is_signed ? " signed" : "";
        const uint32_t *e = btf::tail_of(t);
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i, e += wide ? 3 : 2) {
            uint64_t value = wide ? uint64_t{e[2]} << 32 | e[1] : e[1];
            auto negative = wide ? static_cast<int64_t>(value) : static_cast<int32_t>(e[1]);
            text += "; " + std::string(btf_.str(e[0])) + "=" +
                    (is_signed ? std::to_string(negative) : std::to_string(value));
        }
        return text;
    }

    std::string entries(const btf_type &t) const
    {
        std::string text;
        const uint32_t *e = btf::tail_of(t);
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i, e += 3)
            text += "; " + std::string(btf_.name(TypeId{e[0]})) + strf("@%u+%u", e[1], e[2]);
        return text;
    }

    const Btf &btf_;
};

int bad(const Error &error)
{
    std::fprintf(stderr, "btf-lines: ERROR: %s\n", error.str().c_str());
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: btf-lines FILE\n");
        return 2;
    }
    auto file = tools::BtfFile::open(argv[1]);
    if (!file)
        return bad(file.error());
    std::multiset<std::string> lines;
    for (size_t i = 0; i < file->parts().size(); ++i) {
        const Contribution &part = file->parts()[i];
        auto btf = Btf::parse(part.blob, file->place(i));
        if (!btf)
            return bad(btf.error());
        Lines text(*btf);
        for (uint32_t id = raw(btf->first_id()); id < raw(btf->end_id()); ++id)
            lines.insert(text.line(TypeId{id}));
        if (part.trailer.empty())
            continue;
        auto trailer = decode_trailer(part.trailer, *btf, file->place(i));
        if (!trailer)
            return bad(trailer.error());
        for (const LinkFunction &f : trailer->functions)
            lines.insert(text.function(*trailer, f));
        for (const LinkFunction &f : trailer->true_signatures)
            lines.insert("TRUE " + text.function(*trailer, f));
        for (const LinkVariable &v : trailer->variables)
            lines.insert(text.variable(v));
        for (StrOff name : trailer->ambiguous)
            lines.insert("AMBIGUOUS " + std::string(btf->str(name)));
    }
    for (const std::string &line : lines)
        std::printf("%s\n", line.c_str());
    return 0;
}
