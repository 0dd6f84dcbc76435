import Glibc
import Platform
import Relay
import ServiceLifecycle
import Terminal
import UnixSignals

/// The services of a program that answer signals beside those that stop it.
enum SignalServices {
    /// How long the rest of a stop may take after a second signal.
    private static let stopLimit = Duration.milliseconds(500)
    /// How long the certificate's disk is waited for; a stop may wait for this.
    private static let reloadLimit = Duration.seconds(2)

    /// Ends the program soon after a second SIGTERM or SIGINT; the service group takes only the first.
    ///
    /// - Parameter cut: ends what the stop waits for.
    static func secondStop(cut: @escaping @Sendable () -> Void) -> NamedService {
        NamedService("second-stop") {
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            await cancelWhenGracefulShutdown {
                var count = 0
                for await signal in signals {
                    count += 1
                    guard count == 2 else { continue }
                    cut()
                    // Not a part of the stop: it must go on when that is over.
                    Task.detached {
                        try await Task.sleep(for: Self.stopLimit)
                        TerminalDisplay.giveBackTerminal()
                        _exit(128 + (signal == .sigint ? SIGINT : SIGTERM))
                    }
                }
            }
        }
    }

    /// Loads the relay's certificate again at each SIGHUP until the program stops.
    static func reload(_ certificate: RelayTLS?) -> NamedService {
        NamedService("reload") {
            let disk = WorkQueue("certificate")
            let signals = await UnixSignalsSequence(trapping: .sighup)
            await cancelWhenGracefulShutdown {
                if SignalHandling.hangUpCameEarly.exchange(false, ordering: .sequentiallyConsistent) {
                    await Self.reload(certificate, disk)
                }
                for await _ in signals { await Self.reload(certificate, disk) }
            }
        }
    }

    private static func reload(_ certificate: RelayTLS?, _ disk: WorkQueue) async {
        let lines =
            await disk.answer(within: Self.reloadLimit) { Self.reloaded(certificate) } ?? [
                "SIGHUP: the disk of the certificate has not answered for 2 s; the new one is used when it does"
            ]
        for line in lines { Console.complain(line) }
    }

    private static func reloaded(_ certificate: RelayTLS?) -> [String] {
        guard let certificate else { return ["SIGHUP: there is nothing to load again, the relay has no certificate"] }
        var lines = certificate.reload()
        lines[0] = "SIGHUP: \(lines[0]); the settings stay as they are"
        for index in lines.indices.dropFirst() { lines[index] = "warning: \(lines[index])" }
        return lines
    }
}
