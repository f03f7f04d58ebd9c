// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Records phases of a run and writes them as JSON.
#include "common/io/trace.h"

#include "common/io/file_io.h"
#include "common/io/json_text.h"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <unistd.h>

namespace btflink::trace
{

namespace internal
{
std::atomic<bool> recording{false};
} // namespace internal

namespace
{

struct Event {
    uint32_t thread = 0;
    std::string name, detail;
    int64_t wall = 0, cpu = 0; // begin, in nanoseconds; wall time from the start of the recording
    int64_t wall_length = 0, cpu_length = 0;
    std::vector<std::pair<std::string, uint64_t>> notes;
};

/// The recorded phases. Never destroyed, because phases of other threads may end while the process
/// exits.
struct Recorder {
    std::mutex mutex;
    std::string path, program;
    int64_t start = 0;
    std::vector<Event> events;
};

Recorder &recorder()
{
    static Recorder &one = *new Recorder;
    return one;
}

int64_t now(clockid_t clock)
{
    timespec t{};
    ::clock_gettime(clock, &t);
    return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

/// The number of the calling thread. Threads are numbered 1, 2, ... in the order in which they
/// begin their first phases.
uint32_t this_thread()
{
    static std::atomic<uint32_t> count{0};
    thread_local uint32_t number = ++count;
    return number;
}

/// Microseconds, the unit of the format.
std::string us(int64_t nanoseconds)
{
    return strf("%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
}

std::string event_text(const Event &e, int pid)
{
    std::string text = "{\"ph\":\"X\",\"name\":" + json_string(e.name) +
                       strf(",\"pid\":%d,\"tid\":%u", pid, e.thread) + ",\"ts\":" + us(e.wall) +
                       ",\"dur\":" + us(e.wall_length) + ",\"tts\":" + us(e.cpu) +
                       ",\"tdur\":" + us(e.cpu_length);
    std::string args = e.detail.empty() ? "" : "\"detail\":" + json_string(e.detail);
    for (const auto &[name, value] : e.notes)
        args += (args.empty() ? "" : ",") + json_string(name) + strf(":%llu", ull(value));
    return text + (args.empty() ? "}" : ",\"args\":{" + args + "}}");
}

std::string trace_text()
{
    Recorder &r = recorder();
    std::lock_guard lock(r.mutex);
    // Phases are listed in the order in which they began: each before the phases inside it.
    std::ranges::stable_sort(r.events, [](const Event &a, const Event &b) {
        return a.wall != b.wall ? a.wall < b.wall : a.wall_length > b.wall_length;
    });
    int pid = ::getpid();
    std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                       "{\"ph\":\"M\",\"name\":\"process_name\",\"tid\":0" +
                       strf(",\"pid\":%d", pid) + ",\"args\":{\"name\":" + json_string(r.program) +
                       "}}";
    for (const Event &e : r.events)
        text += ",\n" + event_text(e, pid);
    return text + "\n]}\n";
}

} // namespace

void Phase::begin(std::string_view name, std::string_view detail)
{
    begun_ = true;
    name_ = name;
    detail_ = detail;
    this_thread();
    cpu_ = now(CLOCK_THREAD_CPUTIME_ID);
    wall_ = now(CLOCK_MONOTONIC);
}

std::string Phase::record()
{
    begun_ = false;
    int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    Recorder &r = recorder();
    std::lock_guard lock(r.mutex);
    if (on() && wall_ >= r.start) // else the phase's recording has ended
        r.events.push_back({this_thread(), std::move(name_), detail_, wall_ - r.start, cpu_,
                            wall - wall_, cpu - cpu_, notes_});
    notes_.clear();
    return std::move(detail_);
}

Result<void> start(std::string path, std::string program)
{
    TRY(check_writable(path));
    Recorder &r = recorder();
    std::lock_guard lock(r.mutex);
    r.path = std::move(path);
    r.program = std::move(program);
    r.start = now(CLOCK_MONOTONIC);
    r.events.clear();
    internal::recording = true;
    return {};
}

Result<void> write()
{
    internal::recording = false;
    return write_file(recorder().path, as_bytes(trace_text()));
}

} // namespace btflink::trace
