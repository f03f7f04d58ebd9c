// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Layout: doc/apk-v3.5.scd and src/adb.h of apk-tools. All numbers are little-endian.
//
// A package is a sequence of blocks. The first block has the names and sizes of all files, as a
// tree of objects. The last blocks have the contents of files, each with the numbers of its folder
// and file in the tree.
#include "btf-kernel/package/archive.h"
#include "btf-kernel/package/magic.h"

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

namespace btflink::kernel
{

namespace
{

uint32_t apk_word(Bytes bytes, uint64_t at)
{
    return load<uint32_t>(bytes.data() + at, ByteOrder::little);
}

enum class Packing : uint8_t { none, deflate, zstd };

/// The bytes of a package, unpacked as they are read. libarchive does not read bare deflate data.
class Unpacked
{
public:
    /// `packed` must outlive this.
    Unpacked(Bytes packed, Packing packing, Where where) : packed_(packed), where_(std::move(where))
    {
        constexpr int no_header = -15;
        if (packing == Packing::zstd) {
            zstd_.reset(ZSTD_createDStream(), ZSTD_freeDStream);
            CHECK(zstd_ != nullptr);
        } else if (packing == Packing::deflate) {
            deflate_.reset(new z_stream(), [](z_stream *stream) {
                inflateEnd(stream);
                delete stream;
            });
            CHECK(inflateInit2(deflate_.get(), no_header) == Z_OK);
        }
    }

    /// Fills `out`. Fewer bytes mean the end. Error: the package is damaged or cut off.
    Result<size_t> read(std::span<std::byte> out)
    {
        size_t done = 0;
        while (!end_ && done < out.size()) {
            const std::span<std::byte> room = out.subspan(done);
            done += TRY(zstd_ ? read_zstd(room) : deflate_ ? read_deflate(room) : copy(room));
        }
        return done;
    }

private:
    Result<size_t> copy(std::span<std::byte> out)
    {
        const size_t size = std::min(out.size(), packed_.size());
        std::copy_n(packed_.begin(), size, out.begin());
        packed_ = packed_.subspan(size);
        end_ = packed_.empty();
        return size;
    }

    Result<size_t> read_zstd(std::span<std::byte> out)
    {
        end_ = whole_ && packed_.empty();
        if (end_)
            return 0;
        ZSTD_inBuffer in{packed_.data(), packed_.size(), 0};
        ZSTD_outBuffer to{out.data(), out.size(), 0};
        const size_t left = ZSTD_decompressStream(zstd_.get(), &to, &in);
        if (ZSTD_isError(left))
            return fail(where_, std::string("cannot be unpacked: ") + ZSTD_getErrorName(left));
        packed_ = packed_.subspan(in.pos);
        whole_ = left == 0;
        // Output can remain without new input, but only if `out` was filled.
        if (!whole_ && packed_.empty() && to.pos < to.size)
            return fail(where_, "is cut off");
        return to.pos;
    }

    Result<size_t> read_deflate(std::span<std::byte> out)
    {
        constexpr size_t most = 1 << 30; // zlib counts in 32 bits
        const size_t room = std::min(out.size(), most), given = std::min(packed_.size(), most);
        deflate_->next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(packed_.data()));
        deflate_->avail_in = static_cast<uInt>(given);
        deflate_->next_out = reinterpret_cast<Bytef *>(out.data());
        deflate_->avail_out = static_cast<uInt>(room);
        const int status = inflate(deflate_.get(), Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return fail(where_, std::string("cannot be unpacked: ") +
                                    (deflate_->msg ? deflate_->msg : "unknown reason"));
        packed_ = packed_.subspan(given - deflate_->avail_in);
        end_ = status == Z_STREAM_END;
        if (!end_ && packed_.empty() && deflate_->avail_out)
            return fail(where_, "is cut off");
        return room - deflate_->avail_out;
    }

    Bytes packed_;
    Where where_;
    std::shared_ptr<ZSTD_DStream> zstd_;
    std::shared_ptr<z_stream> deflate_;
    bool whole_ = true; // zstd: a frame has ended
    bool end_ = false;
};

/// The tree. A value is a word: four bits of type, and a small number or an offset in the block. A
/// value that is missing or has the wrong type reads as empty.
class FileTree
{
public:
    static constexpr size_t header = 8; // versions, then the root
    static constexpr uint64_t most = 1 << 28;

    explicit FileTree(Bytes block) : block_(block) {}

    bool is_known() const { return block_.size() >= header && block_[0] == std::byte{0}; }
    uint32_t root() const { return apk_word(block_, 4); }

