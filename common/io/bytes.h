// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Bytes in either byte order, a writer of bytes, and small functions for bytes and texts.
#pragma once

#include "common/result.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink
{

using Bytes = std::span<const std::byte>;

/// Byte order of a file's target.
enum class ByteOrder : uint8_t { little, big };

constexpr ByteOrder host_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

template <std::unsigned_integral T>
constexpr T byte_swap(T value)
{
    if constexpr (sizeof(T) == 1)
        return value;
    else if constexpr (sizeof(T) == 2)
        return __builtin_bswap16(value);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bswap32(value);
    else
        return __builtin_bswap64(value);
}

/// Converts between `order` and the host's order, in either direction.
template <std::unsigned_integral T>
constexpr T in_order(T value, ByteOrder order)
{
    return order == host_order ? value : byte_swap(value);
}

template <std::unsigned_integral T>
T load(const std::byte *p, ByteOrder order)
{
    T value;
    std::memcpy(&value, p, sizeof value);
    return in_order(value, order);
}

template <std::unsigned_integral T>
void store(std::byte *p, T value, ByteOrder order)
{
    value = in_order(value, order);
    std::memcpy(p, &value, sizeof value);
}

constexpr uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

/// Appends integers in a fixed byte order.
class ByteWriter
{
public:
    explicit ByteWriter(ByteOrder order) : order_(order) {}

    /// Reserves memory for `bytes` more bytes.
    void reserve(uint64_t bytes) { bytes_.reserve(bytes_.size() + bytes); }

    template <std::unsigned_integral T>
    void put(T value)
    {
        size_t at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        store(bytes_.data() + at, value, order_);
    }
    void put_bytes(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void put_zeros(size_t count) { bytes_.resize(bytes_.size() + count); }
    void align(size_t alignment) { bytes_.resize(align_up(bytes_.size(), alignment)); }
    /// Overwrites an integer that was put at byte `offset`.
    template <std::unsigned_integral T>
    void patch(size_t offset, T value)
    {
        CHECK(offset + sizeof(T) <= bytes_.size());
        store(bytes_.data() + offset, value, order_);
    }

    size_t size() const { return bytes_.size(); }
    ByteOrder order() const { return order_; }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
    ByteOrder order_;
};

inline Bytes as_bytes(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

inline std::string_view as_text(Bytes bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The texts of the first `most` items of a list, with `between` between them. text(item) returns
/// the text of an item.
template <typename List, typename Text = std::identity>
std::string joined(const List &list, std::string_view between, Text text = {},
                   size_t most = SIZE_MAX)
{
    std::string out;
    size_t count = 0;
    for (const auto &item : list)
        if (count++ < most)
            (out += count > 1 ? between : "") += text(item);
    return out;
}

/// Looks for long strings in a string section, which must end with NUL. True: a string has at least
/// `length` characters. False: no string has twice as many. (Names may be tails of one long string,
/// so that the names of a file together can be far longer than the file.)
inline bool may_have_string(std::string_view strings, size_t length)
{
    for (size_t at = length; at + length <= strings.size(); at += length)
        if (!std::memchr(strings.data() + at, 0, length))
            return true;
    return false;
}

/// Removes the first part of `text`, up to and including `end`, or all of `text` if it has no
/// `end`. Returns the removed part without `end`.
inline std::string_view take_part(std::string_view &text, char end)
{
    const std::string_view part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

} // namespace btflink
