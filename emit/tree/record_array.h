// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An array of plain records whose number is not known beforehand. It is allocated large, filled,
// and then shrunk in place. (std::vector can only copy. Untouched memory costs nothing, but the
// next allocation should not be placed behind it.)
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace btflink::emit
{

template <typename T>
class RecordArray
{
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
    RecordArray() = default;
    RecordArray(RecordArray &&other) noexcept { swap(other); }
    RecordArray &operator=(RecordArray &&other) noexcept
    {
        RecordArray(std::move(other)).swap(*this);
        return *this;
    }
    ~RecordArray() { std::free(records_); }

    size_t size() const { return size_; }
    T &operator[](size_t i) { return records_[i]; }
    const T &operator[](size_t i) const { return records_[i]; }
    T &back() { return records_[size_ - 1]; }
    const T &back() const { return records_[size_ - 1]; }

    T &emplace_back()
    {
        if (size_ == capacity_)
            resize(capacity_ ? capacity_ * 2 : 16);
        return *new (&records_[size_++]) T();
    }
    void pop_back() { --size_; }
    void reserve(size_t count)
    {
        if (count > capacity_)
            resize(count);
    }
    void cut_to_size()
    {
        if (size_ && size_ < capacity_)
            resize(size_);
    }

private:
    void resize(size_t count)
    {
        void *moved = std::realloc(static_cast<void *>(records_), count * sizeof(T));
        if (!moved)
            throw std::bad_alloc();
        records_ = static_cast<T *>(moved);
        capacity_ = count;
    }
    void swap(RecordArray &other) noexcept
    {
        std::swap(records_, other.records_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    T *records_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
};

} // namespace btflink::emit
