// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads Alpine packages of version 3. Layout: doc/apk-v3.5.scd and src/adb.h of apk-tools. All
// numbers are little-endian.
//
// After a header of eight bytes, a package is a sequence of blocks. The first block has the names
// and sizes of all files, as a tree of objects. Blocks with signatures may follow, which are
// skipped. Each other block has the number of a folder in the tree, the number of a file in this
// folder, and the contents of this file.
#include "btf-kernel/package/steps.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <sys/stat.h>
#include <zlib.h>

namespace btflink::kernel
{

namespace
{

uint32_t apk_word(Bytes bytes, uint64_t at)
{
    return load<uint32_t>(bytes.data() + at, ByteOrder::little);
}

/// Unpacks deflate data without a header, which libarchive does not read.
Result<std::vector<std::byte>> inflate_all(Bytes packed, const Where &where)
{
    constexpr int no_header = -15;
    constexpr size_t step = 64 << 20;
    z_stream stream = {};
    CHECK(inflateInit2(&stream, no_header) == Z_OK);
    const std::unique_ptr<z_stream, int (*)(z_stream *)> end(&stream, inflateEnd);
    std::vector<std::byte> out;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        // zlib counts in 32 bits.
        const size_t given = std::min<size_t>(packed.size(), 1 << 30), done = out.size();
        if (done > most_of_image)
            return fail(where, "unpacks to more than " + std::to_string(most_of_image) + " bytes");
        out.resize(done + step);
        stream.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(packed.data()));
        stream.avail_in = static_cast<uInt>(given);
        stream.next_out = reinterpret_cast<Bytef *>(out.data() + done);
        stream.avail_out = step;
        status = inflate(&stream, Z_NO_FLUSH);
        packed = packed.subspan(given - stream.avail_in);
        out.resize(done + step - stream.avail_out);
        if (status != Z_OK && status != Z_STREAM_END)
            return fail(where, std::string("cannot be unpacked: ") +
                                   (status == Z_BUF_ERROR ? "it is cut off" : zError(status)));
    }
    return out;
}

/// The tree. A value is a word: four bits of type, and a small number or an offset in the block. A
/// value that is missing or has the wrong type reads as empty.
class FileTree
{
public:
    // Bytes: the lowest version that a reader must know, the tree's version, two unused ones, and
    // the root (a word).
    static constexpr size_t header = 8;

    explicit FileTree(Bytes block) : block_(block) {}

    bool empty() const { return block_.empty(); }

    bool is_known() const { return block_.size() >= header && block_[0] == std::byte{0}; }
    uint32_t root() const { return apk_word(block_, 4); }

    /// The first word of an object or array: how many words it has, including this one. 0: there is
    /// no valid object or array.
    uint32_t members(uint32_t value) const
    {
        const uint32_t at = place(value);
        if ((type(value) != array && type(value) != object) || !has(at, 4))
            return 0;
        const uint32_t count = apk_word(block_, at);
        return count && has(at, uint64_t{count} * 4) ? count : 0;
    }
    uint32_t member(uint32_t value, uint32_t number) const
    {
        return number && number < members(value)
                   ? apk_word(block_, place(value) + uint64_t{number} * 4)
                   : 0;
    }

    uint64_t number(uint32_t value) const
    {
        const uint32_t at = place(value);
        if (type(value) == small_number)
            return at;
        if (type(value) == number_32 && has(at, 4))
            return apk_word(block_, at);
        if (type(value) == number_64 && has(at, 8))
            return load<uint64_t>(block_.data() + at, ByteOrder::little);
        return 0;
    }

