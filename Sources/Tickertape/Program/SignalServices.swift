import Glibc
import Platform
import Relay
import ServiceLifecycle
import Terminal
import UnixSignals

/// The services that handle signals, beside the ones that stop the program.
enum SignalServices {
    /// The time limit for the rest of a stop after a second signal.
    private static let stopLimit = Duration.milliseconds(500)
    /// The wait for the certificate's disk, which may delay a stop.
    private static let reloadLimit = Duration.seconds(2)

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

    /// Returns the service that reloads the relay's certificate at each SIGHUP.
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
        for line in lines { Console.printError(line) }
    }

    private static func reloaded(_ certificate: RelayTLS?) -> [String] {
        guard let certificate else { return ["SIGHUP: there is nothing to load again, the relay has no certificate"] }
        var lines = certificate.reload()
        lines[0] = "SIGHUP: \(lines[0]); the settings stay as they are"
        for index in lines.indices.dropFirst() { lines[index] = "warning: \(lines[index])" }
        return lines
    }
}
