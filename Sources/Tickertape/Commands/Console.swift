import Glibc
import Synchronization

/// The two standard streams, written whole and without buffering.
enum Console {
    /// The system's number for why standard output did not take a line, the first time; 0 where it took all.
    private static let failureNumber = Atomic<Int32>(0)

    /// Why standard output did not take all that was printed, as a full disk does not.
    static var failure: String? {
        let number = self.failureNumber.load(ordering: .relaxed)
        return number == 0 ? nil : String(cString: strerror(number))
    }

    /// Prints a line to standard output.
    ///
    /// A closed pipe ends the program as it does any filter; of any other failure ``failure`` tells at the end.
    static func print(_ line: String) {
        let number = self.write(line + "\n", to: STDOUT_FILENO)
        guard number != 0, number != EPIPE else { return }
        _ = self.failureNumber.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }

    /// Prints a line to standard error, with the program's name.
    static func complain(_ line: String) {
        self.write("tickertape: \(line)\n", to: STDERR_FILENO)
    }

    /// Prints lines to standard error as they are.
    static func complain(lines: String) {
        self.write("\(lines)\n", to: STDERR_FILENO)
    }

    /// Answers with the system's number for what went wrong, or 0.
    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            bytes.removeFirst(count)
        }
        return 0
    }
}
