"""Drives Debian's Chromium, without a window, through its debugging pipe: no port, no network.

    with Browser() as browser:
        page = browser.open("/path/of/a/page.html")
        page.evaluate("document.title")

What a page says on its console that is a warning or an error, and what it throws, is in page.complaints.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = os.environ.get("CHROMIUM", "chromium")
LIMIT = 120  # seconds: what hangs is told from a machine that has much else to do


def there():
    return shutil.which(PROGRAM) is not None


class Wrong(Exception):
    """What the browser refuses, or does not do in time."""


class Browser:
    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="pages-")
        to_read, self.to_write = os.pipe()
        self.to_read, to_write = os.pipe()
        self.number, self.events, self.buffer = 0, [], b""

        def ends():
            """The browser reads from 3 and writes to 4."""
            high = [os.dup2(end, 100 + i) for i, end in enumerate((to_read, to_write))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
             "--remote-debugging-pipe", "--user-data-dir=" + self.directory, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=ends, close_fds=False, env=dict(os.environ, HOME=self.directory, TMPDIR=self.directory),
            start_new_session=True)
        os.close(to_read)
        os.close(to_write)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except Wrong:
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.to_read)
        os.close(self.to_write)
        shutil.rmtree(self.directory, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.to_read], [], [], left)[0]:
                raise Wrong("the browser does not answer")
            piece = os.read(self.to_read, 1 << 20)
            if not piece:
                raise Wrong("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + LIMIT
        while True:
            answer = self.receive(until)
            if "id" not in answer:
                self.events.append(answer)
            elif answer["id"] == self.number:
                if "error" in answer:
                    raise Wrong(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def wait(self, session, method):
        """The next event of that name, and those before it stay."""
        until = time.monotonic() + LIMIT
        while True:
            for event in self.events:
                if event.get("sessionId") == session and event["method"] == method:
                    self.events.remove(event)
                    return event["params"]
            event = self.receive(until)
            if "id" not in event:
                self.events.append(event)

    def open(self, path, width=1280, height=1000):
        return Page(self, path, width, height)


class Page:
    def __init__(self, browser, path, width, height):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        browser.wait(self.session, "Page.loadEventFired")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Wrong(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def key(self, key, shift=False):
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Enter": 13, "Tab": 9}
        event = {"key": key, "modifiers": 8 if shift else 0}
        event["windowsVirtualKeyCode"] = codes.get(key, ord(key[0]))
        if key == "Enter":
            event["text"] = "\r"
        elif len(key) == 1:
            event["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=event["modifiers"])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def complaints(self):
        """All that was said so far; requests that leave the machine among it."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"].get("exception", {}).get("description")))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("warning", "error"):
                found.append(parameters["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("warning", "error", "assert"):
                found.append(str(parameters["args"]))
            elif method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("file://", "about:", "data:")):
                    found.append("asks for " + url)
        return found

    def screenshot(self, path, clip=None):
        """The whole page, or the rectangle (x, y, width, height) of it."""
        parameters = {"format": "png", "captureBeyondViewport": True}
        if clip:
            parameters["clip"] = dict(zip(("x", "y", "width", "height"), clip), scale=1)
        data = base64.b64decode(self.call("Page.captureScreenshot", **parameters)["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data
