// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects the writer's input in the writer's order: strings, and types with the ids of the result.
// These are scattered over the inputs, so reading them is mostly waiting for memory. Other threads
// collect batches ahead of the writer; the writer collects a batch itself if no thread has taken
// it.
#pragma once

#include "common/io/trace.h"
#include "common/result.h"
#include "merge/output/string_table.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace btflink::merge
{

class ReadAhead
{
public:
    /// The words and strings of several items.
    struct Batch {
        struct Counts {
            uint32_t words, texts;
            uint32_t note;
        };
        std::vector<Counts> types;
        std::vector<uint32_t> words; // of all types
        std::vector<Text> texts;
    };
    struct Type {
        std::span<const uint32_t> words; // names are still those of the input
        std::span<const Text> texts;     // non-empty names, in the order of the words
        uint32_t note = 0;               // as collect() set it, for the writer
    };
    /// Appends the strings and types of one item.
    using Collect = std::function<void(size_t item, Batch &out)>;

    /// Items 0 to `count` in order. The data that `collect` reads must not change meanwhile.
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

    /// The next item.
    Type next()
    {
        while (!checked_ || type_ == batches_[batch_].types.size())
            go_on();
        const Batch &batch = batches_[batch_];
        const Batch::Counts &counts = batch.types[type_++];
        Type type{std::span(batch.words).subspan(words_, counts.words),
                  std::span(batch.texts).subspan(texts_, counts.texts), counts.note};
        words_ += counts.words;
        texts_ += counts.texts;
        return type;
    }

private:
    static constexpr size_t batch_size = 512; // items

    /// Collects the first batch that no thread has taken; returns false if all are taken.
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
        // If this fails, a mapped input file has changed.
        CHECK(b < batches_.size());
        while (!ready_[b].load(std::memory_order_acquire))
            if (!collect_next())
                ready_[b].wait(false, std::memory_order_acquire);
    }

    /// Moves to the first or next batch, and waits for it.
    void go_on()
    {
        if (checked_) {
            ++batch_;
            type_ = words_ = texts_ = 0;
        }
        wait_for(batch_);
        checked_ = true;
    }

    const size_t count_;
    const Collect collect_;
    std::vector<Batch> batches_;
    std::vector<std::atomic<bool>> ready_;
    std::atomic<size_t> taken_ = 0;
    size_t batch_ = 0, type_ = 0, words_ = 0, texts_ = 0; // of the next
    bool checked_ = false;                                // batch_ is ready
    std::vector<std::thread> others_;
};

} // namespace btflink::merge
