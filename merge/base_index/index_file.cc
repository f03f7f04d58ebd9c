// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. `make -j` links many modules at once, each in a process of its own. The first ones find
// no index. None should wait, nobody may see half an index, and making it many times over is waste.
//
// Method. Who makes an index holds a lock on the base (not on a file of its own, which could be
// left over). Others go on without an index. The file is renamed into its place when it is
// complete.
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

/// Is there something else than a file? It may be a pipe, and opening it may wait for ever.
bool is_no_file(const std::string &path)
{
    struct stat info;
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// Is there something at this path that is no index, not even a damaged one? That is somebody
/// else's, and stays.
bool is_foreign(const std::string &path)
{
    if (is_no_file(path))
        return true;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    uint64_t magic = 0;
    const ssize_t size = file.get() < 0 ? 0 : ::read(file.get(), &magic, sizeof magic);
    return size != 0 && magic != index_layout::magic;
}

/// The index in `file`, if it is one of this base. Reading it into memory of its own would cost
/// more than all that is done with it.
IndexState open_index(const std::string &file, Bytes blob)
{
    if (is_no_file(file))
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
    // A base from a pipe is there once. An index that cannot be kept is not worth making.
    if (is_foreign(file) || is_no_file(path) || !check_writable(file))
        return;
    const Fd lock(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return;
    if (open_index(file, base.blob).fits) // made meanwhile
        return;
    const std::vector<std::byte> bytes = make_index(*base.btf, base.blob);
    // Else the bytes that it is of may not be those that it was made from.
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
