"""A service manager of one service: it holds the listening socket as systemd does, starts the service, and prints its
notifications.

    service_manager.py PROGRAM ARGUMENT…      SIGUSR1 restarts by SIGTERM, SIGUSR2 by SIGKILL, SIGTERM stops

With TEAR=FOLDER in the environment, a SIGKILL also tears the last line of the newest recording in that folder.
"""
import glob
import os
import signal
import socket
import sys
import tempfile
import threading

listening = socket.create_server(("127.0.0.1", 0), backlog=64)
folder = tempfile.mkdtemp()
told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
told.bind(f"{folder}/notify")


def say(*words):
    print(*words, flush=True)


def hear():
    while True:
        for line in told.recv(4096).decode().split("\n"):
            say("told", line)


def begin():
    os.environ.update(LISTEN_FDS="1", LISTEN_FDNAMES="relay", NOTIFY_SOCKET=f"{folder}/notify", WATCHDOG_USEC="400000")
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        try:
            # The socket becomes descriptor 3, and LISTEN_PID names this process.
            os.dup2(listening.fileno(), 3)
            # If it already was descriptor 3, dup2 did nothing, and exec would close it.
            os.set_inheritable(3, True)
            os.environ["LISTEN_PID"] = str(os.getpid())
            os.execv(sys.argv[1], sys.argv[1:])
        finally:
            os._exit(127)
    say("started", child)
    return child


def end(child, number):
    os.kill(child, number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM])
threading.Thread(target=hear, daemon=True).start()
say("listening", listening.getsockname()[1])
child = begin()
while True:
    order = signal.sigwait([signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM])
    say("ended", end(child, signal.SIGKILL if order == signal.SIGUSR2 else signal.SIGTERM))
    if order == signal.SIGTERM:
        break
    if order == signal.SIGUSR2 and "TEAR" in os.environ:
        with open(max(glob.glob(os.environ["TEAR"] + "/*.jsonl"), key=os.path.getmtime), "a") as recording:
            recording.write('{"at":1,"seq":7,"trades":1,"fra')
    child = begin()
