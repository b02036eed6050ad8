"""Real sshd on the hosts of a farm, with keys made for the test.

    with Farm(3) as farm:
        Sshd(farm)
        farm.run("a", ["ssh", "b", "hostname"], user=farm.user)

The farm's user, and root, can log in on every host without a password, and knows every host's key.  password_on
names hosts that know no key of the user's and ask for a password instead; strangers, hosts whose own
key the user does not know.  All of it is in the user's home, where ssh looks for it.
"""
import os
import shutil
import subprocess

from farm import FarmError, USER

SSHD = "/usr/sbin/sshd"


class Sshd:
    """The servers; they end with the farm."""

    def __init__(self, farm, hosts=None, password_on=(), strangers=()):
        if not farm.user:
            raise FarmError("sshd needs a farm made by root")
        self.farm, self.password_on, self.strangers = farm, set(password_on), set(strangers)
        self.servers = {}
        os.makedirs(farm.path("ssh"), exist_ok=True)
        self.make_users()
        for name in hosts or farm.names:
            self.start(name)

    def key(self, name):
        path = self.farm.path("ssh", name)
        if not os.path.exists(path):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path],
                           check=True)
        with open(path + ".pub") as file:
            return file.read()

    def make_users(self):
        """What the users have in ~/.ssh."""
        farm = self.farm
        public = self.key("user")
        for home, owner in ((farm.home, USER[1]), (farm.root_home, 0)):
            self.make_home(os.path.join(home, ".ssh"), owner, public)

    def make_home(self, directory, owner, public):
        farm = self.farm
        os.makedirs(directory, exist_ok=True)
        shutil.copy(farm.path("ssh", "user"), os.path.join(directory, "id_ed25519"))
        known = "".join(f"{host.name},{host.address} {self.key(host.name)}"
                        for host in farm.hosts.values() if host.name not in self.strangers)
        for name, text in (("id_ed25519.pub", public), ("authorized_keys", public),
                           ("known_hosts", known)):
            with open(os.path.join(directory, name), "w") as file:
                file.write(text)
        for path in [directory] + [os.path.join(directory, name) for name in os.listdir(directory)]:
            os.chown(path, owner, owner)
            os.chmod(path, 0o700 if path == directory else 0o600)

    def start(self, name):
        """Starts (again, after a host was booted) the server of one host; it accepts then."""
        farm = self.farm
        self.key(name)
        asks = name in self.password_on
        config = farm.write(f"ssh/{name}.config", "\n".join([
            f"HostKey {farm.path('ssh', name)}", "PidFile none", "UsePAM no", "PermitRootLogin yes", "UseDNS no",
            "StrictModes no", "MaxStartups 200:30:500", "MaxSessions 200", "LogLevel VERBOSE",
            f"PubkeyAuthentication {'no' if asks else 'yes'}",
            f"PasswordAuthentication {'yes' if asks else 'no'}",
            "AuthorizedKeysFile .ssh/authorized_keys", "X11Forwarding no", "PrintMotd no"]) + "\n",
            0o600)
        farm.run(name, ["mkdir", "-p", "/run/sshd"])
        log = farm.path("ssh", f"{name}.log")
        self.servers[name] = farm.popen(name, [SSHD, "-D", "-E", log, "-f", config],
                                        stdin=subprocess.DEVNULL, start_new_session=True)
        done = farm.run(name, ["python3", "-c", WAIT])
        if done.returncode != 0 or self.servers[name].poll() is not None:
            with open(log) as file:
                raise FarmError(f"sshd on {name}: {file.read()}{done.stderr}")

    def log(self, name):
        with open(self.farm.path("ssh", f"{name}.log")) as file:
            return file.read()


# Until something listens on port 22.
WAIT = """
import socket, time
end = time.monotonic() + 30
while True:
    try:
        socket.create_connection(("127.0.0.1", 22), 5)
        break
    except OSError:
        assert time.monotonic() < end, "nothing listens"
        time.sleep(0.01)
"""
