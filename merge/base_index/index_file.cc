// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. `make -j` links many modules at once, each in its own process. The first processes find
// no index. None should wait or see an incomplete index, and only one should make it.
//
// Method. The process that makes the index holds a lock on the base (a lock file could be left
// behind). The others continue without an index. The complete file is renamed into place.
//
// Cost. Making an index takes as long as two modules without one; opening it, see base_index.cc.
#include "merge/base_index/index_file.h"

#include "common/io/fd.h"
#include "common/io/file_io.h"
#include "common/io/file_parts.h"
#include "merge/base_index/base_index.h"
#include "merge/base_index/layout.h"
#include "merge/base_index/make_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace btflink::merge
{

namespace
{

/// Opening a pipe could block.
bool is_special_file(const std::string &path)
{
    struct stat info;
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// Does this path have a file without the magic of an index? It must not be overwritten.
bool is_not_an_index(const std::string &path)
{
    if (is_special_file(path))
        return true;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    uint64_t magic = 0;
    const ssize_t size = file.get() < 0 ? 0 : ::read(file.get(), &magic, sizeof magic);
    return size != 0 && magic != index_layout::magic;
}

/// Maps the file: reading it into memory would cost more than all look-ups.
IndexState open_index(const std::string &file, Bytes blob)
{
    if (is_special_file(file))
        return {};
    auto parts = read_parts(file);
    if (!parts)
        return {};
    return BaseIndex::open(parts->bytes, blob, parts->owner);
}

IndexState index_in_memory(const Base &base)
{
    auto bytes = std::make_shared<const std::vector<std::byte>>(make_index(*base.btf, base.blob));
    return BaseIndex::open(*bytes, base.blob, bytes);
}

void make_file(Base &base, const std::string &path, const std::string &file)
{
    // A pipe can be read only once, and an index that cannot be kept is not worth making.
    if (is_not_an_index(file) || is_special_file(path) || !check_writable(file))
        return;
    const Fd lock(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return;
    if (open_index(file, base.blob).fits) // made by another process
        return;
    const std::vector<std::byte> bytes = make_index(*base.btf, base.blob);
    // If the base has changed, the index may mix old and new bytes.
    if (!mapped_files_changed())
        (void)!write_file(file, bytes).has_value();
}

} // namespace

Result<Base> read_indexed_base(const std::string &path, const std::string &index)
{
    auto base = open_base(path);
    if (!base || !base->input)
        return base;
    const IndexState found = index.empty() ? IndexState() : open_index(index, base->blob);
    if (found.index) {
        base->index = found.index;
        base->btf = found.index->btf();
        return base;
    }
    TRY(parse_base(*base));
    if (!found.fits && !index.empty())
        make_file(*base, path, index);
    return base;
}

void add_index(Base &base)
{
    if (base.btf)
        base.index = index_in_memory(base).index;
}

} // namespace btflink::merge
