// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Loads, attaches and runs BPF programs by means of libbpf.
#include "tests/kernel/boot/loader.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace btflink::boot
{
namespace
{

/// error() shows at most this many bytes of the collected messages: the last, because the end of
/// the verifier's log says what is wrong.
constexpr size_t most_text = 3000;

std::string messages;

int keep_message(enum libbpf_print_level level, const char *format, va_list args)
{
    if (level != LIBBPF_WARN)
        return 0;
    char *text = nullptr;
    int length = vasprintf(&text, format, args);
    if (length >= 0)
        messages += text;
    std::free(text);
    return length;
}

} // namespace

void capture_messages()
{
    libbpf_set_print(keep_message);
}

bool Loader::fails(const std::string &what, int reason)
{
    if (messages.size() > most_text)
        messages = "..." + messages.substr(messages.size() - most_text);
    error_ = what + ": " + std::strerror(reason) + "\n" + messages;
    messages.clear();
    return false;
}

bool Loader::load(const Bytes &object)
{
    messages.clear();
    bpf_object_open_opts options{};
    options.sz = sizeof options;
    options.object_name = object.name;
    object_.reset(bpf_object__open_mem(object.data, object.size, &options));
    if (!object_)
        return fails("open", errno);
    program_ = bpf_object__next_program(object_.get(), nullptr);
    variable_ = bpf_object__find_map_by_name(object_.get(), ".bss");
    if (!program_ || !variable_)
        return fails("no program or no variable in the object", ENOENT);
    if (int error = bpf_object__load(object_.get()))
        return fails("load", -error);
    return true;
}

bool Loader::attach()
{
    link_.reset(bpf_program__attach(program_));
    return link_ || fails("attach", errno);
}

bool Loader::run()
{
    bpf_test_run_opts options{};
    options.sz = sizeof options;
    int error = bpf_prog_test_run_opts(bpf_program__fd(program_), &options);
    return error == 0 || fails("run", -error);
}

bool Loader::store(const void *value, size_t size)
{
    const int key = 0;
    int error = bpf_map__update_elem(variable_, &key, sizeof key, value, size, BPF_ANY);
    return error == 0 || fails("write the variable", -error);
}

bool Loader::fetch(void *value, size_t size)
{
    const int key = 0;
    int error = bpf_map__lookup_elem(variable_, &key, sizeof key, value, size, 0);
    return error == 0 || fails("read the variable", -error);
}

} // namespace btflink::boot
