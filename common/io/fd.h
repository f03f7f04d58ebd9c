// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An open file, closed when it goes out of scope.
#pragma once

#include <unistd.h>
#include <utility>

namespace btflink
{

class Fd
{
public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    Fd(const Fd &) = delete;
    Fd &operator=(const Fd &) = delete;
    ~Fd() { reset(-1); }

    int get() const { return fd_; }
    /// Closes the present descriptor, if any, and takes `fd`.
    void reset(int fd)
    {
        if (fd_ >= 0)
            ::close(fd_);
        fd_ = fd;
    }
    /// Returns false and sets errno if written data could not be stored.
    bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

private:
    int fd_;
};

} // namespace btflink
