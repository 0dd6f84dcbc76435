import Glibc
import ServiceLifecycle
import Terminal
import UnixSignals

/// The services that handle signals, beside the ones that stop the program.
enum SignalServices {
    /// The time limit for the rest of a stop after a second signal.
    private static let stopLimit = Duration.milliseconds(500)

    /// Returns the service that ends the program soon after a second SIGTERM or SIGINT. The service group handles only
    /// the first.
    ///
    /// - Parameter cut: ends everything that the stop waits for.
    static func secondStop(cut: @escaping @Sendable () -> Void) -> NamedService {
        NamedService("second-stop") {
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            await cancelWhenGracefulShutdown {
                var count = 0
                for await signal in signals {
                    count += 1
                    guard count == 2 else { continue }
                    cut()
                    // A detached task survives the end of this service.
                    Task.detached {
                        try await Task.sleep(for: Self.stopLimit)
                        TerminalDisplay.giveBackTerminal()
                        await Console.flushErrors()
                        _exit(128 + (signal == .sigint ? SIGINT : SIGTERM))
                    }
                }
            }
        }
    }

    /// Returns the service that ends the program at a signal, also at one that came before the services ran.
    static func stop(at signals: UnixSignalsSequence) -> NamedService {
        NamedService("early-stop") {
            await cancelWhenGracefulShutdown { for await _ in signals { return } }
        }
    }

    /// Returns the service that loads settings and files again at each SIGHUP.
    ///
    /// - Parameter reload: does so and reports it; `nil` for a program that has nothing to load again.
    static func reload(_ reload: ProgramReload?) -> NamedService {
        NamedService("reload") {
            let signals = await UnixSignalsSequence(trapping: .sighup)
            await cancelWhenGracefulShutdown {
                if SignalHandling.hangUpCameEarly.exchange(false, ordering: .sequentiallyConsistent) {
                    await Self.hungUp(reload)
                }
                for await _ in signals { await Self.hungUp(reload) }
            }
        }
    }

    private static func hungUp(_ reload: ProgramReload?) async {
        if let reload { return await reload.reload("SIGHUP") }
        Console.printError("SIGHUP: this command has nothing to load again")
    }
}
