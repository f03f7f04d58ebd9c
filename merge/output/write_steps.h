// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The steps of write_btf.cc.
#pragma once

#include "merge/dedup/partition.h"
#include "merge/link/select_functions.h"
#include "merge/link/select_variables.h"
#include "merge/output/result_types.h"

namespace btflink::merge
{

/// What earlier passes decided about the result.
struct ResultParts {
    const std::vector<Object> &objects;
    const Sources &sources;
    const Partition &partition;
    const Functions &functions;
    const Variables &variables;

    const Btf *base() const { return sources.has_base ? sources.list[0].btf : nullptr; }
};

/// The ids of plain types and VARs.
struct ResultIds {
    std::vector<ClassId> order; // classes by their lowest types
    IdVector<ClassId, uint32_t> of_class;
    std::vector<std::vector<uint32_t>> of_variable; // [object][variable]
    uint32_t end = 1;                               // the id after the last

    uint32_t of(const ResultParts &parts, uint32_t source, uint32_t type) const
    {
        const Sources &all = parts.sources;
        return type ? of_class[parts.partition.class_of(all.index(source, TypeId{type}))] : 0;
    }
    uint32_t of_object(const ResultParts &parts, uint32_t object, uint32_t type) const
    {
        return of(parts, parts.sources.of_object[object], type);
    }
};

// plain_types.cc
ResultIds number_types(const ResultParts &parts);
void write_plain_types(const ResultParts &parts, const ResultIds &ids, ResultTypes &out);

// link_part.cc

/// The prototypes and names of the selected functions, in the order in which they are written. They
/// are all over the inputs, so that collecting them is mostly waiting for memory, which another
/// thread can do.
struct FunctionWords {
    // For each function: 0 and the id of its prototype if this is a plain type; otherwise the
    // prototype's info and the ids of its types.
    std::vector<uint32_t> words;
    // For each function: the names of its prototype and parameters, unless this is a plain type,
    // and the function's own name; each with its NUL.
    std::string names;
};

FunctionWords collect_functions(const ResultParts &parts, const ResultIds &ids);
void write_link_part(const ResultParts &parts, const ResultIds &ids, const FunctionWords &functions,
                     ResultTypes &out);

} // namespace btflink::merge
