import Glibc
import Recordings
import Synchronization

/// The handlers of signals outside the services: before the services run, and in commands that create a file.
enum SignalHandling {
    /// Whether SIGHUP arrived before a service could handle it; set in a signal handler.
    static let hangUpCameEarly = Atomic<Bool>(false)

    /// Whether SIGHUP ends the program. After the user's terminal has closed, the program must not run on with the key.
    ///
    /// For a service, SIGHUP requests a reload of its files (systemd's `ExecReload`) and must not end it.
    static func hangUpEndsProgram(hasScreen: Bool) -> Bool {
        hasScreen || ProcessEnvironment.current.hasTerminal
    }

    /// Lets SIGUSR1 and SIGUSR2, the clicks on a status bar, have no effect until a service handles them: a `pkill` for the
    /// bars also reaches the other commands, such as a long export.
    static func passOverClicks() {
        for number in [SIGUSR1, SIGUSR2] { Self.answer(number) { _ in } }
    }

    /// Lets SIGTERM and SIGINT, and with a terminal SIGHUP, end the program with status 0 until the services handle
    /// them. Nothing needs closing before that.
    static func endAtOnce() {
        let reloads = !Self.hangUpEndsProgram(hasScreen: false)
        // Initialises the lazy global here, since a signal handler must not do it.
        Self.hangUpCameEarly.store(false, ordering: .sequentiallyConsistent)
        for number in [SIGTERM, SIGINT] { Self.answer(number) { _ in _exit(0) } }
        if reloads {
            Self.answer(SIGHUP) { _ in
                SignalHandling.hangUpCameEarly.store(true, ordering: .sequentiallyConsistent)
            }
        } else {
            Self.answer(SIGHUP) { _ in _exit(0) }
        }
    }

    /// Removes the unfinished file of a command when SIGINT, SIGTERM or SIGHUP ends it. The program ends by the signal,
    /// as scripts and shells expect.
    static func removeUnfinishedFile() {
        // Initialises the lazy globals here, since a signal handler must not do it.
        UnfinishedFile.remove()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            Self.answer(number) { number in
                UnfinishedFile.remove()
                signal(number, SIG_DFL)
                // The signal is blocked until the handler returns.
                raise(number)
            }
        }
    }

    /// Installs a handler. A signal that was ignored at the start (`nohup`) stays ignored.
    private static func answer(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        let before = signal(number, handler)
        if unsafeBitCast(before, to: Int.self) == 1 { signal(number, SIG_IGN) }
    }
}
