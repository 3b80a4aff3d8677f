# ===- browser.py - A report in a browser ----------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Opens a report in headless Chromium, over the pipe of its protocol for tools: no message on the
console, no request but for the page, sections there, keys visit the shapes of a picture, and in a
narrow window nothing but pictures and tables scrolls sideways.

    browser.py PAGE [FOLDER]

With a folder, pictures of each section in light, dark and narrow windows are put there, to be looked at.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


class Browser:
    """Commands go out and answers come in as JSON texts that end in a zero byte."""

    def __init__(self, profile):
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        program = next(filter(None, map(shutil.which, BROWSERS)))
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        launch = f"exec '{program}' {' '.join(flags)} --remote-debugging-pipe 3<&{to_read} 4>&{to_write} >/dev/null 2>&1"
        self.process = subprocess.Popen(["bash", "-c", launch], pass_fds=(to_read, to_write))
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 16)
            if not more:
                raise SystemExit("FAILED: the browser ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **arguments):
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"FAILED: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        while not any(each.get("method") == event for each in self.events):
            self.events.append(self.receive())

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"FAILED: {script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"Tab": 9}.get(key, 39))

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, page):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(1200)
        self.call("Page.navigate", url=page.as_uri())
        self.wait_for("Page.loadEventFired")


def expect(what, expected, got):
    if expected != got:
        raise SystemExit(f"FAILED: {what}: expected {expected}, got {got}")


def check(browser, page):
    sections = browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)")
    for section in sections:
        height = browser.evaluate(f"document.querySelector('#{section}').getBoundingClientRect().height")
        expect(f"a height of section {section}", True, height > 60)
    empty = "[...document.querySelectorAll('svg rect.b, svg polygon.b')].filter(r => !(r.getBBox().width >= 0 && r.getBBox().height > 0)).length"
    expect("shapes without a size", 0, browser.evaluate(empty))
    # From the last link on, a tab leads to the first picture; arrows visit its shapes.
    browser.evaluate("document.querySelector('nav a:last-child').focus()")
    browser.press("Tab")
    expect("what has the focus", "FIGURE", browser.evaluate("document.activeElement.tagName"))
    texts = []
    for _ in range(3):
        browser.press("ArrowRight")
        texts.append(browser.evaluate("document.activeElement.querySelector('.detail').textContent"))
    expect("three shapes that say what they are", 3, len(set(filter(None, texts))))
    for width in (1200, 700, 360):
        browser.resize(width)
        expect(f"the width of the page in a window of {width}", width, browser.evaluate("document.documentElement.scrollWidth"))
    browser.resize(1200)
    messages = [e for e in browser.events if e.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    expect("messages on the console", [], messages)
    asked = {e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"}
    expect("requests", {page.as_uri()}, asked)
    print(f"{len(sections)} sections: {', '.join(sections)}; no message, 1 request")


def shoot(browser, folder):
    for name, scheme, width in (("light", "light", 1200), ("dark", "dark", 1200), ("narrow", "light", 360)):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.resize(width)
        for section in ("header", *browser.evaluate("[...document.querySelectorAll('section')].map(s => '#' + s.id)")):
            box = browser.evaluate(f"(b => ({{x: 0, y: b.y + scrollY, width: {width}, height: Math.min(b.height, 1500), scale: 1}}))"
                                   f"(document.querySelector('{section}').getBoundingClientRect())")
            data = browser.call("Page.captureScreenshot", clip=box, captureBeyondViewport=True)["data"]
            (folder / f"{name}-{section.strip('#')}.png").write_bytes(base64.b64decode(data))


def main():
    page = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            browser.open(page)
            check(browser, page)
            if len(sys.argv) > 2:
                shoot(browser, pathlib.Path(sys.argv[2]))
        finally:
            browser.process.kill()
            browser.process.wait()


main()
