// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Mutation and crossover of bundles, which libFuzzer calls instead of its own. libFuzzer's own
// mutation makes half of the changes that need no knowledge of a file's format.
#include "tests/hostile/fuzz/mutate.h"

#include <algorithm>

using namespace btflink::fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b,
                                            size_t b_size, uint8_t *out, size_t most,
                                            unsigned seed);

namespace
{

size_t give(const Bundle &bundle, const uint8_t *old, size_t old_size, uint8_t *out, size_t most)
{
    Text bytes = write_bundle(bundle);
    if (bytes.size() > most)
        bytes.assign(old, old + std::min(old_size, most)); // the result is too large: no mutation
    std::copy(bytes.begin(), bytes.end(), out);
    return bytes.size();
}

void mutate_one(Bundle &bundle, const Text &other, Random &random)
{
    auto plain = [&](Text &bytes, size_t most) {
        if (random() % 2)
            return mutate_bytes(bytes, most, random);
        size_t size = bytes.size();
        bytes.resize(std::max<size_t>(most, 1));
        bytes.resize(LLVMFuzzerMutate(bytes.data(), std::min(size, bytes.size()), bytes.size()));
    };
    if (bundle.files.empty())
        bundle.files.emplace_back();
    mutate_file(bundle.files[random() % bundle.files.size()].bytes, other, random, plain);
    if (random() % 16 == 0)
        bundle.settings[random() % bundle.settings.size()] = static_cast<uint8_t>(random());
}

} // namespace

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    Random random(seed);
    Text before(data, data + size);
    Bundle bundle = read_bundle(data, size);
    mutate_one(bundle, {}, random);
    return give(bundle, before.data(), before.size(), data, most);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed)
{
    Random random(seed);
    Bundle bundle = read_bundle(a, a_size), other = read_bundle(b, b_size);
    if (other.files.empty())
        return give(bundle, a, a_size, out, most);
    const BundleFile &piece = other.files[random() % other.files.size()];
    if (bundle.files.size() < most_files && random() % 4 == 0)
        bundle.files.push_back(piece);
    else
        mutate_one(bundle, piece.bytes, random);
    return give(bundle, a, a_size, out, most);
}
