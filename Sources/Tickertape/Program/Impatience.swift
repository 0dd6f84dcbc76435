import Glibc
import ServiceLifecycle
import Terminal
import UnixSignals

/// The answer to a second signal: who asks twice wants the end at once.
enum Impatience {
    /// How long the rest of a stop may then take.
    private static let limit = Duration.milliseconds(500)

    /// Counts the signals that ask for the end; the service group takes only the first.
    ///
    /// - Parameter cut: ends what the stop waits for.
    static func part(cut: @escaping @Sendable () -> Void) -> ProgramPart {
        ProgramPart("impatience") {
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            await cancelWhenGracefulShutdown {
                var count = 0
                for await signal in signals {
                    count += 1
                    guard count == 2 else { continue }
                    cut()
                    // Not a part of the stop: it must go on when that is over.
                    Task.detached {
                        try await Task.sleep(for: Self.limit)
                        TerminalDisplay.giveBackTerminal()
                        _exit(128 + signal.number)
                    }
                }
            }
        }
    }
}

extension UnixSignal {
    fileprivate var number: Int32 {
        switch self {
        case .sigint: SIGINT
        default: SIGTERM
        }
    }
}
