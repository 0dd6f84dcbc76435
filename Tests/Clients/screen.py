#!/usr/bin/env python3
"""Runs a program on a terminal (a pty with the emulator pyte), and checks its screen step by step.

usage: screen.py STEP... -- PROGRAM [ARGUMENT...]

    size:80x24      sets the terminal's size; the first one applies at the start (default: 80x24)
    wait:REGEX      waits until the screen matches, one screen line per line
    absent:REGEX    waits until the screen does not match
    key:TEXT        types the text; \\r, \\x1b and so on have their meaning in Python
    signal:TERM     sends the program a signal
    behind          keeps the program in the background when it continues, as a shell's `bg` does
    stopped         waits until the program is stopped, as by Ctrl-Z
    exit:0          waits until it has ended with this status; exit:-11 is a signal
    restored        checks that the terminal is restored: modes, main screen, cursor, and the title's stack
    clean           checks that the program has sent only known sequences and text: no other control characters, no
                    bidirectional marks, no invisible characters
    show            prints the screen

Each step prints "ok STEP" when it succeeds, within thirty seconds. The first one that fails prints the screen and ends the
run with 1. At all times, no line may exceed the right edge, nothing may scroll, and no sequence may be unknown.
"""
import codecs
import fcntl
import os
import pty
import re
import resource
import select
import signal
import struct
import sys
import termios
import time
import unicodedata

import pyte

# The program would refuse this variable as an unknown setting.
PATIENCE = 30 * float(os.environ.pop("TICKERTAPE_TEST_PATIENCE", "1"))


class Screen(pyte.Screen):
    """A screen that records faults of the program's output."""

    def __init__(self, columns, lines):
        self.faults = []
        # On the main screen, before and after, text may wrap and scroll.
        self.is_drawn = False
        # Output in transit during a resize has the old size; a complete redraw with the new size follows.
        self.is_settling = False
        super().__init__(columns, lines)

    def set_mode(self, *modes, **keywords):
        self.is_drawn = self.is_drawn or 1049 in modes
        super().set_mode(*modes, **keywords)

    def reset_mode(self, *modes, **keywords):
        if 1049 in modes:
            self.is_drawn = False
            self.erase_in_display(2)
        super().reset_mode(*modes, **keywords)

    @property
    def is_judged(self):
        return self.is_drawn and not self.is_settling

    def erase_in_display(self, how=0, *args, **keywords):
        if how == 2:
            self.is_settling = False
        super().erase_in_display(how, *args, **keywords)

    def draw(self, data):
        for character in data:
            if self.is_judged and self.cursor.x >= self.columns and pyte.screens.wcwidth(character) > 0:
                self.faults.append(f"{character!r} behind the right edge of line {self.cursor.y}")
            super().draw(character)

    def index(self):
        if self.is_judged:
            self.faults.append("the picture scrolls")
        super().index()

    def debug(self, *args, **keywords):
        self.faults.append(f"a sequence that is unknown: {args} {keywords}")

    def reset(self):
        self.is_drawn = False
        super().reset()


