// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes BTF from text, for tests of code that works on BTF. Also: the error of a Result as text.
#pragma once

#include "tests/tools/btf_text.h"

#include <gtest/gtest.h>
#include <memory>

namespace btflink::test
{

/// A parsed blob together with its bytes.
struct TextBlob {
    std::unique_ptr<std::vector<std::byte>> bytes;
    std::shared_ptr<const Btf> btf;

    const Btf *operator->() const { return btf.get(); }
    const Btf &operator*() const { return *btf; }
};

/// Parses `text`, in the form of tests/tools/btf_text.h, as BTF that extends `base` if that is not
/// nullptr. If the text or its BTF is not well-formed, the test program aborts.
inline TextBlob from_text(std::string_view text, std::shared_ptr<const Btf> base = nullptr,
                          ByteOrder order = host_order)
{
    auto bytes = text_to_btf(text, Where{"text"}, order, base.get());
    if (!bytes) {
        ADD_FAILURE() << bytes.error().str();
        std::abort();
    }
    TextBlob blob;
    blob.bytes = std::make_unique<std::vector<std::byte>>(std::move(*bytes));
    auto btf = Btf::parse(*blob.bytes, Where{"blob"}, std::move(base));
    if (!btf) {
        ADD_FAILURE() << btf.error().str();
        std::abort();
    }
    blob.btf = std::make_shared<const Btf>(std::move(*btf));
    return blob;
}

/// The text of the error of a Result, or "" if there is none.
template <typename T>
std::string error_of(const Result<T> &result)
{
    return result ? "" : result.error().str();
}

} // namespace btflink::test
