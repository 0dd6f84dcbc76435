import Glibc

/// The two standard streams, written whole and without buffering.
enum Console {
    /// Prints a line to standard output.
    ///
    /// A closed pipe ends the program as it does any filter; no other failure leaves anything to be told to anybody.
    static func print(_ line: String) {
        self.write(line + "\n", to: STDOUT_FILENO)
    }

    /// Prints a line to standard error, with the program's name.
    static func complain(_ line: String) {
        self.write("tickertape: \(line)\n", to: STDERR_FILENO)
    }

    /// Prints lines to standard error as they are.
    static func complain(lines: String) {
        self.write("\(lines)\n", to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            bytes.removeFirst(count)
        }
    }
}
