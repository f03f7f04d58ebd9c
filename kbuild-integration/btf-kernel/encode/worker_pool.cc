// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Forks workers, which take numbers from a counter in shared memory and leave results there.
#include "kbuild-integration/btf-kernel/encode/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace btflink::kernel
{

namespace
{

struct Slot {
    std::atomic<WorkResult::State> state;
    pid_t worker;
    char text[501];
};

/// Shared by all processes; zero at first.
struct Board {
    std::atomic<size_t> next, finished;
    Slot slots[1]; // as many as there are pieces

    static size_t bytes(size_t count) { return sizeof(Board) + count * sizeof(Slot); }
};
static_assert(std::atomic<size_t>::is_always_lock_free);

void work_on(Board &board, size_t count, const std::function<WorkResult(size_t)> &work)
{
    for (size_t i = board.next++; i < count; i = board.next++) {
        Slot &slot = board.slots[i];
        slot.worker = ::getpid();
        slot.state = WorkResult::State::running;
        const WorkResult result = work(i);
        std::strncpy(slot.text, result.text.c_str(), sizeof slot.text - 1);
        slot.state = result.state;
        ++board.finished;
    }
}

/// What a process that died was at.
void note_death(Board &board, size_t count, pid_t pid, int status)
{
    for (size_t i = 0; i < count; ++i) {
        Slot &slot = board.slots[i];
        if (slot.worker != pid || slot.state != WorkResult::State::running)
            continue;
        const std::string text = WIFSIGNALED(status)
                                     ? strf("its process was ended by signal %d", WTERMSIG(status))
                                     : strf("its process ended with %d", WEXITSTATUS(status));
        std::strncpy(slot.text, text.c_str(), sizeof slot.text - 1);
        slot.state = WorkResult::State::failed;
        ++board.finished;
    }
}

} // namespace

Result<std::vector<WorkResult>> run_workers(size_t count, unsigned workers,
                                            const std::function<WorkResult(size_t)> &work,
                                            const std::function<void(size_t)> &done)
{
    void *memory = ::mmap(nullptr, Board::bytes(count), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return fail_errno({}, "no memory for results");
    Board &board = *static_cast<Board *>(memory);
    const pid_t parent = ::getpid();
    ::signal(SIGCHLD, SIG_DFL); // if it is ignored, ends of processes are not reported
    unsigned alive = 0;
    int refused = 0;
    while (alive || (!refused && board.finished < count)) {
        while (!refused && alive < workers && board.next < count) {
            std::fflush(nullptr); // or a child says it again
            const pid_t pid = ::fork();
            if (pid == 0) {
                ::prctl(PR_SET_PDEATHSIG, SIGTERM); // nobody is left to ask for the results
                if (::getppid() != parent)
                    ::_exit(1);
                work_on(board, count, work);
                ::_exit(0);
            }
            if (pid < 0)
                refused = alive ? 0 : errno;
            if (pid < 0)
                break;
            ++alive;
        }
        int status = 0;
        const pid_t pid = alive ? ::waitpid(-1, &status, WNOHANG) : 0;
        if (pid > 0) {
            --alive;
            note_death(board, count, pid, status);
        } else if (pid < 0 && errno == ECHILD) {
            alive = 0;
        } else if (alive) {
            ::usleep(20'000);
        }
        done(board.finished);
    }
    std::vector<WorkResult> results(count);
    for (size_t i = 0; i < count; ++i)
        results[i] = {board.slots[i].state, board.slots[i].text};
    ::munmap(memory, Board::bytes(count));
    if (refused) {
        errno = refused;
        return fail_errno({}, "cannot start a process");
    }
    return results;
}

} // namespace btflink::kernel
