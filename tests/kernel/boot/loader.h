// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Loads, attaches and runs a BPF object that has one program and one global variable. seen.h has
// the types of the variables.
#pragma once

#include "tests/kernel/boot/programs.h"

#include <bpf/libbpf.h>

#include <memory>
#include <string>

namespace btflink::boot
{

/// From now on, libbpf's warnings, which include the verifier's log, are not printed but collected
/// for Loader::error(). Other messages of libbpf are dropped.
void capture_messages();

/// The functions return true on success. Otherwise error() has the reason, with libbpf's messages.
class Loader
{
public:
    /// Opens the object, relocates it with the BTF of the kernel and its modules, and loads it.
    bool load(const Bytes &object);
    /// Attaches the program as the name of its section says, such as fentry/FUNCTION.
    bool attach();
    /// Runs the program once, in the calling thread. For a fentry or fexit program, the kernel
    /// instead calls its test functions, such as bpf_fentry_test5, which run the program if it is
    /// attached to them.
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
