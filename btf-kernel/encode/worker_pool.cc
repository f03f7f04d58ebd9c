// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Forks a process for each piece of work. The process puts its result into shared memory. A process
// that ends without a result has failed.
#include "btf-kernel/encode/worker_pool.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace btflink::kernel
{

void WorkerPool::UnmapAnswer::operator()(Answer *answer) const
{
    ::munmap(answer, sizeof *answer);
}

WorkerPool::WorkerPool(unsigned workers) : workers_(workers)
{
    ::signal(SIGCHLD, SIG_DFL); // if SIGCHLD is ignored, waitpid() fails with ECHILD
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
        return; // a signal came, or a child ended that this process had started before exec()
    const Answer &answer = *ended->second.answer;
    WorkResult &result = results_[ended->second.piece];
    if (WIFSIGNALED(status))
        result = {true, strf("its process was ended by signal %d", WTERMSIG(status)), true};
    else if (!answer.done)
        result = {true, strf("its process ended with status %d", WEXITSTATUS(status)), true};
    else
        result = {answer.failed, answer.text};
    running_.erase(ended);
}

Result<void> WorkerPool::add(const Work &work)
{
    while (running_.size() >= workers_)
        wait_for_one();
    void *memory =
        ::mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return fail_errno({}, "cannot share memory with a process");
    std::unique_ptr<Answer, UnmapAnswer> answer(static_cast<Answer *>(memory));
    std::fflush(nullptr); // otherwise the child could print buffered output again
    const pid_t parent = ::getpid();
    pid_t child;
    while ((child = ::fork()) < 0) {
        if (running_.empty())
            return fail_errno({}, "cannot start a process");
        wait_for_one();
    }
    if (child == 0) {
        ::signal(SIGTERM, SIG_DFL);         // the parent may have been started with SIGTERM ignored
        ::prctl(PR_SET_PDEATHSIG, SIGTERM); // without the parent the result is not needed
        if (::getppid() != parent)
            ::_exit(1);
        const WorkResult result = work();
        result.text.copy(answer->text, sizeof answer->text - 1);
        answer->failed = result.failed;
        answer->done = true;
        ::_exit(0);
    }
    running_.emplace(child, RunningWorker{results_.size(), std::move(answer)});
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
