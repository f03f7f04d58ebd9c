// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the result: one type id per final class, one offset per string.
//
// Problem. The types of final classes are scattered over thousands of blobs. The result must not
// depend on threads, and must have the order of btf__dedup.
//
// Method.
//  1. Number the plain types and VARs (plain_types.cc): classes in the order of their lowest types;
//     each object's VARs follow its classes.
//  2. Write them: for each class, a copy of its canonical type with translated ids and strings.
//  3. Write functions by name, then DATASECs (link_part.cc). A prototype, arena pointer or tag is
//     left out if an earlier type of the result or a type of the base has the same words. A FUNC
//     without a linkage tag is left out if a FUNC of the base has the same words, because a module
//     does not repeat a FUNC of the base.
//
// Strings get their offsets in the order in which steps 2 and 3 first refer to them. In step 2, a
// class that is not in the result, such as a resolved forward declaration, adds its strings, too.
//
// Cost. Proportional to the result, not to the input.
#include "merge/output/write_steps.h"

#include "common/btf/btf_builder.h"

namespace btflink::merge
{

Result<std::vector<std::byte>> write_types(const std::vector<Object> &objects,
                                           const Sources &sources, const Partition &partition,
                                           const Functions &functions, const Variables &variables,
                                           const BaseIndex *index, ByteOrder order,
                                           const Where &where)
{
    const ResultParts parts{objects, sources, partition, functions, variables};
    const ResultIds ids = number_types(parts);
    // On average a class adds two strings, and a function one.
    const size_t strings = 2 * partition.classes.size() + functions.selected.size();
    ResultTypes out{{},
                    ResultStrings(parts.base(), index, strings),
                    WordIndex(index),
                    sources.has_base,
                    ids.end};
    write_plain_types(parts, ids, out);
    write_link_part(parts, ids, out);
    if (out.strings.is_full())
        return fail(where, strf("strings are longer than %u MB", StringTable::most_bytes >> 20));
    if (out.words.size() > UINT32_MAX / 4)
        return fail(where, "the result has more BTF than one blob can hold");
    return btf_blob(out.words, out.strings.blob(), order);
}

} // namespace btflink::merge