    /// A text or blob, which begins with its length in one, two or four bytes.
    std::string_view text(uint32_t value) const
    {
        if (type(value) < text_8 || type(value) > text_32)
            return {};
        const uint32_t at = place(value), width = 1U << (type(value) - text_8);
        if (!has(at, width))
            return {};
        uint64_t length = 0;
        for (uint32_t i = 0; i < width; ++i)
            length |= std::to_integer<uint64_t>(block_[at + i]) << (8 * i);
        if (!has(at + width, length))
            return {};
        return as_text(block_.subspan(at + width, length));
    }

private:
    enum : uint32_t {
        small_number = 1, // in the value itself
        number_32 = 2,
        number_64 = 3,
        text_8 = 8, // the length has 8 bits
        text_32 = 10,
        array = 13,
        object = 14,
    };
    static uint32_t type(uint32_t value) { return value >> 28; }
    static uint32_t place(uint32_t value) { return value & 0xfffffff; }
    bool has(uint64_t at, uint64_t size) const
    {
        return at <= block_.size() && size <= block_.size() - at;
    }

    Bytes block_;
};

// Indexes of words in the objects of a package, of a folder and of a file.
constexpr uint32_t package_folders = 2;
constexpr uint32_t folder_name = 1, folder_files = 3;
constexpr uint32_t file_name = 1, file_size = 3, file_target = 6;

class Apk3
{
public:
    Apk3(Bytes unpacked, const std::string &path, const ArchiveVisitor &visitor)
        : rest_(unpacked), path_(path), visitor_(visitor)
    {
    }

    Result<void> run()
    {
        const Bytes head = TRY(take(8));
        if (!has(head, 0, "ADB.pckg"))
            return fail(where_, "is not a package, but other data of apk");
        while (!rest_.empty())
            TRY(read_block());
        if (tree_.empty() || files_with_data_ != blocks_of_data_)
            return cut_off();
        return {};
    }

private:
    enum : uint64_t { of_tree, of_signature, of_data, large };

    Failure cut_off() const { return fail(where_, "is cut off"); }
    Failure damaged() const { return fail(where_, "is damaged"); }

    /// The next `size` bytes.
    Result<Bytes> take(uint64_t size)
    {
        if (size > rest_.size())
            return cut_off();
        const Bytes part = rest_.first(size);
        rest_ = rest_.subspan(size);
        return part;
    }

    Result<void> read_block()
    {
        constexpr uint32_t low = 0x3fffffff;
        const Bytes first = TRY(take(4));
        const uint32_t tag = apk_word(first, 0);
        uint64_t type = tag >> 30, size = tag & low, header = first.size();
        if (type == large) { // four unused bytes, then the size
            const Bytes more = TRY(take(12));
            type = tag & low;
            size = load<uint64_t>(more.data() + 4, ByteOrder::little);
            header += more.size();
        }
        if (size < header || type > of_data || (type == of_tree) != tree_.empty())
            return damaged();
        const Bytes contents = TRY(take(size - header));
        if (type == of_tree)
            TRY(read_tree(contents));
        else if (type == of_data)
            TRY(read_data(contents));
        TRY(take(-size % 8)); // padding
        return {};
    }

    Result<void> read_tree(Bytes bytes)
    {
        tree_ = FileTree(bytes);
        if (!tree_.is_known())
            return fail(where_, "has an unknown version");
        return for_each_file([&](uint32_t folder, uint32_t file) { return list(folder, file); });
    }

    /// Counts a file that has a block of data. Skips a symbolic link. If the visitor wants the path
    /// of any other file, calls visitor.refuse() for a hard link, device or pipe, and for a path
    /// with '..'; otherwise visitor.take() for an empty file.
    Result<void> list(uint32_t folder, uint32_t file)
    {
        if (has_data(file)) {
            ++files_with_data_;
            return {};
        }
        // A link or device has a target, which begins with the kind of file, as in st_mode.
        const std::string_view target = tree_.text(tree_.member(file, file_target));
        const char *flaw = nullptr;
        if (!target.empty()) {
            const Bytes bytes = std::as_bytes(std::span(target));
            const unsigned mode =
                bytes.size() < 2 ? 0 : load<uint16_t>(bytes.data(), ByteOrder::little);
            if (mode == S_IFLNK) // symbolic links are usual
                return {};
            flaw = mode == S_IFREG ? "is a hard link" : "is not a regular file";
        }
        auto wanted = wanted_member(visitor_, path_, TRY(name_of(folder, file)), 0, flaw);
        return wanted ? visitor_.take(wanted->path, {}) : Result<void>();
    }

