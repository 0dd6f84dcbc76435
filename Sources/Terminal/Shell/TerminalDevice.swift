import Glibc
import Platform

/// A terminal: its modes, its size, its input and its output. No operation blocks.
final class TerminalDevice: Sendable {
    private let output: PollingOutput
    /// Whether frames have links.
    private let hasLinks: Bool
    /// The original modes.
    private let modes: termios

    var descriptor: Int32 { self.output.descriptor }

    /// - Throws: ``SystemCallFailure`` when `given` is not a terminal.
    init(_ given: Int32, hasLinks: Bool = false) throws(SystemCallFailure) {
        self.hasLinks = hasLinks
        self.output = PollingOutput(given)
        var modes = termios()
        guard tcgetattr(self.output.descriptor, &modes) == 0 else {
            throw SystemCallFailure(call: "tcgetattr", number: errno)
        }
        self.modes = modes
    }

    /// Whether the job may use the terminal: it is in the foreground, or the terminal does not control this session.
    var isOurs: Bool {
        let foreground = tcgetpgrp(self.descriptor)
        return foreground < 0 || foreground == getpgrp()
    }

    /// Enters raw mode: single keys without echo, Ctrl-C and Ctrl-Z as bytes, and no flow control by Ctrl-S, which
    /// would stop the output.
    func takeKeys() {
        TerminalRescue.arm(descriptor: self.descriptor, modes: self.modes, hasLinks: self.hasLinks)
        var raw = self.rawModes
        tcsetattr(self.descriptor, TCSANOW, &raw)
    }

    private var rawModes: termios {
        var raw = self.modes
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON)
        withUnsafeMutableBytes(of: &raw.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        return raw
    }

    /// Whether the modes are still those of ``takeKeys()``.
    private var hasRawModes: Bool {
        var modes = termios()
        guard tcgetattr(self.descriptor, &modes) == 0 else { return false }
        let raw = self.rawModes
        return modes.c_lflag == raw.c_lflag && modes.c_iflag == raw.c_iflag
    }

    /// Blocks SIGTTOU during `body`, so that a background job can write to the terminal without being stopped.
    static func withoutStops(_ body: () -> Void) {
        var stop = sigset_t()
        sigemptyset(&stop)
        sigaddset(&stop, SIGTTOU)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &stop, &before)
        body()
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Restores the modes, unless this is a background job and the foreground job has set other modes.
    func giveBack() {
        if self.isOurs || self.hasRawModes {
            var modes = self.modes
            Self.withoutStops { tcsetattr(self.descriptor, TCSANOW, &modes) }
        }
        TerminalRescue.disarm()
    }

    /// The size in columns and lines; 80×24 if the terminal does not know it.
    var size: ScreenGrid.Size {
        var window = winsize()
        guard ioctl(self.descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return ScreenGrid.Size(columns: 80, rows: 24)
        }
        return .bounded(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    enum Input {
        case bytes([UInt8])
        case nothing
        case closed
    }

    /// Reads the typed bytes.
    func read() -> Input {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(self.descriptor, &bytes, bytes.count)
        if count > 0 { return .bytes(Array(bytes[..<count])) }
        if count < 0, errno == EAGAIN || errno == EINTR { return .nothing }
        return .closed
    }

    func write(_ bytes: ArraySlice<UInt8>) -> PollingOutput.Outcome {
        self.output.write(bytes)
    }
}
