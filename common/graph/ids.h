// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Ids: different types for indices of different things, so that these cannot be confused. Example:
//
//     enum class NodeId : uint32_t { none = UINT32_MAX };
//
// An IdVector can be indexed only by its own id type. At run time, an id is a plain number, and an
// IdVector is a plain vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace btflink
{

template <typename Id>
concept IsId = std::is_enum_v<Id> && std::is_same_v<std::underlying_type_t<Id>, uint32_t>;

template <IsId Id>
constexpr uint32_t raw(Id id)
{
    return static_cast<uint32_t>(id);
}

/// The ids in [begin, end).
template <IsId Id>
class IdRange
{
public:
    class Iterator
    {
    public:
        constexpr explicit Iterator(uint32_t at) : at_(at) {}
        constexpr Id operator*() const { return Id{at_}; }
        constexpr Iterator &operator++()
        {
            ++at_;
            return *this;
        }
        constexpr bool operator==(const Iterator &) const = default;

    private:
        uint32_t at_;
    };

    constexpr IdRange(Id begin, Id end) : begin_(raw(begin)), end_(raw(end)) {}
    constexpr Iterator begin() const { return Iterator(begin_); }
    constexpr Iterator end() const { return Iterator(end_); }
    constexpr uint32_t size() const { return end_ - begin_; }

private:
    uint32_t begin_, end_;
};

/// All ids below `count`.
template <IsId Id>
constexpr IdRange<Id> ids_below(size_t count)
{
    return {Id{0}, Id{static_cast<uint32_t>(count)}};
}

/// A vector indexed by id.
template <IsId Id, typename T>
class IdVector : private std::vector<T>
{
    using Base = std::vector<T>;

public:
    using Base::assign, Base::back, Base::begin, Base::clear, Base::data, Base::empty,
        Base::emplace_back, Base::end, Base::insert, Base::push_back, Base::reserve, Base::resize,
        Base::size;
    using Base::Base;
    using typename Base::value_type;

    decltype(auto) operator[](Id id) { return Base::operator[](raw(id)); }
    decltype(auto) operator[](Id id) const { return Base::operator[](raw(id)); }

    IdRange<Id> ids() const { return ids_below<Id>(size()); }
    /// The id that the next element will get.
    Id next_id() const { return Id{static_cast<uint32_t>(size())}; }
};

} // namespace btflink
