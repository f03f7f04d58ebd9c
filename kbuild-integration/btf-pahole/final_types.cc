// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens a file and parses `.BTF` over its base.
#include "kbuild-integration/btf-pahole/final_types.h"

namespace btflink::kbuild
{

Result<FinalTypes> read_final_types(const std::string &path, const std::string &base)
{
    FinalTypes out;
    out.base = TRY(merge::read_base(base));
    out.input = TRY(merge::open_input(path));
    out.blob = TRY(merge::find_final_btf(*out.input, ".BTF"));
    if (!out.blob)
        return fail(out.input->where, "has no .BTF");
    std::shared_ptr<const Btf> continued = out.base.btf;
    if (out.input->elf)
        out.own_base = TRY(merge::find_final_btf(*out.input, ".BTF.base"));
    if (out.own_base) {
        auto own = TRY(Btf::parse(out.own_base->blob, out.own_base->where));
        continued = std::make_shared<const Btf>(std::move(own));
    }
    out.btf = TRY(Btf::parse(out.blob->blob, out.blob->where, std::move(continued)));
    return out;
}

} // namespace btflink::kbuild
