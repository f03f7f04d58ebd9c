// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds signs that split BTF was made over another base than a given one. Split BTF does not state
// its base.
//
// Method.
//   strings   An offset in the base's strings must be the beginning of a string. An offset beyond
//             them must be the beginning of a string of the split BTF. If the split BTF has
//             strings, at least one name must have such an offset. If these offsets do not fit, the
//             size of the right base's strings is guessed: the highest offset in use is taken for
//             that of the split BTF's last string. (libbpf may keep strings that no type uses; then
//             the guess is wrong.)
//   types     FUNCs must refer to FUNC_PROTOs, and DATASECs to VARs. If they do not, other first
//             ids of the split BTF are tried. If exactly one id fits, the right base is taken to
//             end before this id. (This is wrong if all types to which FUNCs and DATASECs refer are
//             in the right base.)
// A misfit of types is reported only if a first id was found, and is not the id after the given
// base's last. A misfit of offsets beyond the base's strings is reported only if a size was found,
// and is not that of the given base's strings.
// For a module with a distilled base (`.BTF.base`), the types of this base are looked up in the
// kernel's BTF instead, as the kernel does when it loads the module.
//
// Cost. Linear, with two exceptions. The search for another id costs references times types of the
// split BTF, but at most most_lookups. The look-up of a distilled type costs as many steps as the
// kernel has types of its name.
#include "common/btf/btf_check.h"

#include "common/btf/btf_check_rules.h"

#include <algorithm>
#include <optional>
#include <set>

namespace btflink
{

namespace
{

/// The search for another first id gives up after this number of look-ups of ids. In real modules,
/// each wrong first id misfits after a few look-ups.
constexpr size_t most_lookups = 10'000'000;

/// The types and strings of a split BTF blob. Type ids and string offsets are neither checked nor
/// resolved.
class UnresolvedTypes
{
public:
    UnresolvedTypes(Bytes blob, ByteOrder order)
    {
        auto field = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
        const size_t head = field(4), type_off = field(8), str_off = field(16);
        const uint32_t type_len = field(12), str_len = field(20);
        Bytes types = blob.subspan(head + type_off, type_len / 4 * 4);
        strings_ = as_text(blob.subspan(head + str_off, str_len));
        words_.resize(types.size() / 4);
        for (size_t i = 0; i < words_.size(); ++i)
            words_[i] = load<uint32_t>(types.data() + i * 4, order);
        for (size_t at = 0, size; (size = btf::checked_words(words_, at)); at += size)
            types_.push_back(&btf::type_at(words_, at));
    }

