// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Lists the members of archives. No other file includes LLVM. LLVM checks its input and returns
// errors, which this file converts to our Errors.
#include "merge/input/inputs.h"

#include <llvm/Object/Archive.h>
#include <llvm/Support/MemoryBuffer.h>
#include <utility>

namespace btflink::merge
{

namespace
{

namespace object = llvm::object;

llvm::StringRef text(Bytes bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Failure llvm_fail(const Where &where, llvm::Error error)
{
    return fail(where, llvm::toString(std::move(error)));
}

/// Converts LLVM's value or error to ours.
template <typename T>
Result<T> ours(llvm::Expected<T> value, const Where &where)
{
    if (!value)
        return llvm_fail(where, value.takeError());
    return std::move(*value);
}

Result<ArchiveMember> read_member(const object::Archive::Child &child, bool is_thin,
                                  const Where &where)
{
    constexpr size_t most_name = 4096; // a damaged archive may have one long name for many members
    const auto name = TRY(ours(child.getName(), where));
    if (name.size() > most_name)
        return fail(where, strf("name of an archive member has %zu characters", name.size()));
    ArchiveMember member;
    member.name = name.str();
    if (is_thin) {
        member.path = TRY(ours(child.getFullName(), where));
        return member;
    }
    const auto data = TRY(ours(child.getBuffer(), where));
    member.bytes = std::as_bytes(std::span(data.data(), data.size()));
    return member;
}

} // namespace

bool is_archive(Bytes bytes)
{
    const std::string_view all = as_text(bytes);
    return all.starts_with("!<arch>\n") || all.starts_with("!<thin>\n");
}

Result<std::vector<ArchiveMember>> archive_members(Bytes bytes, const Where &where)
{
    const auto archive = TRY(
        ours(object::Archive::create(llvm::MemoryBufferRef(text(bytes), where.file)), where.at(0)));
    std::vector<ArchiveMember> members;
    uint64_t at = 0; // where the current member begins
    llvm::Error error = llvm::Error::success();
    for (const object::Archive::Child &child : archive->children(error)) {
        at = child.getChildOffset();
        auto member = read_member(child, archive->isThin(), where.at(at));
        if (!member) {
            llvm::consumeError(std::move(error));
            return fail(std::move(member).error());
        }
        members.push_back(std::move(*member));
    }
    if (error)
        return llvm_fail(where.at(at), std::move(error));
    return members;
}

} // namespace btflink::merge
