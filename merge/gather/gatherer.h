// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Objects that are made in this process, one after the other, and need not be kept whole: taken as
// they come, in little memory.
#pragma once

#include "merge/gather/shelf.h"

#include <deque>

namespace btflink::merge
{

class Gatherer
{
public:
    /// `where`: the file that all of them are made of.
    explicit Gatherer(Where where) : where_(std::move(where)) {}

    /// Take one object: what it would have in its section (common/FORMAT.md, 2). `btf` is not
    /// needed any more afterwards. `number`: its place in link order. `order`: of the file's bytes.
    /// From any thread, in any order.
    Result<void> add(uint32_t number, Btf btf, LinkTrailer trailer, ByteOrder order);
    const Where &where() const { return where_; }
    bool empty() const { return objects_.empty(); }

    /// All of them, in link order: once, when all are there. They have no hashes, but `classes`;
    /// the Gatherer must outlive them.
    Loaded finish();

private:
    class Classes;
    struct Gathered {
        uint32_t number;
        Object object;
        std::unique_ptr<const ShelvedTypes> types;
    };

    Shelf &take_shelf();

    const Where where_;
    std::mutex lock_; // of all that follows
    std::deque<Shelf> shelves_;
    std::vector<Shelf *> free_; // those that no thread is at
    std::vector<Gathered> objects_;
};

} // namespace btflink::merge
