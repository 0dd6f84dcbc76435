import Glibc

/// A pseudo-terminal, whose output the benchmark reads.
final class Terminal {
    // `unlockpt` and `ptsname`, which the C library declares only on request (ioctl_tty(2)).
    private static let unlock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    private let descriptor: Int32
    /// The path of the program's end.
    let path: String
    private var shown: [UInt8] = []
    private var scratch = [UInt8](repeating: 0, count: 1 << 16)

    init(columns: UInt16, lines: UInt16) throws {
        self.descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: UInt32 = 0
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard self.descriptor >= 0, ioctl(self.descriptor, Self.unlock, &lock) == 0,
            ioctl(self.descriptor, Self.number, &number) == 0,
            ioctl(self.descriptor, UInt(TIOCSWINSZ), &size) == 0
        else { throw BenchmarkFailure.call("ptmx") }
        self.path = "/dev/pts/\(number)"
    }

    deinit { close(self.descriptor) }

    /// Reads the output that is written within this time.
    func take(milliseconds: Int32) throws {
        var polled = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, milliseconds) > 0, Int32(polled.revents) & POLLIN != 0 else { return }
        let count = read(self.descriptor, &self.scratch, self.scratch.count)
        guard count > 0 else { throw BenchmarkFailure("the program has left its terminal") }
        self.shown += self.scratch[..<count]
    }

    /// Whether a text was written since the last `forget`.
    func shows(_ text: [UInt8]) -> Bool {
        guard self.shown.count >= text.count else { return false }
        return (0...self.shown.count - text.count).contains { self.shown[$0..<$0 + text.count].elementsEqual(text) }
    }

    /// The output since the last `forget`, with visible escape sequences.
    var text: String { String(decoding: self.shown, as: UTF8.self).replacing("\u{1B}", with: "^[") }

    func forget() { self.shown.removeAll(keepingCapacity: true) }

    /// Waits for a text.
    func wait(for text: [UInt8], milliseconds: Int) throws -> Bool {
        let limit = Clock.now() + Int64(milliseconds) * 1_000_000
        while Clock.now() < limit {
            if self.shows(text) {
                self.forget()
                return true
            }
            try self.take(milliseconds: 1)
        }
        return false
    }

    /// Discards the output that is written within this time.
    func discard(milliseconds: Int) throws {
        let limit = Clock.now() + Int64(milliseconds) * 1_000_000
        while Clock.now() < limit { try self.take(milliseconds: 10) }
        self.forget()
    }
}