    const std::vector<const btf_type *> &types() const { return types_; }
    std::string_view strings() const { return strings_; }

private:
    std::vector<uint32_t> words_;
    std::vector<const btf_type *> types_;
    std::string_view strings_;
};

/// Bytes of strings in the right base, if the highest string offset in use is that of the split
/// BTF's last string; nothing if this is impossible.
std::optional<uint32_t> strings_of_its_base(const UnresolvedTypes &split)
{
    std::string_view own = split.strings();
    uint32_t farthest = 0;
    for (const btf_type *t : split.types())
        btf::for_each_str_off(*t, [&](uint32_t off) { farthest = std::max(farthest, off); });
    if (own.size() < 2 || own.back() != '\0')
        return std::nullopt;
    size_t last = own.find_last_of('\0', own.size() - 2) + 1; // npos + 1 is 0
    if (farthest < last)
        return std::nullopt;
    return farthest - static_cast<uint32_t>(last);
}

/// Over a base with `base` bytes of strings, does the split BTF use strings of its own, and only
/// from their beginnings?
bool strings_fit(const UnresolvedTypes &split, uint32_t base)
{
    const std::string_view own = split.strings();
    bool has_own = false, fits = true;
    for (const btf_type *t : split.types())
        btf::for_each_str_off(*t, [&](uint32_t off) {
            if (off < base)
                return;
            const size_t at = off - base;
            has_own = true;
            fits = fits && at < own.size() && (at == 0 || own[at - 1] == '\0');
        });
    return has_own && fits;
}

/// Ids that must have a certain kind: {id, kind}.
using WantedKinds = std::set<std::pair<uint32_t, btf::Kind>>;
WantedKinds wanted_kinds(const UnresolvedTypes &split)
{
    WantedKinds wanted;
    for (const btf_type *t : split.types()) {
        if (btf::kind_of(*t) == btf::Kind::FUNC)
            wanted.emplace(t->type, btf::Kind::FUNC_PROTO);
        if (btf::kind_of(*t) == btf::Kind::DATASEC)
            btf::for_each_type_id(*t, [&](uint32_t id) { wanted.emplace(id, btf::Kind::VAR); });
    }
    return wanted;
}

/// Do all ids have their wanted kinds if `base` is the base of `split`?
bool kinds_fit(const WantedKinds &wanted, const UnresolvedTypes &split, const Btf &base)
{
    const uint32_t first = raw(base.end_id());
    return std::ranges::all_of(wanted, [&](const auto &want) {
        const auto [id, kind] = want;
        if (id < first)
            return base.kind(TypeId{id}) == kind;
        return id - first < split.types().size() &&
               btf::kind_of(*split.types()[id - first]) == kind;
    });
}

/// The only possible first id of the split BTF. An id is possible if at least one wanted id is not
/// below it, and all such wanted ids then have their wanted kinds. (Wanted ids below it are not
/// checked, because the right base is not known.) Nothing if no id or several ids are possible, or
/// if the search takes too long.
std::optional<uint32_t> first_id_over_its_base(const WantedKinds &wanted,
                                               const UnresolvedTypes &split)
{
    if (wanted.empty())
        return std::nullopt;
    // Some of the wanted ids may be in the base. If any is in the split BTF, the last one is.
    auto [last, kind_of_last] = *wanted.rbegin();
    const auto &types = split.types();
    std::optional<uint32_t> found;
    size_t lookups = 0;
    for (uint32_t i = 0; i < types.size() && i < last; ++i) {
        if (btf::kind_of(*types[i]) != kind_of_last)
            continue;
        uint32_t first = last - i;
        auto fits_want = [&](const auto &want) {
            ++lookups;
            return want.first - first < types.size() &&
                   btf::kind_of(*types[want.first - first]) == want.second;
        };
        const bool fits = std::all_of(wanted.lower_bound({first, {}}), wanted.end(), fits_want);
        if (lookups > most_lookups || (fits && found))
            return std::nullopt;
        if (fits)
            found = first;
    }
    return found;
}

/// By id of the distilled base: does a struct or union of the module have a member whose type is
/// this type, perhaps behind modifiers or in an array? If so, and if the type is a struct or union,
/// the kernel's type must have the same size. (Kernels without a fix of January 2025, for example
/// 6.12.0, do not look at the last structs of the module.)
std::vector<bool> find_embedded(const Btf &distilled, const Btf &split)
{
    std::vector<bool> embedded(raw(distilled.end_id())), seen(raw(split.end_id()));
    auto mark = [&](uint32_t id) {
        for (;;) {
            if (seen[id])
                return;
            seen[id] = true;
            const btf_type &t = split.type(TypeId{id});
            if (btf::is_modifier(btf::kind_of(t)))
                id = t.type;
            else if (btf::kind_of(t) == btf::Kind::ARRAY)
                id = btf::tail_of(t)[0];
            else
                break;
            if (id == 0)
                return;
        }
        if (id < embedded.size())
            embedded[id] = true;
    };
    for (TypeId id : split.ids())
        if (btf::is_composite(split.kind(id)))
            btf::for_each_type_id(split.type(id), mark);
    return embedded;
}

/// Does the kernel consider types of this kind when it looks for the types of a distilled base?
bool may_be_found(btf::Kind kind)
{
    switch (btf::kind_info(kind).family) {
    case btf::Family::number:
    case btf::Family::composite:
    case btf::Family::enumeration:
    case btf::Family::forward:
        return true;
    case btf::Family::none:
    case btf::Family::pointer:
    case btf::Family::array:
    case btf::Family::modifier:
    case btf::Family::prototype:
    case btf::Family::link:
    case btf::Family::tag:
        break;
    }
    return false;
}

/// Does the kernel accept its type `there` for the type `wanted` of a distilled base? Both have the
/// same name. `embedded`: the sizes of structs and unions must be equal. The rules are those of
/// tools/lib/bpf/btf_relocate.c in the kernel, even where they look wrong: any FWD matches each
/// STRUCT without kflag and each UNION with kflag; for a struct or union, the kinds are not
/// compared.
bool is_found(const btf_type &wanted, const btf_type &there, bool embedded)
{
    const btf::Kind kind = btf::kind_of(wanted), its = btf::kind_of(there);
    switch (btf::kind_info(kind).family) {
    case btf::Family::forward:
        if (its == kind)
            return btf::kflag_of(there) == btf::kflag_of(wanted);
        return its == (btf::kflag_of(there) ? btf::Kind::UNION : btf::Kind::STRUCT);
    case btf::Family::number:
        return its == kind && (kind != btf::Kind::INT ||
                               btf::tail_of(there)[0] >> 24 == btf::tail_of(wanted)[0] >> 24);
    case btf::Family::enumeration:
        return kind == btf::Kind::ENUM && btf::is_enum(its);
    case btf::Family::composite:
        return !embedded || there.size == wanted.size;
    case btf::Family::none:
    case btf::Family::pointer:
    case btf::Family::array:
    case btf::Family::modifier:
    case btf::Family::prototype:
    case btf::Family::link:
    case btf::Family::tag:
        break;
    }
    return false;
}

/// Why a kernel does not find a type of a distilled base, or finds two (btf_relocate.c); "" if it
/// finds one. `embedded`: see find_embedded(); the kernel applies its rule for embedded
/// types only until it has found a match. `whole`: the kernel's types; `name`: what to call the
/// kernel.
std::string look_up_fault(const Btf &distilled, TypeId id, bool embedded, const NameIndex &whole,
                          const std::string &name)
{
    const btf_type &type = distilled.type(id);
    if (!may_be_found(btf::kind_of(type)) || btf::kind_of(type) == btf::Kind::ENUM64 ||
        distilled.name(id).empty())
        return "no kernel looks for such a type";
    const std::vector<TypeId> &there = whole.of(distilled.name(id));
    // If several structs and unions have the name, only those of the same size match.
    const bool several = std::ranges::count_if(there, [&](TypeId other) {
                             return btf::is_composite(whole.btf().kind(other));
                         }) > 1;
    std::vector<TypeId> found;
    for (TypeId other : there) {
        const btf_type &its = whole.btf().type(other);
        const btf::Kind kind = btf::kind_of(its);
        const bool compares_size = btf::is_composite(kind) ? several : kind != btf::Kind::FWD;
        if (may_be_found(kind) && !(compares_size && its.size != type.size) &&
            is_found(type, its, embedded && found.empty()))
            found.push_back(other);
    }
    if (found.size() == 1)
        return "";
    if (found.size() > 1)
        return strf("types %u and %u of %s both match, so the kernel refuses the module's BTF",
                    raw(found[0]), raw(found[1]), name.c_str());
    return there.empty()
               ? "no type has this name in " + name
               : "no type of this name in " + name + " has the right kind, size and encoding";
}

} // namespace

std::vector<Error> compare_to_base(Bytes split, const Where &where, const Btf &base,
                                   const std::string &name)
{
    std::vector<Error> out;
    if (order_of_btf(split) != base.order())
        return {{where, "has another byte order than " + name}};
    UnresolvedTypes unresolved(split, base.order());
    auto say = [&](std::string text) { out.push_back({where, std::move(text)}); };
    const uint32_t bytes = base.str_size(), first = raw(base.end_id());
    auto its_bytes = strings_of_its_base(unresolved);
    if (its_bytes && *its_bytes != bytes && !strings_fit(unresolved, bytes))
        say(strf("was made over another base, whose strings seem to have %u bytes; those of %s "
                 "have %u",
                 *its_bytes, name.c_str(), bytes));
    const WantedKinds wanted = wanted_kinds(unresolved);
    std::optional<uint32_t> its_first;
    if (!kinds_fit(wanted, unresolved, base))
        its_first = first_id_over_its_base(wanted, unresolved);
    if (its_first && *its_first != first)
        say(strf("was made over another base, which seems to have %u types; %s has %u",
                 *its_first - 1, name.c_str(), first - 1));
    size_t all = 0, inside = 0;
    for (const btf_type *t : unresolved.types())
        btf::for_each_str_off(*t, [&](uint32_t off) {
            if (!off || off >= bytes)
                return;
            ++all;
            inside += base.strings()[off - 1] != '\0';
        });
    if (inside)
        say(strf("was made over another base: of its %zu names with offsets in the strings of %s, "
                 "%zu do not begin a string",
                 all, name.c_str(), inside));
    return out;
}

std::vector<Error> look_up_distilled(const Btf &distilled, const Btf &split, const NameIndex &whole,
                                     const Where &where, const std::string &name)
{
    if (distilled.order() != whole.btf().order())
        return {{where, "has another byte order than " + name}};
    std::vector<Error> out;
    const std::vector<bool> embedded = find_embedded(distilled, split);
    for (TypeId id : distilled.ids())
        if (const std::string fault = look_up_fault(distilled, id, embedded[raw(id)], whole, name);
            !fault.empty())
            out.push_back(fail_type(distilled, id, where, fault).error);
    return out;
}

} // namespace btflink
