// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Loads a BPF object that has one program and one global variable, see seen.h.
#pragma once

#include "tests/kernel/boot/programs.h"

#include <bpf/libbpf.h>

#include <memory>
#include <string>

namespace btflink::boot
{

/// From now on, what libbpf and the verifier say goes to error texts instead of standard error.
void capture_messages();

/// Functions return whether it worked; if not, error() says why, with libbpf's messages.
class Loader
{
public:
    /// Open, relocate by the kernel's BTF, load.
    bool load(const Bytes &object);
    /// Attach to what the program's section names.
    bool attach();
    /// Run once, in the calling thread (a tracing program: what the kernel has for its test).
    bool run();

    template <class Seen>
    bool write(const Seen &seen)
    {
        return store(&seen, sizeof seen);
    }
    template <class Seen>
    bool read(Seen &seen)
    {
        return fetch(&seen, sizeof seen);
    }

    const std::string &error() const { return error_; }

private:
    bool store(const void *value, size_t size);
    bool fetch(void *value, size_t size);
    bool fails(const std::string &what, int reason);

    struct Close {
        void operator()(bpf_object *object) const { bpf_object__close(object); }
        void operator()(bpf_link *link) const { bpf_link__destroy(link); }
    };
    std::unique_ptr<bpf_object, Close> object_;
    std::unique_ptr<bpf_link, Close> link_;
    bpf_program *program_ = nullptr;
    bpf_map *variable_ = nullptr;
    std::string error_;
};

} // namespace btflink::boot
