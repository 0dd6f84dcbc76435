import Glibc
import Recordings
import Synchronization

/// The answers to signals where no service takes them: before the program's services run, and in commands that make a file.
enum SignalHandling {
    /// Whether SIGHUP came before a service could answer it; set in a signal handler.
    static let hangUpCameEarly = Atomic<Bool>(false)

    /// Whether SIGHUP ends the program: where a person's terminal is gone, the program must not live on with the key.
    ///
    /// To a service it is the request to load its files again (systemd's `ExecReload`), and it must not die of it.
    static func hangUpEndsProgram(hasScreen: Bool) -> Bool {
        hasScreen || ProcessEnvironment.current.hasTerminal
    }

    /// Lets SIGTERM and SIGINT, and with a terminal SIGHUP, end the program with status 0 until the services take them:
    /// there is nothing to close yet.
    static func endAtOnce() {
        let reloads = !Self.hangUpEndsProgram(hasScreen: false)
        // Touched here: a handler must not be the first.
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

    /// Removes the unfinished file of a command when SIGINT, SIGTERM or SIGHUP ends it; it ends by the signal, as scripts and
    /// shells expect.
    static func removeUnfinishedFile() {
        // Touched here: a handler must not be the first.
        UnfinishedFile.remove()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            Self.answer(number) { number in
                UnfinishedFile.remove()
                signal(number, SIG_DFL)
                // It is held back until the handler has returned.
                raise(number)
            }
        }
    }

    /// Installs a handler; a signal that was ignored when the program started (`nohup`) stays ignored.
    private static func answer(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        let before = signal(number, handler)
        if unsafeBitCast(before, to: Int.self) == 1 { signal(number, SIG_IGN) }
    }
}
