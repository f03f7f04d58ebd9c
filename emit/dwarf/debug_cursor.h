// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads values of a debug section one after the other. Reading past the end sets the flag
// overrun(), and the value is 0, nullptr or incomplete. Callers check the flag once for many
// values, for example for those of an entry: a check of every value would cost more than reading
// it.
#pragma once

#include "common/io/bytes.h"

namespace btflink::emit
{

class DebugCursor
{
public:
    DebugCursor(Bytes section, uint64_t offset, uint64_t end, ByteOrder order)
        : begin_(section.data()), p_(begin_ + std::min<uint64_t>(offset, section.size())),
          end_(begin_ + std::min<uint64_t>(end, section.size())), order_(order)
    {
        if (p_ > end_)
            p_ = end_;
    }

    bool overrun() const { return overrun_; }
    bool at_end() const { return p_ >= end_; }
    uint64_t offset() const { return static_cast<uint64_t>(p_ - begin_); }
    uint64_t left() const { return static_cast<uint64_t>(end_ - p_); }
    const std::byte *position() const { return p_; }

    void skip(uint64_t count)
    {
        if (count > left())
            stop();
        else
            p_ += count;
    }

    void seek(uint64_t offset)
    {
        if (offset > static_cast<uint64_t>(end_ - begin_))
            stop();
        else
            p_ = begin_ + offset;
    }

    template <std::unsigned_integral T>
    T read()
    {
        if (left() < sizeof(T)) {
            stop();
            return 0;
        }
        T value = load<T>(p_, order_);
        p_ += sizeof(T);
        return value;
    }

    /// 1, 2, 3, 4 or 8 bytes.
    uint64_t read_sized(unsigned size)
    {
        switch (size) {
        case 1:
            return read<uint8_t>();
        case 2:
            return read<uint16_t>();
        case 3: {
            uint32_t a = read<uint8_t>(), b = read<uint8_t>(), c = read<uint8_t>();
            return order_ == ByteOrder::little ? a | b << 8 | c << 16 : a << 16 | b << 8 | c;
        }
        case 4:
            return read<uint32_t>();
        default:
            return read<uint64_t>();
        }
    }

    uint64_t uleb()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; p_ < end_; shift += 7) {
            auto byte = static_cast<uint8_t>(*p_++);
            if (shift < 64)
                value |= uint64_t{byte & 0x7fu} << shift;
            if (!(byte & 0x80))
                return value;
        }
        stop();
        return 0;
    }

    int64_t sleb()
    {
        const std::byte *begin = p_;
        const uint64_t value = uleb();
        const int64_t bits = 7 * (p_ - begin);
        const bool negative = !overrun_ && (p_[-1] & std::byte{0x40}) != std::byte{0};
        return static_cast<int64_t>(negative && bits < 64 ? value | ~uint64_t{0} << bits : value);
    }

    /// nullptr if the string is not terminated.
    const char *string()
    {
        auto *nul = static_cast<const std::byte *>(__builtin_memchr(p_, 0, left()));
        if (!nul) {
            stop();
            return nullptr;
        }
        auto *text = reinterpret_cast<const char *>(p_);
        p_ = nul + 1;
        return text;
    }

private:
    void stop()
    {
        overrun_ = true;
        p_ = end_;
    }

    const std::byte *begin_, *p_, *end_;
    ByteOrder order_;
    bool overrun_ = false;
};

} // namespace btflink::emit
