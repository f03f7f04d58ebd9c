// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Linked kernels and their vmlinux.o are gigabytes, mostly DWARF. Mapping them would read
// what is looked at and no more, but a file that shrinks under a mapping kills the process.
//
// Method. Anonymous memory of the file's size, into which the needed sections are read at their
// offsets. Pages that nothing was read into cost nothing. What is not a sound ELF file is read
// whole: whoever parses it then can say what is wrong.
#include "merge/file_parts.h"

#include "common/file_io.h"
#include "merge/elf_header.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace btflink::merge
{

namespace
{

constexpr uint64_t small_file = 64 * 1024; // not worth the system calls

class PartReader
{
public:
    PartReader(int fd, uint64_t size) : fd_(fd), size_(size) {}
    PartReader(const PartReader &) = delete;
    PartReader &operator=(const PartReader &) = delete;

    /// False: not a file that this can be done with, or it cannot be read.
    bool run()
    {
        void *memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        uint64_t size = size_;
        owner_ = std::shared_ptr<void>(memory, [size](void *p) { munmap(p, size); });
        data_ = static_cast<std::byte *>(memory);
        return read_headers() && read_sections();
    }

    FileParts result() const { return {{data_, size_}, owner_}; }

private:
    bool read(uint64_t offset, uint64_t size)
    {
        if (offset > size_ || size > size_ - offset)
            return false;
        while (size) {
            ssize_t n = pread(fd_, data_ + offset, size, static_cast<off_t>(offset));
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return false;
            offset += static_cast<uint64_t>(n);
            size -= static_cast<uint64_t>(n);
        }
        return true;
    }

    uint16_t half(size_t at) const { return load<uint16_t>(data_ + at, shape_.order); }

    bool read_headers()
    {
        if (!read(0, sizeof(Elf64_Ehdr)) || std::memcmp(data_, ELFMAG, SELFMAG) != 0)
            return false;
        shape_.is64 = data_[EI_CLASS] == std::byte{ELFCLASS64};
        shape_.order =
            data_[EI_DATA] == std::byte{ELFDATA2MSB} ? ByteOrder::big : ByteOrder::little;
        uint64_t offset = shape_.load_word(data_ + shape_.shoff_at());
        uint64_t count = half(shape_.shnum_at());
        names_ = half(shape_.shstrndx_at());
        if (half(shape_.shentsize_at()) != shape_.section_size() ||
            !read(offset, shape_.section_size()))
            return false;
        SectionHeader first = decode_header(data_ + offset, shape_);
        if (count == 0)
            count = first.size;
        if (names_ == SHN_XINDEX)
            names_ = first.link;
        if (count > size_ / shape_.section_size() || names_ >= count ||
            !read(offset, count * shape_.section_size()))
            return false;
        for (uint64_t i = 0; i < count; ++i)
            headers_.push_back(decode_header(data_ + offset + i * shape_.section_size(), shape_));
        const SectionHeader &names = headers_[names_];
        return names.size > 0 && read(names.offset, names.size) &&
               data_[names.offset + names.size - 1] == std::byte{0};
    }

    std::string_view name(const SectionHeader &h) const
    {
        const SectionHeader &names = headers_[names_];
        if (h.name >= names.size)
            return "";
        return reinterpret_cast<const char *>(data_ + names.offset + h.name);
    }

    bool read_sections()
    {
        std::vector<bool> needed(headers_.size());
        for (size_t i = 0; i < headers_.size(); ++i) {
            const SectionHeader &h = headers_[i];
            std::string_view n = name(h);
            needed[i] = needed[i] || n == ".BTF" || n == ".debug_addr" || n == ".BTF_ids" ||
                        h.type == SHT_SYMTAB || h.type == SHT_SYMTAB_SHNDX;
            if (h.type == SHT_SYMTAB && h.link < headers_.size())
                needed[h.link] = true;
        }
        for (size_t i = 0; i < headers_.size(); ++i) {
            const SectionHeader &h = headers_[i];
            if ((h.type == SHT_REL || h.type == SHT_RELA) && h.info < headers_.size() &&
                needed[h.info] && headers_[h.info].type != SHT_SYMTAB)
                needed[i] = true;
        }
        for (size_t i = 0; i < headers_.size(); ++i)
            if (needed[i] && headers_[i].type != SHT_NOBITS && headers_[i].type != SHT_NULL &&
                !read(headers_[i].offset, headers_[i].size))
                return false;
        return true;
    }

    int fd_;
    uint64_t size_;
    std::shared_ptr<void> owner_;
    std::byte *data_ = nullptr;
    ElfShape shape_{};
    std::vector<SectionHeader> headers_;
    uint32_t names_ = 0;
};

} // namespace

Result<FileParts> read_parts(const std::string &path)
{
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd >= 0 && ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        static_cast<uint64_t>(st.st_size) > small_file) {
        PartReader reader(fd, static_cast<uint64_t>(st.st_size));
        bool done = reader.run();
        ::close(fd);
        if (done)
            return reader.result();
    } else if (fd >= 0) {
        ::close(fd);
    }
    auto file = read_file(path);
    if (!file)
        return tl::unexpected(file.error());
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(*file));
    return FileParts{*owner, owner};
}

} // namespace btflink::merge
