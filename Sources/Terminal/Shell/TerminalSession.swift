import Glibc
import Platform

/// The entry to and the exit from the alternate screen, with the queue of bytes for the terminal.
struct TerminalSession {
    /// The time limit of the last bytes on a terminal that has stopped reading, ns.
    private static let leaveLimit: Int64 = 500_000_000

    let device: TerminalDevice
    /// The bytes that the terminal has not accepted yet.
    private(set) var pending: ArraySlice<UInt8> = []
    /// Whether the program uses the alternate screen now.
    private(set) var isInside = false
    /// Whether the screen was entered and not left, so that the original title is on the terminal's stack.
    private var hasEntered = false

    /// Whether the terminal reports the mouse while the program uses its screen.
    private var takesMouse: Bool

    init(_ device: TerminalDevice, takesMouse: Bool = false) {
        self.device = device
        self.takesMouse = takesMouse
    }

    /// Makes the terminal report the mouse, or leave it alone.
    mutating func takeMouse(_ takesMouse: Bool) {
        self.takesMouse = takesMouse
        if self.isInside { self.pending += takesMouse ? TerminalModes.mouseOn : TerminalModes.mouseOff }
    }

    /// Appends `bytes` to the queue.
    mutating func send(_ bytes: [UInt8]) { self.pending += bytes }

    /// Writes the bytes that the terminal accepts; `false` when it is gone.
    mutating func flush() -> Bool {
        while !self.pending.isEmpty {
            switch self.device.write(self.pending) {
            case .wrote(let count): self.pending = self.pending.dropFirst(count)
            case .full: return true
            case .closed, .failed: return false
            }
        }
        return true
    }

    /// Takes the terminal if the job is in the foreground; returns whether it did.
    mutating func enter() -> Bool {
        guard !self.isInside else { return false }
        guard self.device.isOurs else {
            // In the background, the screen belongs to the shell.
            self.pending = []
            TerminalRescue.disarm()
            return false
        }
        self.isInside = true
        self.device.takeKeys()
        self.pending = (self.hasEntered ? TerminalModes.enterAgain : TerminalModes.enter)[...]
        if self.takesMouse { self.pending += TerminalModes.mouseOn }
        self.hasEntered = true
        return true
    }

    /// Takes the terminal again after a stop in which the job could not restore it, such as SIGSTOP; returns whether it
    /// did.
    mutating func comeBack() -> Bool {
        self.isInside = false
        let before = self.pending
        guard self.enter() else { return false }
        // The interrupted frame is finished, since the terminal may be waiting for its end.
        self.pending = before + self.pending
        return true
    }

    /// Restores the terminal, as far as it accepts the bytes within the limit; returns whether it accepted all.
    mutating func leave() -> Bool {
        // Also for a job that continued in the background: the alternate screen is still on, and only this sequence
        // leaves it.
        guard self.hasEntered else { return false }
        if !self.isInside { self.pending = [] }
        self.isInside = false
        self.hasEntered = false
        self.pending += TerminalModes.leave
        TerminalDevice.withoutStops { self.writeLast() }
        let isWritten = self.pending.isEmpty
        self.pending = []
        self.device.giveBack()
        return isWritten
    }

    /// Writes the queued bytes within the time limit.
    private mutating func writeLast() {
        let limit = SystemClock.monotonic() + Self.leaveLimit
        while self.flush(), !self.pending.isEmpty {
            let left = limit - SystemClock.monotonic()
            guard left > 0 else { break }
            var descriptors = [pollfd(fd: self.device.descriptor, events: Int16(POLLOUT), revents: 0)]
            SystemClock.wait(&descriptors, nanoseconds: left)
        }
    }
}
