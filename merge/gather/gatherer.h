// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects objects that this process makes, and keeps each distinct type once.
#pragma once

#include "merge/gather/type_interner.h"

#include <deque>

namespace btflink::merge
{

class Gatherer
{
public:
    /// `where`: the file from which the objects are made.
    explicit Gatherer(Where where) : where_(std::move(where)) {}

    /// Takes one object with the contents of its section (common/FORMAT.md, 2). `number`: its
    /// position in link order. `order`: byte order of the file. `strings`: a table that has all
    /// strings of `btf`, or is to get them. Any thread may call this, in any order, but only one at
    /// a time with the same table.
    Result<void> add(uint32_t number, Btf btf, LinkTrailer trailer, ByteOrder order,
                     const std::shared_ptr<StringTable> &strings);
    const Where &where() const { return where_; }
    bool empty() const { return objects_.empty(); }

    /// All objects in link order. Call it once, after the last add(). The result has `classes`
    /// instead of hashes. The Gatherer must outlive it.
    LoadedObjects finish();

private:
    class Classes;
    struct GatheredObject {
        uint32_t number;
        Object object;
        std::unique_ptr<const InternedTypes> types;
    };

    TypeInterner &interner_of(const std::shared_ptr<StringTable> &strings);

    const Where where_;
    std::mutex lock_;                    // of the following
    std::deque<TypeInterner> interners_; // one per string table
    std::vector<GatheredObject> objects_;
};

} // namespace btflink::merge