class Session:
    def __init__(self, command, columns, lines):
        self.screen = Screen(columns, lines)
        self.stream = pyte.Stream(self.screen)
        self.decode = codecs.getincrementaldecoder("utf8")("replace").decode
        self.raw = b""
        self.held = ""
        self.news = []
        reports, report = os.pipe()
        self.supervisor, self.terminal = pty.fork()
        if self.supervisor == 0:
            os.close(reports)
            supervise(command, report, columns, lines)
        os.close(report)
        self.reports = reports
        self.modes = None
        while not self.news:
            self.read(0.05)
        self.program = int(self.news.pop(0).split()[1])

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal, self.reports], [], [], seconds)
        if self.terminal in ready:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                data = b""
            if not data:
                time.sleep(0.02)
            self.raw += data
            self.feed(self.decode(data))
        if self.reports in ready:
            self.news += os.read(self.reports, 4096).decode().splitlines()

    def feed(self, text):
        # An incomplete sequence waits for its end.
        text = self.held + text
        cut = re.search(r"\x1b(\[[0-9;?$>]*|\][^\x1b\x07]*\x1b?|\\)?$", text)
        self.held = text[cut.start() :] if cut else ""
        text = text[: cut.start()] if cut else text
        # Sequences that pyte does not know and would print: synchronised frames, the title's stack, a title's end without a
        # start, queries.
        text = re.sub(r"\x1b\\\x1b\[\?2026l(?=\x1b\[23;0t)", "", text)
        text = re.sub(r"\x1b\[\?2026(\$p|h|l)|\x1b\[[0-9;]*t|\x1b\[>?[cq]", "", text)
        self.stream.feed(text)

    def resize(self, columns, lines):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.is_settling = self.screen.is_drawn
        self.screen.resize(lines, columns)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def is_restored(self):
        def last(sequence):
            return self.raw.rfind(sequence)

        is_main = last(b"\x1b[?1049l") > last(b"\x1b[?1049h")
        is_titled = self.raw.count(b"\x1b[22;0t") == self.raw.count(b"\x1b[23;0t")
        return is_main and is_titled and last(b"\x1b[?25h") > last(b"\x1b[?25l") and self.current() == self.modes

    def foreign(self):
        """Returns the first output that is neither text nor a known sequence; None otherwise."""
        text = self.raw.decode("utf8", "replace")
        # The title, notifications, hyperlinks and the colour query: their contents end with ST and count as text.
        text = re.sub(r"\x1b\](?:2|8|9|11|777);([^\x00-\x1f\x7f-\x9f]*)\x1b\\", r"\1", text)
        text = re.sub(r"\x1b\[[0-9;?<>=$]*[a-zA-Z]|\x1b[=>78]|\x1b\\(?=\x1b\[\?2026l)", "", text)
        # An alert ends with a bell, and the last sequence may be incomplete.
        text = re.sub(r"\x1b[^\x1b]*$", "", text).replace("\x07", "")
        # Cursor movements.
        text = re.sub(r"\r\n?|\x08|\n(?=\x1b|$)", "", text)
        return next((text[max(0, at - 40) : at + 40] for at, character in enumerate(text)
                     if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")), None)

    def current(self):
        return termios.tcgetattr(self.terminal)[:4]

    def take(self, step):
        """Returns whether a waiting step has succeeded."""
        kind, _, value = step.partition(":")
        if kind == "wait":
            return not self.screen.is_settling and re.search(value, self.text(), re.MULTILINE) is not None
        if kind == "absent":
            return not self.screen.is_settling and re.search(value, self.text(), re.MULTILINE) is None
        if kind == "stopped":
            return "stopped" in self.news
        if kind == "exit":
            return f"ended {value}" in self.news
        if kind == "restored":
            return self.is_restored()
        if kind == "clean":
            return self.foreign() is None
        raise SystemExit(f"no such step: {step}")

    def do(self, step):
        """Executes a step that does not wait; returns whether it is one."""
        kind, _, value = step.partition(":")
        if kind == "size":
            columns, lines = map(int, value.split("x"))
            if (columns, lines) != (self.screen.columns, self.screen.lines):
                self.resize(columns, lines)
        elif kind == "key":
            os.write(self.terminal, value.encode("latin-1", "backslashreplace").decode("unicode_escape").encode())
        elif kind == "signal":
            self.news.clear()
            os.kill(self.program, getattr(signal, "SIG" + value))
        elif kind == "behind":
            os.kill(self.supervisor, signal.SIGUSR1)
            end = time.monotonic() + PATIENCE
            while "behind" not in self.news and time.monotonic() < end:
                self.read(0.05)
        elif kind == "show":
            print(self.text(), flush=True)
        else:
            return False
        return True


def supervise(command, report, columns, lines):
    """Starts the program as a shell with job control does, and reports its state changes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    program = os.fork()
    if program == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.close(report)
        os.environ.update(TERM="xterm-256color", LANG="C.UTF-8", COLORFGBG="15;0", SWIFT_BACKTRACE="enable=no")
        os.execvp(command[0], command)
    is_behind = False

    def stay_behind(*_):
        nonlocal is_behind
        is_behind = True
        os.write(report, b"behind\n")

    signal.signal(signal.SIGUSR1, stay_behind)
    os.write(report, f"started {program}\n".encode())
    while True:
        _, status = os.waitpid(program, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.tcsetpgrp(0, os.getpgrp())
            os.write(report, b"stopped\n")
            os.waitid(os.P_PID, program, os.WCONTINUED)
            if not is_behind:
                os.tcsetpgrp(0, program)
            is_behind = False
        else:
            os.write(report, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())
            # The terminal stays open until the parent has read it.
            signal.pause()


def main():
    arguments = sys.argv[1:]
    if "--" not in arguments:
        print(__doc__)
        sys.exit(2)
    steps, command = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    size = next((step[5:] for step in steps if step.startswith("size:")), "80x24")
    session = Session(command, *map(int, size.split("x")))
    # The initial modes of the terminal.
    other, own = pty.openpty()
    session.modes = termios.tcgetattr(own)[:4]
    os.close(own)
    os.close(other)
    failure = None
    for step in steps:
        if not session.do(step):
            end = time.monotonic() + PATIENCE
            while not session.take(step) and not session.screen.faults and time.monotonic() < end:
                session.read(0.05)
            if not session.take(step):
                failure = step
        if session.screen.faults:
            failure = f"{step}: {session.screen.faults[:3]}"
        if failure:
            print(f"FAILED {failure}\n{session.text()}\n{session.news}\n{session.foreign()!r}", flush=True)
            break
        print(f"ok {step}", flush=True)
    for process in (session.program, session.supervisor):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    sys.exit(1 if failure else 0)


if __name__ == "__main__":
    main()
