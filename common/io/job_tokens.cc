// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Takes and returns tokens of make's jobserver.
//
// Problem. `make -j8` handles modules in parallel, and Kbuild tells pahole to use all processors
// for each of them: 64 threads for 8 jobs. make's tokens are bytes in a pipe, one for each job that
// may run in addition to the first. A lost token slows down the rest of the build.
//
// Method. At the start, read the free tokens that are useful, without waiting; at the end, write
// them back. Runs are too short for more. The pipe is opened again for reading, because O_NONBLOCK
// on make's own descriptor would affect all processes that share it. Signals that end the program
// write the tokens back first. Only SIGKILL loses them, which make reports at its end.
#include "common/io/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace btflink
{

namespace
{

constexpr int ending[] = {SIGALRM, SIGHUP,  SIGINT,  SIGPIPE, SIGQUIT,
                          SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};

/// make may distinguish tokens by their bytes, so return the same bytes.
std::array<char, 1024> tokens;
std::atomic<size_t> taken = 0;
int give_back_to = -1;

void on_signal(int signal)
{
    give_back_job_tokens();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

/// Signals that are ignored stay ignored.
void give_back_on_signals()
{
    for (int signal : ending) {
        struct sigaction action = {};
        ::sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_DFL)
            continue;
        action.sa_handler = on_signal;
        ::sigaction(signal, &action, nullptr);
    }
}

/// The jobserver in MAKEFLAGS, or nothing. The last one counts: make appends its own.
std::string_view jobserver_of(std::string_view makeflags)
{
    std::string_view found;
    for (size_t at = 0; at < makeflags.size();) {
        size_t end = std::min(makeflags.find(' ', at), makeflags.size());
        std::string_view word = makeflags.substr(at, end - at);
        if (word == "--") // variables follow
            break;
        for (std::string_view name :
             {"--jobserver-auth=", "--jobserver-fds="}) // the latter before 4.2
            if (word.starts_with(name))
                found = word.substr(name.size());
        at = end + 1;
    }
    return found;
}

bool is_pipe(int fd)
{
    struct stat info;
    return ::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
}

/// Is the descriptor open for `mode` (O_RDONLY, O_WRONLY)?
bool is_open_for(int fd, int mode)
{
    const int flags = ::fcntl(fd, F_GETFL);
    return flags >= 0 && ((flags & O_ACCMODE) == mode || (flags & O_ACCMODE) == O_RDWR);
}

/// Are these the two ends of one pipe? If make closed its descriptors, other files may have reused
/// the numbers.
bool are_ends(int read, int write)
{
    struct stat from, to;
    return is_pipe(read) && is_pipe(write) && ::fstat(read, &from) == 0 &&
           ::fstat(write, &to) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino &&
           is_open_for(read, O_RDONLY) && is_open_for(write, O_WRONLY);
}

struct Ends {
    int read = -1;  // does not block
    int write = -1; // blocks, but the pipe has space for the bytes that were read
};

Ends open_fifo(const std::string &path)
{
    Ends ends;
    ends.read = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (ends.read >= 0 && is_pipe(ends.read))
        ends.write = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return ends;
}

/// `text`: "READ,WRITE". For recipes without "+", make closes these descriptors or passes negative
/// numbers.
Ends open_descriptors(std::string_view text)
{
    int read = -1, write = -1;
    const char *end = text.data() + text.size();
    auto first = std::from_chars(text.data(), end, read);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',')
        return {};
    auto second = std::from_chars(first.ptr + 1, end, write);
    if (second.ec != std::errc() || second.ptr != end || !are_ends(read, write))
        return {};
    std::string again = "/proc/self/fd/" + std::to_string(read);
    return {::open(again.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC), write};
}

Ends open_jobserver(std::string_view name)
{
    constexpr std::string_view fifo = "fifo:"; // since 4.4
    if (name.starts_with(fifo))
        return open_fifo(std::string(name.substr(fifo.size())));
    return open_descriptors(name);
}

/// Signals are blocked while a token is neither in the pipe nor counted.
void read_tokens(int fd, size_t wanted)
{
    sigset_t all, before;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    ssize_t got = 0;
    do
        got = ::read(fd, tokens.data() + taken, std::min(wanted, tokens.size()) - taken);
    while ((got > 0 && (taken += static_cast<size_t>(got)) < std::min(wanted, tokens.size())) ||
           (got < 0 && errno == EINTR));
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

unsigned take_job_tokens(unsigned wanted)
{
    const char *makeflags = std::getenv("MAKEFLAGS");
    std::string_view name = jobserver_of(makeflags ? makeflags : "");
    if (name.empty() || wanted <= 1)
        return wanted;
    Ends ends = open_jobserver(name);
    if (ends.read >= 0 && ends.write >= 0) {
        give_back_to = ends.write;
        give_back_on_signals();
        read_tokens(ends.read, wanted - 1); // this thread needs no token
    }
    if (ends.read >= 0)
        ::close(ends.read);
    return 1 + static_cast<unsigned>(taken);
}

void give_back_job_tokens()
{
    const int before = errno;
    sigset_t all, mask; // a signal at this point would find no tokens to return
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask);
    size_t count = taken.exchange(0);
    for (size_t done = 0; done < count;) {
        ssize_t wrote = ::write(give_back_to, tokens.data() + done, count - done);
        if (wrote > 0)
            done += static_cast<size_t>(wrote);
        else if (wrote == 0 || errno != EINTR)
            break;
    }
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    errno = before;
}

} // namespace btflink
