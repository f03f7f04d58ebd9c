// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Strings and translated type ids in the order in which they will be asked for. They lie all over
// the inputs, so that most of the time is waiting for memory: other threads go ahead, batch by
// batch, and who asks gathers, too, where they are not far enough.
#pragma once

#include "common/result.h"
#include "merge/output/string_table.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace btflink::merge
{

class Gathered
{
public:
    struct Batch {
        std::vector<Text> texts;
        std::vector<uint32_t> ids;
    };
    /// Appends those of one item.
    using Gather = std::function<void(size_t item, Batch &out)>;

    /// Items 0 to `count` in order. What `gather` looks at must not change meanwhile.
    Gathered(size_t count, unsigned threads, Gather gather)
        : count_(count), gather_(std::move(gather)),
          batches_((count + batch_size - 1) / batch_size), ready_(batches_.size())
    {
        threads = static_cast<unsigned>(std::min<size_t>(threads, batches_.size()));
        for (unsigned t = 1; t < threads; ++t)
            others_.emplace_back([this] {
                while (gather_next())
                    continue;
            });
    }
    Gathered(const Gathered &) = delete;
    Gathered &operator=(const Gathered &) = delete;
    ~Gathered()
    {
        for (std::thread &other : others_)
            other.join();
    }

    const Text &next_text() { return next(&Batch::texts, text_); }
    uint32_t next_id() { return next(&Batch::ids, id_); }

private:
    static constexpr size_t batch_size = 512; // items
    struct Place {
        size_t batch = 0, index = 0;
        bool checked = false; // that the batch is ready
    };

    /// Gathers the first batch that nobody has taken; false: all are taken.
    bool gather_next()
    {
        size_t b = taken_++;
        if (b >= batches_.size())
            return false;
        for (size_t i = b * batch_size; i < std::min(count_, (b + 1) * batch_size); ++i)
            gather_(i, batches_[b]);
        ready_[b].store(true, std::memory_order_release);
        ready_[b].notify_one();
        return true;
    }

    void wait_for(size_t b)
    {
        // Or what was gathered has changed meanwhile: somebody writes to a mapped file.
        CHECK(b < batches_.size());
        while (!ready_[b].load(std::memory_order_acquire))
            if (!gather_next())
                ready_[b].wait(false, std::memory_order_acquire);
    }

    template <typename T>
    const T &next(std::vector<T> Batch::*list, Place &place)
    {
        for (;;) {
            if (!place.checked)
                wait_for(place.batch);
            place.checked = true;
            const std::vector<T> &batch = batches_[place.batch].*list;
            if (place.index < batch.size())
                return batch[place.index++];
            place = {place.batch + 1, 0, false};
        }
    }

    const size_t count_;
    const Gather gather_;
    std::vector<Batch> batches_;
    std::vector<std::atomic<bool>> ready_;
    std::atomic<size_t> taken_ = 0;
    Place text_, id_;
    std::vector<std::thread> others_;
};

} // namespace btflink::merge
