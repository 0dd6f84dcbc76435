import Glibc
import Platform

/// The way into the alternate screen and out of it, and the bytes on their way to the terminal.
struct TerminalSession {
    /// How long the last bytes may take on a terminal that has stopped reading.
    private static let leaveLimit: Int64 = 500_000_000

    let device: TerminalDevice
    /// What is on its way to the terminal.
    private(set) var pending: ArraySlice<UInt8> = []
    /// Whether the alternate screen is ours at the moment.
    private(set) var isInside = false
    /// Whether it was entered and not left since: the title of before lies on the terminal's stack.
    private var hasEntered = false

    init(_ device: TerminalDevice) {
        self.device = device
    }

    /// Writes `bytes` behind what is on its way.
    mutating func send(_ bytes: [UInt8]) { self.pending += bytes }

    /// Writes what the terminal takes; `false` when it is gone.
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

    /// Takes the terminal, if the job is in front; says whether it was taken now.
    mutating func enter() -> Bool {
        guard !self.isInside else { return false }
        guard self.device.isOurs else {
            // In the background the screen is the shell's.
            self.pending = []
            TerminalRescue.disarm()
            return false
        }
        self.isInside = true
        self.device.takeKeys()
        self.pending = (self.hasEntered ? TerminalModes.enterAgain : TerminalModes.enter)[...]
        self.hasEntered = true
        return true
    }

    /// Takes the terminal anew where the job was stopped without a chance to give it back, as by SIGSTOP; says whether it
    /// was taken.
    mutating func comeBack() -> Bool {
        self.isInside = false
        let before = self.pending
        guard self.enter() else { return false }
        // A frame that was under way is finished, or the terminal would wait for its end.
        self.pending = before + self.pending
        return true
    }

    /// Gives the terminal back, as far as it takes the bytes within the limit; says whether it took all.
    mutating func leave() -> Bool {
        // Also where the job came back behind another one: the alternate screen is still on, and only this leaves it.
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

    /// Writes what is on its way, for as long as the limit.
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
