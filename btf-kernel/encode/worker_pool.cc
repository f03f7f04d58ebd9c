// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Forks a process per piece. A process writes its result into a pipe with one write(), which never
// blocks because the result is shorter than PIPE_BUF, and exits with status 0. Any other end is a
// failure.
#include "btf-kernel/encode/worker_pool.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_text = 4000;
static_assert(most_text < PIPE_BUF);
constexpr char mark_done = 'd', mark_failed = 'f'; // in front of the text

[[noreturn]] void work_as_child(const WorkerPool::Work &work, int answer, pid_t parent)
{
    ::signal(SIGTERM, SIG_DFL);         // the parent may have been started with SIGTERM ignored
    ::prctl(PR_SET_PDEATHSIG, SIGTERM); // without the parent the result is not needed
    if (::getppid() != parent)
        ::_exit(1);
    const WorkResult result = work();
    const std::string text =
        (result.failed ? mark_failed : mark_done) + result.text.substr(0, most_text);
    ::_exit(::write(answer, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

WorkResult read_answer(int answer, int status)
{
    if (WIFSIGNALED(status))
        return {true, strf("its process was ended by signal %d", WTERMSIG(status)), true};
    char text[most_text + 1];
    const ssize_t got = ::read(answer, text, sizeof text);
    if (WEXITSTATUS(status) != 0 || got < 1)
        return {true, strf("its process ended with %d", WEXITSTATUS(status)), true};
    return {text[0] == mark_failed, std::string(text + 1, static_cast<size_t>(got) - 1)};
}

/// Half of the files that a process may open. Each process has a pipe to this one, and inherits
/// those of the others; the other half is for its own work.
size_t most_workers()
{
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur / 2;
}

} // namespace

WorkerPool::WorkerPool(unsigned workers)
    : workers_(std::max<size_t>(1, std::min<size_t>(workers, most_workers())))
{
    ::signal(SIGCHLD, SIG_DFL); // if SIGCHLD is ignored, waitpid() does not report ends
}

WorkerPool::~WorkerPool()
{
    for (const auto &[pid, running] : running_) {
        ::kill(pid, SIGTERM);
        ::kill(pid, SIGCONT); // a stopped process would not end
        ::waitpid(pid, nullptr, 0);
    }
}

void WorkerPool::wait_for_one()
{
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, 0);
    CHECK(pid > 0 || errno == EINTR);
    auto ended = running_.find(pid);
    if (ended == running_.end())
        return; // a child of the program that called exec()
    results_[ended->second.piece] = read_answer(ended->second.answer->get(), status);
    running_.erase(ended);
}

Result<void> WorkerPool::add(const Work &work)
{
    while (running_.size() >= workers_)
        wait_for_one();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return fail_errno({}, "cannot connect a process");
    auto from = std::make_unique<Fd>(ends[0]);
    const Fd to(ends[1]);
    std::fflush(nullptr); // otherwise the child would print buffered output again
    const pid_t parent = ::getpid();
    pid_t child;
    while ((child = ::fork()) < 0) {
        if (running_.empty())
            return fail_errno({}, "cannot start a process");
        wait_for_one();
    }
    if (child == 0)
        work_as_child(work, to.get(), parent);
    running_.emplace(child, Running{results_.size(), std::move(from)});
    results_.emplace_back();
    return {};
}

std::vector<WorkResult> WorkerPool::finish(const std::function<void()> &look)
{
    while (!running_.empty()) {
        wait_for_one();
        look();
    }
    return std::move(results_);
}

} // namespace btflink::kernel
