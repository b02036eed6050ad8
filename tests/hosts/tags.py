"""Which host owns a tag of the dataspace."""


def owner(tag, hosts):
    """As dataspace_owner has it, of so many hosts that have processes, the number of the host among these."""
    digest = 0xcbf29ce484222325
    for byte in tag.encode():
        digest = (digest ^ byte) * 0x100000001b3 % 2**64
    digest ^= digest >> 32
    return digest * 0x9e3779b97f4a7c15 % 2**64 % hosts


def tag_of(host, hosts):
    """A tag that belongs to that host."""
    return next(tag for tag in (f"tag{i}" for i in range(1000)) if owner(tag, hosts) == host)
