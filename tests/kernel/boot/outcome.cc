// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs each check in a child process, and prints its outcome.
#include "tests/kernel/boot/outcome.h"

#include <cerrno>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace btflink::boot
{
namespace
{

/// The time limit of a check in seconds. The machine is emulated, and its host may be busy.
constexpr unsigned patience = 120;

/// Writes a line to standard output, if possible with a single write(), so that no other output
/// gets into the line.
void print(const std::string &line)
{
    const std::string text = "boot: " + line + "\n";
    size_t done = 0;
    while (done < text.size()) {
        ssize_t length = write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (length < 0)
            return; // The error cannot be printed; boot.py notices a missing result.
        done += static_cast<size_t>(length);
    }
}

/// Called in the child: writes "1" (passed) or "0" (failed) to `pipe`, then the detail.
void send(int pipe, const Outcome &outcome)
{
    const std::string text = (outcome.passed ? "1" : "0") + outcome.detail;
    size_t done = 0;
    while (done < text.size()) {
        ssize_t length = write(pipe, text.data() + done, text.size() - done);
        if (length < 0)
            _exit(1);
        done += static_cast<size_t>(length);
    }
}

std::string receive(int pipe)
{
    std::string text;
    char chunk[4096];
    for (ssize_t length; (length = read(pipe, chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<size_t>(length));
    return text;
}

Outcome run_in_child(const std::function<Outcome()> &check)
{
    int ends[2];
    if (pipe(ends) < 0)
        return {false, std::string("pipe: ") + std::strerror(errno)};
    pid_t child = fork();
    if (child < 0)
        return {false, std::string("fork: ") + std::strerror(errno)};
    if (child == 0) {
        close(ends[0]);
        alarm(patience);
        Outcome outcome;
        std::thread([&] { outcome = check(); }).join();
        send(ends[1], outcome);
        _exit(0);
    }
    close(ends[1]);
    const std::string text = receive(ends[0]);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        return {false, std::string("killed: ") + strsignal(WTERMSIG(status))};
    if (text.empty())
        return {false, "ended without a result"};
    return {text[0] == '1', text.substr(1)};
}

} // namespace

void Report::check(const std::string &name, const std::function<Outcome()> &check)
{
    const Outcome outcome = run_in_child(check);
    std::istringstream lines(outcome.detail);
    std::string line;
    std::getline(lines, line);
    print((outcome.passed ? "PASS: " : "FAIL: ") + name + ": " + line);
    while (std::getline(lines, line))
        print("    " + line);
    count_++;
}

void Report::end() const
{
    print("end: " + std::to_string(count_) + " checks");
}

} // namespace btflink::boot