    /// The words of an object or array. The first word is their number, including itself.
    uint32_t members(uint32_t value) const
    {
        const uint32_t at = place(value);
        if ((type(value) != 0xd && type(value) != 0xe) || !has(at, 4))
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
        if (type(value) == 1)
            return at;
        if (type(value) == 2 && has(at, 4))
            return apk_word(block_, at);
        if (type(value) == 3 && has(at, 8))
            return load<uint64_t>(block_.data() + at, ByteOrder::little);
        return 0;
    }

    /// A text or blob, which begins with its length in one, two or four bytes.
    std::string_view text(uint32_t value) const
    {
        if (type(value) < 8 || type(value) > 10)
            return {};
        const uint32_t at = place(value), width = 1U << (type(value) - 8);
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
    static uint32_t type(uint32_t value) { return value >> 28; }
    static uint32_t place(uint32_t value) { return value & 0xfffffff; }
    bool has(uint64_t at, uint64_t size) const
    {
        return at <= block_.size() && size <= block_.size() - at;
    }

    Bytes block_;
};

// Numbers of members.
constexpr uint32_t package_folders = 2;
constexpr uint32_t folder_name = 1, folder_files = 3;
constexpr uint32_t file_name = 1, file_size = 3, file_target = 6;

class Apk3
{
public:
    Apk3(Unpacked unpacked, const std::string &path, const ArchiveVisitor &visitor)
        : in_(std::move(unpacked)), path_(path), visitor_(visitor)
    {
    }

    Result<void> run()
    {
        std::array<std::byte, 8> head;
        TRY(fill(head));
        if (!has(head, 0, "ADB.pckg"))
            return fail(where_, "is not a package, but other data of apk");
        for (;;) {
            auto block = TRY(next_block());
            if (!block)
                break;
            TRY(read_block(*block));
        }
        if (tree_bytes_.empty() || files_with_data_ != blocks_of_data_)
            return cut_off();
        return {};
    }

private:
    struct Block {
        uint64_t type;
        uint64_t size; // of the contents
        uint64_t padding;
    };
    static constexpr uint64_t of_tree = 0, of_data = 2; // 1: a signature

    Failure cut_off() const { return fail(where_, "is cut off"); }
    Failure damaged() const { return fail(where_, "is damaged"); }

    /// Empty: the package ends here.
    Result<std::optional<Block>> next_block()
    {
        std::array<std::byte, 4> first;
        const size_t got = TRY(in_.read(first));
        if (!got)
            return std::optional<Block>();
        if (got < first.size())
            return cut_off();
        constexpr uint32_t low = 0x3fffffff;
        const uint32_t tag = apk_word(first, 0);
        Block block{tag >> 30, tag & low, 0};
        uint64_t header = first.size();
        if (block.type == 3) { // a large block: four unused bytes, then the size
            std::array<std::byte, 12> more;
            TRY(fill(more));
            block.type = tag & low;
            block.size = load<uint64_t>(more.data() + 4, ByteOrder::little);
            header += more.size();
        }
        if (block.size < header || block.size > INT64_MAX)
            return damaged();
        block.padding = -block.size % 8;
        block.size -= header;
        return std::optional<Block>(block);
    }

    Result<void> read_block(const Block &block)
    {
        const bool first = tree_bytes_.empty();
        if (block.type > of_data || (block.type == of_tree) != first)
            return damaged();
        if (block.type == of_tree)
            TRY(read_tree(block.size));
        else if (block.type == of_data)
            TRY(read_data(block.size));
        else
            TRY(skip(block.size));
        return skip(block.padding);
    }

    Result<void> read_tree(uint64_t size)
    {
        if (size > FileTree::most)
            return damaged();
        tree_bytes_ = TRY(take(size));
        if (!tree().is_known())
            return fail(where_, "has a version that is not known");
        return for_each_file([&](uint32_t folder, uint32_t file) { return list(folder, file); });
    }

    /// Files without a block of data: links and empty files.
    Result<void> list(uint32_t folder, uint32_t file)
    {
        if (has_data(file)) {
            ++files_with_data_;
            return {};
        }
        const std::string_view target = tree().text(tree().member(file, file_target));
        const char *flaw = nullptr;
        if (!target.empty()) {
            const Bytes bytes = std::as_bytes(std::span(target));
            const unsigned mode =
                bytes.size() < 2 ? 0 : load<uint16_t>(bytes.data(), ByteOrder::little);
            flaw = mode == S_IFLNK   ? "is a symbolic link"
                   : mode == S_IFREG ? "is a hard link"
                                     : "is not a regular file";
            if (mode == S_IFLNK) // symbolic links are usual
                return {};
        }
        auto wanted = wanted_member(visitor_, path_, TRY(name_of(folder, file)), 0, flaw);
        return wanted ? visitor_.take(wanted->path, {}) : Result<void>();
    }

