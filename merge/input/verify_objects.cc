// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Recomputes the hashes, position samples and object ids in link trailers (--verify).
//
// Problem. The merge trusts the hashes in objects. A wrong hash (the file was changed, or another
// program made it) can replace a type by another object's type. Computing all hashes takes longer
// than the merge.
//
// Method. Parse the blob of each contribution with a trailer completely, and compute its stub
// hashes, prototype hashes and samples again. The object id reveals any other change of the bytes.
// Object ids and the stub hashes of DATASECs cover the offsets in DATASEC entries. They are not
// compared if the entries hold something else: addends on REL targets, or addresses after a final
// link that keeps `.BTF`.
#include "merge/input/load_objects.h"

#include "common/io/parallel.h"

namespace btflink::merge
{

namespace
{

/// The place of a byte of the blob or trailer.
Where place_of(const Object &o, const void *byte)
{
    auto at = static_cast<const std::byte *>(byte) - o.blob_bytes.data();
    return o.where.after(static_cast<uint64_t>(at));
}

Result<void> verify_hashes(const Object &o, const Btf &btf, bool entries_changed)
{
    const std::vector<Hash128> hashes = stub_hashes(btf, o.trailer.plain_end);
    const std::byte *stated = trailer_hashes(o.trailer_bytes, btf.order()).data();
    for (size_t i = 0; i < hashes.size(); ++i, stated += sizeof(Hash128)) {
        const Hash128 hash{load<uint64_t>(stated, ByteOrder::little),
                           load<uint64_t>(stated + 8, ByteOrder::little)};
        const auto id = TypeId{raw(btf.first_id()) + static_cast<uint32_t>(i)};
        if (entries_changed && btf.kind(id) == btf::Kind::DATASEC)
            continue;
        if (hash != hashes[i])
            return fail(place_of(o, stated),
                        strf("stored hash of type %u (%s '%s') does not match its contents",
                             raw(id), btf.kind_name(id), btf.name(id).data()));
    }
    return {};
}

Result<void> verify_prototypes(const Object &o, const Btf &btf)
{
    PrototypeHasher hasher(o, btf);
    for (const auto &list : {std::span(o.trailer.functions), std::span(o.trailer.true_signatures)})
        for (const LinkFunction &f : list)
            if (f.loose_hash != hasher.hash(f))
                return fail(
                    place_of(o, o.trailer_bytes.data()),
                    strf(
                        "stored hash of the prototype of function '%s' does not match its contents",
                        btf.str(f.name).data()));
    return {};
}

Result<void> verify_samples(const Object &o, const Btf &btf)
{
    const auto samples = trailer_samples(o.trailer_bytes).samples;
    for (uint32_t i = 0; i < samples.size(); ++i) {
        const auto id = TypeId{raw(btf.first_id()) + i * types_per_sample};
        if (id >= btf.end_id() || samples[i] != btf.word_index(id))
            return fail(place_of(o, &samples[i]),
                        strf("type %u does not begin where its position sample says", raw(id)));
    }
    return {};
}

/// Do DATASEC entries hold addends, or addresses that a linker has written? Raw BTF does not show
/// this; it counts as unchanged.
bool has_changed_entries(const Input &input, const Object &o)
{
    if (!input.elf)
        return false;
    if (!input.elf->is_relocatable() && !(o.trailer.flags & trailer_final_addresses))
        return true;
    const auto &sections = input.elf->sections;
    return std::ranges::any_of(sections, [&](const auto &s) {
        return s.head.sh_type == SHT_REL && s.head.sh_info < sections.size() &&
               sections[s.head.sh_info].name == ".BTF";
    });
}

Result<void> verify(const Input &input, const Object &o)
{
    auto btf = TRY(Btf::parse(o.blob_bytes, o.where));
    TRY(check_number_of_types(o, btf));
    const bool entries_changed = has_changed_entries(input, o);
    TRY(verify_hashes(o, btf, entries_changed));
    TRY(verify_prototypes(o, btf));
    TRY(verify_samples(o, btf));
    if (!entries_changed &&
        o.trailer.object_id != computed_object_id(o.trailer_bytes, o.blob_bytes))
        return fail(o.where, "object id does not match the contents, which were changed");
    return {};
}

} // namespace

Result<void> verify_objects(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                            unsigned threads)
{
    return parallel_try(objects.size(), threads, [&](size_t i) -> Result<void> {
        const Object &o = objects[i];
        return o.has_trailer ? verify(inputs[o.input], o) : Result<void>();
    });
}

} // namespace btflink::merge
