import Glibc

/// The answer to a signal that asks for the end before the parts of the program run: there is nothing to close yet.
enum EarlyStop {
    /// Lets SIGTERM, SIGINT and SIGHUP end the program with status 0, until the service group takes them.
    ///
    /// A signal that whoever started the program had it ignore (`nohup`) stays ignored.
    static func take() {
        for number in [SIGTERM, SIGINT, SIGHUP] {
            let before = signal(number) { _ in _exit(0) }
            if unsafeBitCast(before, to: Int.self) == 1 { signal(number, SIG_IGN) }
        }
    }
}
