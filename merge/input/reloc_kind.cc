// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tries unknown relocation types with LLVM's resolver.
#include "merge/input/reloc_kind.h"

#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/RelocationResolver.h>
#include <tuple>

namespace btflink::merge
{

RelocClassifier::RelocClassifier(std::string_view elf, bool rela, std::array<uint32_t, 2> known)
    : rela_(rela), known_(known)
{
    llvm::StringRef bytes(elf.data(), elf.size());
    auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, ""),
                                                              /*InitContent=*/false);
    if (!file) {
        llvm::consumeError(file.takeError());
        return;
    }
    std::tie(supports_, resolve_) = llvm::object::getRelocationResolver(**file);
}

RelocKind RelocClassifier::operator()(uint32_t type)
{
    if (type == 0) // R_*_NONE of every target: lld leaves it where `ld -r` discarded a section
        return RelocKind::none;
    if (type == known_[0] || type == known_[1])
        return RelocKind::absolute;
    if (type == last_type_)
        return last_;
    // Resolve a made-up relocation. Only absolute types give symbol + addend, as the place is not
    // 0.
    constexpr uint64_t place = 0x1000, symbol = 0x200000, addend = 0x30;
    last_type_ = type;
    last_ = RelocKind::other;
    if (resolve_ && supports_(type)) {
        uint64_t value = rela_ ? resolve_(type, place, symbol, 0, addend)
                               : resolve_(type, place, symbol, addend, 0);
        if (value == symbol + addend)
            last_ = RelocKind::absolute;
    }
    return last_;
}

} // namespace btflink::merge