    Result<void> read_data(uint64_t size)
    {
        std::array<std::byte, 8> head;
        if (size < head.size())
            return damaged();
        TRY(fill(head));
        size -= head.size();
        const uint32_t folder = tree().member(folders(), apk_word(head, 0));
        const uint32_t file = tree().member(tree().member(folder, folder_files), apk_word(head, 4));
        // Ascending, so no file can have two blocks while another has none.
        const uint64_t place = uint64_t{apk_word(head, 0)} << 32 | apk_word(head, 4);
        if (place <= last_place_ || !has_data(file) ||
            size != tree().number(tree().member(file, file_size)))
            return damaged();
        last_place_ = place;
        ++blocks_of_data_;
        auto wanted = wanted_member(visitor_, path_, TRY(name_of(folder, file)), size, nullptr);
        if (!wanted)
            return skip(size);
        return visitor_.take(wanted->path, TRY(take(size)));
    }

    FileTree tree() const { return FileTree(tree_bytes_); }
    uint32_t folders() const { return tree().member(tree().root(), package_folders); }

    /// False for links and empty files.
    bool has_data(uint32_t file) const
    {
        return tree().text(tree().member(file, file_target)).empty() &&
               tree().number(tree().member(file, file_size));
    }

    Result<std::string> name_of(uint32_t folder, uint32_t file) const
    {
        const std::string_view parent = tree().text(tree().member(folder, folder_name));
        const std::string_view own = tree().text(tree().member(file, file_name));
        // Millions of files can share one name, so a long one would take minutes.
        if (parent.size() + own.size() >= PATH_MAX)
            return damaged();
        return std::string(parent) + "/" + std::string(own);
    }

    template <typename Visit>
    Result<void> for_each_file(Visit visit)
    {
        uint64_t count = 0;
        for (uint32_t i = 1; i < tree().members(folders()); ++i) {
            const uint32_t folder = tree().member(folders(), i);
            const uint32_t files = tree().member(folder, folder_files);
            for (uint32_t j = 1; j < tree().members(files); ++j) {
                // Folders can share a list, so a small tree can name many files.
                if (++count > most_members)
                    return fail(where_, "has more than 4,000,000 members");
                TRY(visit(folder, tree().member(files, j)));
            }
        }
        return {};
    }

    Result<void> fill(std::span<std::byte> out)
    {
        if (TRY(in_.read(out)) < out.size())
            return cut_off();
        return {};
    }
    /// Memory grows as data arrive, because a header may lie about the size.
    Result<std::vector<std::byte>> take(uint64_t size)
    {
        std::vector<std::byte> bytes;
        while (size) {
            const size_t at = bytes.size(), part = std::min<uint64_t>(size, 64 << 20);
            bytes.resize(at + part);
            TRY(fill(std::span(bytes).subspan(at)));
            size -= part;
        }
        return bytes;
    }
    Result<void> skip(uint64_t size)
    {
        std::vector<std::byte> scratch(std::min<uint64_t>(size, 64 << 10));
        while (size) {
            const size_t part = std::min<uint64_t>(size, scratch.size());
            TRY(fill(std::span(scratch).first(part)));
            size -= part;
        }
        return {};
    }

    Unpacked in_;
    const std::string &path_;
    Where where_{path_};
    const ArchiveVisitor &visitor_;
    std::vector<std::byte> tree_bytes_;
    uint64_t files_with_data_ = 0, blocks_of_data_ = 0;
    uint64_t last_place_ = 0; // of a block of data: its folder and file
};

} // namespace

bool is_apk3(Bytes file)
{
    return has(file, 0, "ADB.") || has(file, 0, "ADBd") || has(file, 0, "ADBc");
}

Result<void> walk_apk3(Bytes file, const std::string &path, const ArchiveVisitor &visitor)
{
    const Where where{path};
    Packing packing = Packing::none;
    if (has(file, 0, "ADBd")) {
        packing = Packing::deflate;
        file = file.subspan(4);
    } else if (has(file, 0, "ADBc")) { // then the algorithm, and the level
        if (file.size() < 6)
            return fail(where, "is cut off");
        const auto algorithm = std::to_integer<unsigned>(file[4]);
        if (algorithm > 2)
            return fail(where, "has an unknown compression");
        constexpr Packing known[] = {Packing::none, Packing::deflate, Packing::zstd};
        packing = known[algorithm];
        file = file.subspan(6);
    }
    return Apk3(Unpacked(file, packing, where), path, visitor).run();
}

} // namespace btflink::kernel
