import Glibc

/// An output descriptor whose writes never wait in the kernel, whatever the reader does.
///
/// `O_NONBLOCK` belongs to the open file, which standard output shares with the shell and its other programs, so it is
/// never set on the given descriptor. A terminal is opened a second time, a socket is written with a flag, and a pipe
/// gets pieces for which `poll` has reported buffer space. Owns only the descriptor that it opens.
package final class PollingOutput: Sendable {
    package enum Outcome: Equatable {
        case wrote(Int)
        /// No buffer space; `poll` for `POLLOUT`.
        case full
        /// The reader has gone for good.
        case closed
        /// The system refuses the bytes, for a reason such as a full disk; the error number.
        case failed(Int32)
    }

    private enum Mode {
        case whole
        case pieces
        case socket
    }

    /// The descriptor for `poll`, and for reading keys from a terminal.
    package let descriptor: Int32
    private let owns: Bool
    private let mode: Mode

    package init(_ given: Int32) {
        var facts = stat()
        let kind = fstat(given, &facts) == 0 ? facts.st_mode & S_IFMT : S_IFREG
        switch kind {
        case S_IFCHR where isatty(given) == 1:
            if let own = Self.openAgain(given) {
                (self.descriptor, self.owns, self.mode) = (own, true, .whole)
            } else {
                (self.descriptor, self.owns, self.mode) = (given, false, .pieces)
            }
        case S_IFIFO: (self.descriptor, self.owns, self.mode) = (given, false, .pieces)
        case S_IFSOCK: (self.descriptor, self.owns, self.mode) = (given, false, .socket)
        // A file, or a device such as /dev/null, takes all bytes at once.
        default: (self.descriptor, self.owns, self.mode) = (given, false, .whole)
        }
    }

    deinit {
        if self.owns { close(self.descriptor) }
    }

    /// Writes as many of `bytes` as there is buffer space for.
    package func write(_ bytes: ArraySlice<UInt8>) -> Outcome {
        guard !bytes.isEmpty else { return .wrote(0) }
        while true {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                switch self.mode {
                case .whole: return Glibc.write(self.descriptor, buffer.baseAddress, buffer.count)
                case .pieces:
                    guard self.hasRoom() else {
                        errno = EAGAIN
                        return -1
                    }
                    return Glibc.write(self.descriptor, buffer.baseAddress, min(buffer.count, Int(PIPE_BUF)))
                case .socket:
                    return send(self.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                }
            }
            if count >= 0 { return .wrote(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .full
            // The reader or the terminal has gone.
            case EPIPE, EIO, ECONNRESET, EBADF: return .closed
            case let number: return .failed(number)
            }
        }
    }

    /// Whether a pipe has buffer space for `PIPE_BUF` bytes, which `POLLOUT` means for a pipe (pipe(7)).
    private func hasRoom() -> Bool {
        var polled = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&polled, 1, 0) > 0
    }

    /// Opens the terminal behind `given` once more, without waiting and without making it the controlling one.
    private static func openAgain(_ given: Int32) -> Int32? {
        var name = [CChar](repeating: 0, count: 256)
        let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
        let own = open("/proc/self/fd/\(given)", flags)
        if own >= 0 { return own }
        guard ttyname_r(given, &name, name.count) == 0 else { return nil }
        let named = open(name, flags)
        return named >= 0 ? named : nil
    }
}
