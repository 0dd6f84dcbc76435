import Glibc

/// The answer to a signal that asks for the end before the parts of the program run: there is nothing to close yet.
enum EarlyStop {
    /// Lets SIGTERM and SIGINT, and with a terminal SIGHUP, end the program with status 0, until the service group takes
    /// them. A service does not end by SIGHUP (``HangUp``), and answers it as soon as it runs.
    ///
    /// A signal that whoever started the program had it ignore (`nohup`) stays ignored.
    static func take() {
        let reloads = !HangUp.endsProgram(hasScreen: false)
        // Touched here: a handler must not be the first.
        HangUp.cameEarly.store(false, ordering: .sequentiallyConsistent)
        for number in [SIGTERM, SIGINT, SIGHUP] {
            let before =
                number == SIGHUP && reloads
                ? signal(number) { _ in HangUp.cameEarly.store(true, ordering: .sequentiallyConsistent) }
                : signal(number) { _ in _exit(0) }
            if unsafeBitCast(before, to: Int.self) == 1 { signal(number, SIG_IGN) }
        }
    }
}
