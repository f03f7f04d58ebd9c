// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Problem. Pieces arrive one by one, some with an open file, and any process may take the next, die
// at any moment, and be replaced by another.
//
// Method. Two pairs of sockets that keep messages whole, shared by all processes. Pieces go through
// the first, with their files; a process says through the second that it begins a piece, and what
// came of it. When a process has died, all that it said is read first: what it had begun has
// failed.
//
// Invariant. A process that died without having begun anything may have taken one piece along. Such
// pieces are not waited for, and have failed in the end. In the end nobody sends any more, so that
// processes end by themselves when nothing waits.
#include "btf-kernel/encode/worker_pool.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace btflink::kernel
{

namespace
{

using State = WorkResult::State;

constexpr size_t most_name = 4096, most_text = 500;
constexpr int look_again = 100; // milliseconds

struct PieceHead {
    size_t number;
};
struct AnswerHead {
    size_t number;
    pid_t worker;
    State state;
};

struct FileSpace { // for one descriptor
    alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))];
};

/// `head`, then `text`, and `file` unless that is -1. False: errno says why.
template <typename Head>
bool send_message(int socket, int flags, const Head &head, std::string_view text, int file = -1)
{
    iovec parts[] = {{const_cast<Head *>(&head), sizeof head},
                     {const_cast<char *>(text.data()), text.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    FileSpace space{};
    if (file >= 0) {
        message.msg_control = space.bytes;
        message.msg_controllen = sizeof space.bytes;
        cmsghdr *control = CMSG_FIRSTHDR(&message);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(sizeof file);
        std::memcpy(CMSG_DATA(control), &file, sizeof file);
    }
    for (;;) {
        if (::sendmsg(socket, &message, MSG_NOSIGNAL | flags) >= 0)
            return true;
        if (errno != EINTR)
            return false;
    }
}

/// False: nobody will send any more, or with MSG_DONTWAIT: nobody has.
template <typename Head>
bool receive_message(int socket, int flags, Head &head, std::string &text, int *file = nullptr)
{
    text.resize(most_name);
    iovec parts[] = {{&head, sizeof head}, {text.data(), text.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    FileSpace space{};
    message.msg_control = space.bytes;
    message.msg_controllen = sizeof space.bytes;
    ssize_t got;
    do {
        got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < static_cast<ssize_t>(sizeof head))
        return false;
    text.resize(static_cast<size_t>(got) - sizeof head);
    const cmsghdr *control = CMSG_FIRSTHDR(&message);
    if (file && control && control->cmsg_type == SCM_RIGHTS)
        std::memcpy(file, CMSG_DATA(control), sizeof *file);
    return true;
}

Result<void> open_pair(Fd &in, Fd &out)
{
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_errno({}, "cannot connect processes");
    in.reset(ends[0]);
    out.reset(ends[1]);
    return {};
}

std::string death_text(int status)
{
    return WIFSIGNALED(status) ? strf("its process was ended by signal %d", WTERMSIG(status))
                               : strf("its process ended with %d", WEXITSTATUS(status));
}

} // namespace

WorkerPool::~WorkerPool()
{
    pieces_in_.reset(-1);
    for (const auto &[pid, piece] : alive_) {
        ::kill(pid, SIGTERM);
        ::kill(pid, SIGCONT); // one that was stopped would not end
        ::waitpid(pid, nullptr, 0);
    }
}

Result<void> WorkerPool::open()
{
    if (pieces_in_.get() >= 0)
        return {};
    ::signal(SIGCHLD, SIG_DFL); // if it is ignored, ends of processes are not reported
    TRY(open_pair(pieces_in_, pieces_out_));
    return open_pair(answers_in_, answers_out_);
}

void WorkerPool::be_worker(int parent)
{
    ::signal(SIGTERM, SIG_DFL);         // it may be ignored by who started us
    ::prctl(PR_SET_PDEATHSIG, SIGTERM); // nobody is left to ask for the results
    if (::getppid() != parent)
        ::_exit(1);
    pieces_in_.reset(-1); // else there is always somebody who might send more
    answers_out_.reset(-1);
    PieceHead head;
    Piece piece;
    while (receive_message(pieces_out_.get(), 0, head, piece.name, &piece.file)) {
        piece.number = head.number;
        AnswerHead answer{piece.number, ::getpid(), State::running};
        send_message(answers_in_.get(), 0, answer, "");
        const WorkResult result = work_(piece);
        if (piece.file >= 0)
            ::close(piece.file);
        piece.file = -1;
        answer.state = result.state;
        send_message(answers_in_.get(), 0, answer, result.text.substr(0, most_text));
    }
    ::_exit(0);
}

Result<void> WorkerPool::start_one()
{
    const pid_t parent = ::getpid();
    std::fflush(nullptr); // or a child says it again
    const pid_t pid = ::fork();
    if (pid == 0)
        be_worker(parent);
    if (pid < 0)
        return alive_.empty() ? Result<void>(fail_errno({}, "cannot start a process"))
                              : Result<void>(); // those that live go on
    alive_.emplace(pid, SIZE_MAX);
    return {};
}

bool WorkerPool::has_waiting() const
{
    char byte;
    return ::recv(pieces_out_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/// While something waits that nobody has taken.
Result<void> WorkerPool::fill_up()
{
    while (alive_.size() < workers_ && has_waiting()) {
        // Each may have died with the piece that it was at; if there were more, they did nothing.
        if (useless_ > workers_)
            return fail({}, "processes end as soon as they are started");
        const size_t before = alive_.size();
        TRY(start_one());
        if (alive_.size() == before)
            break;
    }
    return {};
}

/// False: there is none.
bool WorkerPool::read_message()
{
    AnswerHead answer;
    std::string text;
    if (!receive_message(answers_out_.get(), MSG_DONTWAIT, answer, text))
        return false;
    WorkResult &result = results_[answer.number];
    result = {answer.state, std::move(text)};
    if (auto worker = alive_.find(answer.worker); worker != alive_.end())
        worker->second = answer.state == State::running ? answer.number : SIZE_MAX;
    useless_ = 0;
    ended_ += answer.state != State::running;
    return true;
}

void WorkerPool::look_for_ends()
{
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
        while (read_message())
            ;
        auto worker = alive_.find(pid);
        if (worker == alive_.end())
            continue; // a child that somebody else has left us
        if (worker->second != SIZE_MAX) {
            results_[worker->second] = {State::failed, death_text(status)};
            ++ended_;
        } else {
            ++lost_;
        }
        ++useless_;
        alive_.erase(worker);
    }
}

Result<void> WorkerPool::wait_a_little()
{
    pollfd some{answers_out_.get(), POLLIN, 0};
    ::poll(&some, 1, look_again);
    while (read_message())
        ;
    look_for_ends();
    return fill_up();
}

Result<void> WorkerPool::add(const std::string &name, int file)
{
    TRY(open());
    const size_t number = results_.size();
    if (name.size() > most_name) {
        results_.push_back({State::failed, "its path is too long"});
        ++ended_;
        return {};
    }
    while (under_way() >= 2 * workers_ + lost_)
        TRY(wait_a_little());
    results_.emplace_back();
    while (!send_message(pieces_in_.get(), MSG_DONTWAIT, PieceHead{number}, name, file)) {
        if (errno != EAGAIN)
            return fail_errno({}, "cannot give work to a process");
        TRY(wait_a_little());
    }
    return fill_up();
}

Result<std::vector<WorkResult>> WorkerPool::finish(const std::function<void()> &look)
{
    TRY(open());
    pieces_in_.reset(-1);
    while (!alive_.empty() || has_waiting()) {
        TRY(wait_a_little());
        look();
    }
    for (WorkResult &result : results_)
        if (result.state == State::waiting || result.state == State::running)
            result = {State::failed, "its process ended before it began"};
    return std::move(results_);
}

} // namespace btflink::kernel
