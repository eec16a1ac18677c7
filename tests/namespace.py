"""A Linux network namespace of our own, in which every address is this machine and every packet is seen.

There is no device but loopback. A route makes all addresses local, so that a packet to any host is really
sent, is seen by us on loopback, and is refused at once instead of waited for. Names are asked of us, too.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

NAME_SERVER = "192.0.2.1"
"""An address for documentation: no host has it."""
LAST_PACKET = f"udp {NAME_SERVER}:9"
"""What we send ourselves when the command has ended."""

_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
_NEW_ROUTE, _REQUEST_ACK_CREATE = 24, 0x1 | 0x4 | 0x400
_LOCAL_TABLE, _STATIC, _HOST_SCOPE, _LOCAL_ROUTE = 255, 4, 254, 2
_OUT_DEVICE, _PREFERRED_SOURCE = 4, 7
_ATTACH_FILTER, _ALL_PROTOCOLS = 26, 3

_LOAD_WORD, _LOAD_BYTE, _AND, _JUMP_EQUAL, _RETURN = 0x20, 0x30, 0x54, 0x15, 0x06
_PACKET_TYPE, _OUTGOING = 0xFFFFF000 + 4, 4
_FOREIGN = [  # (operation, jump if so, jump if not, value): sent, and not to 127.0.0.0/8 or ::1
    (_LOAD_WORD, 0, 0, _PACKET_TYPE),
    (_JUMP_EQUAL, 0, 15, _OUTGOING),
    (_LOAD_BYTE, 0, 0, 0),
    (_AND, 0, 0, 0xF0),
    (_JUMP_EQUAL, 0, 2, 0x40),
    (_LOAD_BYTE, 0, 0, 16),
    (_JUMP_EQUAL, 10, 9, 127),
    (_JUMP_EQUAL, 0, 9, 0x60),
    (_LOAD_WORD, 0, 0, 24),
    (_JUMP_EQUAL, 0, 6, 0),
    (_LOAD_WORD, 0, 0, 28),
    (_JUMP_EQUAL, 0, 4, 0),
    (_LOAD_WORD, 0, 0, 32),
    (_JUMP_EQUAL, 0, 2, 0),
    (_LOAD_WORD, 0, 0, 36),
    (_JUMP_EQUAL, 1, 0, 1),
    (_RETURN, 0, 0, 128),  # its first 128 bytes
    (_RETURN, 0, 0, 0),
]


@dataclass(frozen=True, slots=True)
class Exits:
    """Who tries to leave is seen here: a socket that gets foreign packets, one that is asked for names."""

    packets: socket.socket
    names: socket.socket


def enter(folder: Path) -> Exits:
    """Move this process, and all that it starts from now on; `OSError` if the system forbids it.

    The folder must stay while the namespace is used: it holds files that stand in for the system's.
    """
    user, group = os.geteuid(), os.getegid()
    _unshare(_NEW_NETWORK | _NEW_MOUNTS | (_NEW_USER if user else 0))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _start_loopback()
    _make_local(socket.AF_INET, "127.0.0.1")
    if Path("/proc/net/if_inet6").is_file() and Path("/proc/net/if_inet6").read_text():
        _make_local(socket.AF_INET6, "::1")
    _take_over_names(folder)
    return Exits(packets=_foreign_packets(), names=_name_server())


def why_not(folder: Path) -> str | None:
    """The reason why this process cannot have such a namespace, found out by a child that tries."""
    if not hasattr(socket, "AF_PACKET"):
        return "only Linux has network namespaces"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            enter(folder)
        except OSError as error:
            os.write(writing, str(error).encode() or b"unknown")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        reason = answer.read()
    os.waitpid(child, 0)
    return reason or None


def destination(packet: bytes) -> str:
    """`tcp 203.0.113.7:443`, from the head of an IP packet."""
    if packet[0] >> 4 == 4:
        protocol, address = packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20])
        rest = packet[(packet[0] & 15) * 4 :]
    else:
        protocol, address = packet[6], f"[{socket.inet_ntop(socket.AF_INET6, packet[24:40])}]"
        rest = packet[40:]
    named = {socket.IPPROTO_TCP: "tcp", socket.IPPROTO_UDP: "udp"}.get(protocol)
    return f"{named} {address}:{int.from_bytes(rest[2:4])}" if named else f"protocol {protocol} {address}"


def asked_name(query: bytes) -> str:
    """The name in a DNS query."""
    labels, place = [], 12
    while place < len(query) and (length := query[place]):
        labels.append(query[place + 1 : place + 1 + length].decode("ascii", "replace"))
        place += 1 + length
    return ".".join(labels) or "(no name)"


def refusal(query: bytes) -> bytes:
    """The DNS answer REFUSED."""
    return query[:2] + b"\x81\x05" + query[4:6] + bytes(6) + query[12:]


def process_on(port: int) -> str:
    """The command line of the process that has this UDP port, while it waits for an answer."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    for process in Path("/proc").iterdir():
        with suppress(OSError):  # it may be no process, not ours, or gone by now
            if any(str(link.readlink()) in sockets for link in (process / "fd").iterdir()):
                words = (process / "cmdline").read_bytes().decode("utf-8", "replace")
                program, _, rest = words.partition("\0")
                return " ".join([Path(program).name, *rest.replace("\0", " ").split()])[:120]
    return "a process that is gone"


