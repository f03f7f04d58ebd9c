// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes network devices by netlink messages.
#include "tests/kernel/boot/network.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace btflink::boot
{
namespace
{

/// An rtnetlink request for a link of kind veth (rtnetlink(7)).
struct Request {
    nlmsghdr header;
    ifinfomsg link;
    nlattr info; // IFLA_LINKINFO, contains the next fields
    nlattr kind; // IFLA_INFO_KIND
    char kind_name[4];
};

/// The kernel's answer to a Request: an error, or an acknowledgement.
struct Reply {
    nlmsghdr header;
    nlmsgerr error;
    char request[256]; // which an error may repeat
};

int ask(int socket, const Request &request)
{
    Reply reply{};
    if (send(socket, &request, sizeof request, 0) < 0)
        return errno;
    ssize_t length = recv(socket, &reply, sizeof reply, 0);
    if (length < 0)
        return errno;
    if (static_cast<size_t>(length) < sizeof reply.header + sizeof reply.error ||
        reply.header.nlmsg_type != NLMSG_ERROR)
        return EPROTO;
    return -reply.error.error; // 0 is an acknowledgement
}

} // namespace

std::string make_veth_pair()
{
    Request request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_NEWLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
    request.info.nla_type = IFLA_LINKINFO;
    request.info.nla_len = sizeof request.info + sizeof request.kind + sizeof request.kind_name;
    request.kind.nla_type = IFLA_INFO_KIND;
    request.kind.nla_len = sizeof request.kind + sizeof request.kind_name;
    std::memcpy(request.kind_name, "veth", sizeof request.kind_name);

    int routes = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    int reason = routes < 0 ? errno : ask(routes, request);
    if (routes >= 0)
        close(routes);
    return reason ? std::string("make a veth pair: ") + std::strerror(reason) : "";
}

} // namespace btflink::boot
