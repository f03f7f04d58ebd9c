// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads ahead the strings and translated type ids that the writer will need, in its order. They are
// scattered over the inputs, so reading them is mostly waiting for memory. Other threads collect
// them batch by batch; the writer collects a batch itself if nobody has taken it yet.
#pragma once

#include "common/io/trace.h"
#include "common/result.h"
#include "merge/output/string_table.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace btflink::merge
{

class ReadAhead
{
public:
    struct Batch {
        std::vector<Text> texts;
        std::vector<uint32_t> ids;
    };
    /// Appends those of one item.
    using Collect = std::function<void(size_t item, Batch &out)>;

    /// Items 0 to `count` in order. What `collect` reads must not change meanwhile.
    ReadAhead(size_t count, unsigned threads, Collect collect)
        : count_(count), collect_(std::move(collect)),
          batches_((count + batch_size - 1) / batch_size), ready_(batches_.size())
    {
        threads = static_cast<unsigned>(std::min<size_t>(threads, batches_.size()));
        for (unsigned t = 1; t < threads; ++t)
            others_.emplace_back([this] {
                trace::Phase phase("read ahead");
                while (collect_next())
                    continue;
            });
    }
    ReadAhead(const ReadAhead &) = delete;
    ReadAhead &operator=(const ReadAhead &) = delete;
    ~ReadAhead()
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

    /// Collects the first batch that nobody has taken; false: all are taken.
    bool collect_next()
    {
        size_t b = taken_++;
        if (b >= batches_.size())
            return false;
        for (size_t i = b * batch_size; i < std::min(count_, (b + 1) * batch_size); ++i)
            collect_(i, batches_[b]);
        ready_[b].store(true, std::memory_order_release);
        ready_[b].notify_one();
        return true;
    }

    void wait_for(size_t b)
    {
        // Else the inputs have changed meanwhile: somebody writes to a mapped file.
        CHECK(b < batches_.size());
        while (!ready_[b].load(std::memory_order_acquire))
            if (!collect_next())
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
    const Collect collect_;
    std::vector<Batch> batches_;
    std::vector<std::atomic<bool>> ready_;
    std::atomic<size_t> taken_ = 0;
    Place text_, id_;
    std::vector<std::thread> others_;
};

} // namespace btflink::merge