    Result<void> read_data(Bytes bytes)
    {
        if (bytes.size() < 8)
            return damaged();
        const uint32_t folder = tree_.member(folders(), apk_word(bytes, 0));
        const uint32_t file = tree_.member(tree_.member(folder, folder_files), apk_word(bytes, 4));
        // Places must ascend, so no file has two blocks. Then run() need only compare the number of
        // blocks with the number of files that have data.
        const uint64_t place = uint64_t{apk_word(bytes, 0)} << 32 | apk_word(bytes, 4);
        bytes = bytes.subspan(8);
        if (place <= last_place_ || !has_data(file) ||
            bytes.size() != tree_.number(tree_.member(file, file_size)))
            return damaged();
        last_place_ = place;
        ++blocks_of_data_;
        auto wanted =
            wanted_member(visitor_, path_, TRY(name_of(folder, file)), bytes.size(), nullptr);
        return wanted ? visitor_.take(wanted->path, {bytes.begin(), bytes.end()}) : Result<void>();
    }

    uint32_t folders() const { return tree_.member(tree_.root(), package_folders); }

    /// False for links, devices and empty files.
    bool has_data(uint32_t file) const
    {
        return tree_.text(tree_.member(file, file_target)).empty() &&
               tree_.number(tree_.member(file, file_size));
    }

    Result<std::string> name_of(uint32_t folder, uint32_t file)
    {
        constexpr uint64_t most_of_names = 256 << 20;
        const std::string_view parent = tree_.text(tree_.member(folder, folder_name));
        const std::string_view own = tree_.text(tree_.member(file, file_name));
        const uint64_t size = parent.size() + own.size();
        if (size >= PATH_MAX)
            return damaged();
        // Millions of files can refer to the same name, and looking at a long one for each would
        // take minutes.
        names_ += size;
        if (names_ > most_of_names)
            return fail(where_, "has paths that add up to more than 256 MB");
        return std::string(parent) + "/" + std::string(own);
    }

    template <typename Visit>
    Result<void> for_each_file(Visit visit)
    {
        uint64_t count = 0;
        for (uint32_t i = 1; i < tree_.members(folders()); ++i) {
            const uint32_t folder = tree_.member(folders(), i);
            const uint32_t files = tree_.member(folder, folder_files);
            for (uint32_t j = 1; j < tree_.members(files); ++j) {
                // Folders can share a list of files, so a small tree can name many files.
                if (++count > most_members)
                    return fail(where_, "has more than 4,000,000 members");
                TRY(visit(folder, tree_.member(files, j)));
            }
        }
        return {};
    }

    Bytes rest_;
    const std::string &path_;
    Where where_{path_};
    const ArchiveVisitor &visitor_;
    FileTree tree_{{}};
    uint64_t files_with_data_ = 0, blocks_of_data_ = 0;
    uint64_t last_place_ = 0; // of the last block of data: the numbers of its folder and file
    uint64_t names_ = 0;      // bytes of all paths that were copied
};

} // namespace

bool is_apk3(Bytes file)
{
    return has(file, 0, "ADB.") || has(file, 0, "ADBd") || has(file, 0, "ADBc");
}

Result<void> walk_apk3(Bytes file, const std::string &path, const ArchiveVisitor &visitor)
{
    const Where where{path};
    unsigned packing = 0; // 1: deflate, 2: zstd
    if (has(file, 0, "ADBd")) {
        packing = 1;
        file = file.subspan(4);
    } else if (has(file, 0, "ADBc")) { // then the algorithm, and the level
        if (file.size() < 6)
            return fail(where, "is cut off");
        packing = std::to_integer<unsigned>(file[4]);
        if (packing > 2)
            return fail(where, "has an unknown compression");
        file = file.subspan(6);
    }
    std::vector<std::byte> unpacked;
    if (packing)
        file = unpacked =
            TRY(packing == 1 ? inflate_all(file, where) : unpack(file, most_of_image, where));
    return Apk3(file, path, visitor).run();
}

} // namespace btflink::kernel
