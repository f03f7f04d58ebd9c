// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Parses the final BTF of a file over its base, and lists its types. Each type has the same kind
// name and fields as in pahole's list. pahole lists types as it encodes them, with duplicates; this
// code lists the result, with final ids.
#include "kbuild-integration/btf-pahole/steps.h"

#include <cstdio>
#include <iterator>

namespace btflink::kbuild
{

namespace
{

std::string named(std::string_view name)
{
    return std::string(name.empty() ? "(anon)" : name);
}

std::string int_fields(const btf_type &t)
{
    const uint32_t word = btf::tail_of(t)[0], encoding = word >> 24;
    const char *text = "(none)";
    if (encoding & BTF_INT_SIGNED)
        text = "SIGNED";
    else if (encoding & BTF_INT_CHAR)
        text = "CHAR";
    else if (encoding & BTF_INT_BOOL)
        text = "BOOL";
    return strf(" size=%u nr_bits=%u encoding=%s", t.size, word & 0xff, text);
}

std::string members(const Btf &btf, const btf_type &t)
{
    std::string text = strf(" size=%u", t.size);
    const uint32_t *member = btf::tail_of(t);
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i, member += 3) {
        text += strf("\n\t%s type_id=%u", named(btf.str(member[0])).c_str(), member[1]);
        if (btf::kflag_of(t))
            text += strf(" bitfield_size=%u bits_offset=%u", member[2] >> 24, member[2] & 0xffffff);
        else
            text += strf(" bits_offset=%u", member[2]);
    }
    return text;
}

std::string enumerators(const Btf &btf, const btf_type &t)
{
    const bool wide = btf::kind_of(t) == btf::Kind::ENUM64, is_signed = btf::kflag_of(t);
    std::string text = strf(" size=%u", t.size);
    const uint32_t *value = btf::tail_of(t);
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i, value += wide ? 3 : 2) {
        uint64_t number = wide ? uint64_t{value[2]} << 32 | value[1] : value[1];
        if (is_signed && !wide)
            number = static_cast<uint64_t>(int64_t{static_cast<int32_t>(value[1])});
        text += strf("\n\t%s val=", btf.text(value[0]));
        text += is_signed ? std::to_string(static_cast<int64_t>(number)) : std::to_string(number);
    }
    return text;
}

std::string prototype(const Btf &btf, const btf_type &t)
{
    std::string text = strf(" return=%u args=(", t.type);
    const uint32_t *param = btf::tail_of(t);
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i, param += 2) {
        std::string_view name = btf.str(param[0]);
        text += i ? ", " : "";
        text += param[1] == 0 && name.empty()
                    ? "vararg"
                    : strf("%u %s", param[1], name.empty() ? "(null)" : name.data());
    }
    return text + (btf::vlen_of(t) ? ")" : "void)");
}

std::string entries(const btf_type &t)
{
    std::string text = strf(" size=%u vlen=%u", t.size, btf::vlen_of(t));
    const uint32_t *entry = btf::tail_of(t);
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i, entry += 3)
        text += strf("\n\ttype=%u offset=%u size=%u", entry[0], entry[1], entry[2]);
    return text;
}

std::string fields(const Btf &btf, const btf_type &t)
{
    const uint32_t *tail = btf::tail_of(t);
    switch (btf::kind_of(t)) {
    case btf::Kind::INT:
        return int_fields(t);
    case btf::Kind::FLOAT:
        return strf(" size=%u nr_bits=%u", t.size, t.size * 8);
    case btf::Kind::ARRAY:
        return strf(" type_id=%u index_type_id=%u nr_elems=%u", tail[0], tail[1], tail[2]);
    case btf::Kind::STRUCT:
    case btf::Kind::UNION:
        return members(btf, t);
    case btf::Kind::ENUM:
    case btf::Kind::ENUM64:
        return enumerators(btf, t);
    case btf::Kind::FWD:
        return btf::kflag_of(t) ? " union" : " struct";
    case btf::Kind::FUNC_PROTO:
        return prototype(btf, t);
    case btf::Kind::VAR:
        return strf(" type=%u linkage=%u", t.type, tail[0]);
    case btf::Kind::DATASEC:
        return entries(t);
    case btf::Kind::DECL_TAG:
        return strf(" type_id=%u component_idx=%d", t.type, static_cast<int32_t>(tail[0]));
    case btf::Kind::VOID:
    case btf::Kind::PTR:
    case btf::Kind::TYPEDEF:
    case btf::Kind::VOLATILE:
    case btf::Kind::CONST:
    case btf::Kind::RESTRICT:
    case btf::Kind::FUNC:
    case btf::Kind::TYPE_TAG:
        break;
    }
    return strf(" type_id=%u", t.type);
}

/// "[3] STRUCT point size=8\n\tx type_id=1 bits_offset=0\n".
std::string pahole_text(const Btf &btf, TypeId id)
{
    return strf("[%u] %s %s", raw(id), btf.kind_name(id), named(btf.name(id)).c_str()) +
           fields(btf, btf.type(id)) + "\n";
}

} // namespace

Result<FinalTypes> read_final_types(const std::string &path, const std::string &base)
{
    FinalTypes out;
    out.input = TRY(merge::open_input(path));
    out.blob = TRY(merge::find_final_btf(*out.input, ".BTF"));
    if (!out.blob)
        return fail(out.input->where, "has no .BTF");
    if (out.input->elf)
        out.own_base = TRY(merge::find_final_btf(*out.input, ".BTF.base"));
    std::shared_ptr<const Btf> base_btf;
    if (out.own_base) {
        auto own = TRY(Btf::parse(out.own_base->blob, out.own_base->where));
        base_btf = std::make_shared<const Btf>(std::move(own));
    } else {
        out.base = TRY(merge::read_base(base));
        base_btf = out.base.btf;
    }
    out.btf = TRY(Btf::parse(out.blob->blob, out.blob->where, std::move(base_btf)));
    return out;
}

const char *pahole_reason(merge::FunctionSkip reason)
{
    constexpr const char *texts[] = {"",
                                     "unexpected register usage for parameter",
                                     "inconsistent prototype",
                                     "uncertain parameter location",
                                     "reordered parameters",
                                     "optimized parameters",
                                     "ambiguous address"};
    static_assert(std::size(texts) == static_cast<size_t>(merge::FunctionSkip::count));
    return texts[static_cast<size_t>(reason)];
}

Result<void> list_types(const std::string &path, const std::string &base)
{
    const FinalTypes types = TRY(read_final_types(path, base));
    const Btf &btf = *types.btf;
    std::printf("File %s:\n", path.c_str());
    for (TypeId id : btf.ids())
        std::fputs(pahole_text(btf, id).c_str(), stdout);
    return {};
}

} // namespace btflink::kbuild
