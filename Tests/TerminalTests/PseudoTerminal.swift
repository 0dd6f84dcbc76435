import Glibc
import Platform
import TickertapeTesting

/// One end of a pair of descriptors, with a time limit for reads.
struct Reading {
    let descriptor: Int32

    /// Reads until `isEnough`, the end, or the time limit in seconds, which ``Patience`` extends; other tasks run
    /// between two reads.
    func until(_ seconds: Int64 = 10, _ isEnough: (String) -> Bool) async -> String {
        var bytes: [UInt8] = []
        let limit = SystemClock.monotonic() + seconds * 1_000_000_000 * Int64(Patience.factor)
        while !isEnough(String(decoding: bytes, as: UTF8.self)) {
            guard SystemClock.monotonic() < limit else { break }
            var polled = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, 5) > 0 else {
                await Task.yield()
                continue
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(self.descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A terminal without a user: `keyboard` reads what a program writes to `terminal`, and the other way round.
final class PseudoTerminal: Sendable {
    let keyboard: Int32
    let terminal: Int32

    // `unlockpt` and `ptsname`, which the C library declares only on request (ioctl_tty(2)).
    private static let unlock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    init(columns: UInt16, rows: UInt16) throws(SystemCallFailure) {
        self.keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: UInt32 = 0
        guard self.keyboard >= 0, ioctl(self.keyboard, Self.unlock, &lock) == 0,
            ioctl(self.keyboard, Self.number, &number) == 0
        else { throw SystemCallFailure(call: "ptmx", number: errno) }
        self.terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard self.terminal >= 0 else { throw SystemCallFailure(call: "pts", number: errno) }
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(self.terminal, UInt(TIOCSWINSZ), &size)
    }

    deinit {
        close(self.keyboard)
        close(self.terminal)
    }

    var screen: Reading { Reading(descriptor: self.keyboard) }

    func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(self.keyboard, $0.baseAddress, $0.count) }
    }

    /// The terminal's modes, which a program must restore.
    var modes: [UInt32] {
        var modes = termios()
        tcgetattr(self.terminal, &modes)
        return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }
}
