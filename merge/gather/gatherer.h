// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects objects that this process makes one after the other, and keeps each distinct type once.
#pragma once

#include "merge/gather/type_interner.h"

#include <deque>

namespace btflink::merge
{

class Gatherer
{
public:
    /// `where`: the file that the objects are made from.
    explicit Gatherer(Where where) : where_(std::move(where)) {}

    /// Takes one object: what its section would contain (common/FORMAT.md, 2). `number`: its place
    /// in link order. `order`: of the file's bytes. Any thread may call this, in any order.
    Result<void> add(uint32_t number, Btf btf, LinkTrailer trailer, ByteOrder order);
    const Where &where() const { return where_; }
    bool empty() const { return objects_.empty(); }

    /// All objects in link order, to be called once after the last add(). Instead of hashes the
    /// result has `classes`. The Gatherer must outlive it.
    LoadedObjects finish();

private:
    class Classes;
    struct Gathered {
        uint32_t number;
        Object object;
        std::unique_ptr<const InternedTypes> types;
    };

    TypeInterner &take_interner();

    const Where where_;
    std::mutex lock_; // of the following
    std::deque<TypeInterner> interners_;
    std::vector<TypeInterner *> free_; // not in use by a thread
    std::vector<Gathered> objects_;
};

} // namespace btflink::merge
