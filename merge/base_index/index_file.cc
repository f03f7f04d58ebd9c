// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Keeps the indexes of bases in files.
//
// Problem. `make -j` links many modules at once, each in its own process. The first processes find
// no index. None should wait or see an incomplete index.
//
// Method. Each process that finds no index makes one, and renames the complete file into place.
//
// Cost. Making an index takes as long as nine merges of modules that use it. base_index.cc states
// the cost of opening it.
#include "merge/base_index/base_index.h"

#include "common/io/file_io.h"
#include "merge/input/final_btf.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace btflink::merge
{

namespace
{

/// Does this path lead to something other than a regular file? Opening a pipe could block.
bool is_special_file(const std::string &path)
{
    struct stat info;
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// True if the file at this path is not a regular file, does not begin with the magic of an index,
/// or cannot be read. False if it is empty or does not exist.
bool must_not_be_overwritten(const std::string &path)
{
    if (is_special_file(path))
        return true;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
        return errno != ENOENT;
    uint64_t magic = 0;
    return ::read(file.get(), &magic, sizeof magic) != 0 && magic != index_layout::magic;
}

/// The index in `file`; null if there is none that matches `blob`. The file is mapped, because
/// reading it into memory would cost more than all look-ups.
std::shared_ptr<const BaseIndex> open_index(const std::string &file, Bytes blob)
{
    if (file.empty() || is_special_file(file))
        return nullptr;
    auto parts = read_parts(file);
    return parts ? BaseIndex::open(parts->bytes, blob, parts->owner) : nullptr;
}

void keep_index(const Base &base, Bytes index, const std::string &path, const std::string &file)
{
    // The index is kept only if a later run can use it: a base in a pipe can be read only once, and
    // BaseIndex::open() needs BTF that is aligned and in host byte order.
    if (must_not_be_overwritten(file) || is_special_file(path) ||
        !types_in_place(base.blob, base.btf->size()))
        return;
    // If the base has changed, the index may mix old and new bytes.
    if (!mapped_files_changed())
        (void)!write_file(file, index).has_value();
}

} // namespace

Result<Base> read_indexed_base(const std::string &path, const std::string &index)
{
    auto base = TRY(open_base(path));
    if (!base.input)
        return base;
    base.index = open_index(index, base.blob);
    base.index_was_kept = base.index != nullptr;
    if (base.index) {
        base.btf = base.index->btf();
        return base;
    }
    TRY(parse_base(base));
    auto made = TRY(make_index(*base.btf, base.blob, base.input->where));
    if (!index.empty())
        keep_index(base, made, path, index);
    base.index = BaseIndex::of(base.btf, std::move(made));
    return base;
}

} // namespace btflink::merge