def send_last() -> None:
    """Let whoever sees packets and answers names know that there will be no more."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for port in (9, 53):
            sender.sendto(b"", (NAME_SERVER, port))


def _inodes(port: int) -> Iterator[str]:
    for table in ("/proc/self/net/udp", "/proc/self/net/udp6"):
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _unshare(flags: int) -> None:
    _checked(_libc().unshare(flags), "unshare")


def _mount(source: str, target: str, flags: int) -> None:
    _checked(_libc().mount(source.encode(), target.encode(), None, flags, None), f"mount on {target}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _start_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH22x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH22x", b"lo", flags | _UP))


def _make_local(family: socket.AddressFamily, source: str) -> None:
    """Like `ip route add local default dev lo src SOURCE`."""
    scope = _HOST_SCOPE if family == socket.AF_INET else 0
    route = struct.pack("BBBBBBBBI", family, 0, 0, 0, _LOCAL_TABLE, _STATIC, scope, _LOCAL_ROUTE, 0)
    route += _attribute(_OUT_DEVICE, struct.pack("I", socket.if_nametoindex("lo")))
    route += _attribute(_PREFERRED_SOURCE, socket.inet_pton(family, source))
    message = struct.pack("IHHII", 16 + len(route), _NEW_ROUTE, _REQUEST_ACK_CREATE, 1, 0) + route
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.bind((0, 0))
        netlink.send(message)
        (code,) = struct.unpack_from("i", netlink.recv(4096), 16)
    if code:
        raise OSError(-code, f"a route for {source}: {os.strerror(-code)}")


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("HH", 4 + len(value), kind) + value


def _take_over_names(folder: Path) -> None:
    """Whoever looks a name up asks us, and no service outside that a file or socket leads to."""
    _mount("none", "/", _RECURSIVE | _PRIVATE)
    _stand_in(folder, "/etc/resolv.conf", f"nameserver {NAME_SERVER}\noptions attempts:1 timeout:2\n")
    switch = Path("/etc/nsswitch.conf")
    if switch.is_file():
        text = re.sub(r"^hosts:.*", "hosts: files dns", switch.read_text(), flags=re.MULTILINE)
        _stand_in(folder, str(switch), text)
    cache = Path("/run/nscd")
    if cache.is_dir():
        (folder / "nscd").mkdir(exist_ok=True)
        _mount(str(folder / "nscd"), str(cache), _BIND)


def _stand_in(folder: Path, path: str, text: str) -> None:
    if not Path(path).is_file():
        return
    file = folder / Path(path).name
    file.write_text(text)
    file.chmod(0o644)
    _mount(str(file), str(Path(path).resolve()), _BIND)


def _foreign_packets() -> socket.socket:
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PROTOCOLS))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in _FOREIGN))
    program = struct.pack("HL", len(_FOREIGN), ctypes.addressof(code))
    packets.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
    return packets


def _name_server() -> socket.socket:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((NAME_SERVER, 53))
    return server
