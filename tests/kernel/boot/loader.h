// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Loads a BPF object that has one program and one global variable, see seen.h.
#pragma once

#include "tests/kernel/boot/programs.h"

#include <bpf/libbpf.h>

#include <memory>
#include <string>

namespace btflink::boot
{

/// Collects the messages of libbpf and the verifier for error texts, instead of printing them.
void capture_messages();

/// The functions return true on success. Otherwise error() has the reason, with libbpf's messages.
class Loader
{
public:
    /// Opens the object, relocates it with the kernel's BTF, and loads it.
    bool load(const Bytes &object);
    /// Attaches the program as its section says.
    bool attach();
    /// Runs the program once, in the calling thread. A tracing program is run by the kernel's own
    /// test functions.
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
