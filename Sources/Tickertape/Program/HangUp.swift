import Platform
import Recordings
import Relay
import ServiceLifecycle
import Synchronization
import UnixSignals

/// What SIGHUP means: the end where a person's terminal is gone, and to a service the wish to load its files again.
///
/// `kill -HUP` is how services are told that a file has changed (systemd's `ExecReload`), so none may die of it. What has a
/// terminal for standard input, output or error is somebody's, and must not live on, with the key, when that closes.
enum HangUp {
    /// Whether SIGHUP came before there was anybody to answer it; set in a signal handler.
    static let cameEarly = Atomic<Bool>(false)

    /// Whether SIGHUP ends the program.
    static func endsProgram(hasScreen: Bool) -> Bool { hasScreen || Surroundings.ofThisProcess.hasTerminal }

    /// Answers each SIGHUP until the program stops.
    static func part(certificate: RelayTLS?) -> ProgramPart {
        ProgramPart("reload") {
            let disk = WorkQueue("certificate")
            let signals = await UnixSignalsSequence(trapping: .sighup)
            await cancelWhenGracefulShutdown {
                if Self.cameEarly.exchange(false, ordering: .sequentiallyConsistent) {
                    await Self.answer(certificate, disk)
                }
                for await _ in signals { await Self.answer(certificate, disk) }
            }
        }
    }

    /// How long the disk is waited for; a stop may wait for this.
    private static let limit = Duration.seconds(2)

    private static func answer(_ certificate: RelayTLS?, _ disk: WorkQueue) async {
        let lines =
            await disk.answer(within: Self.limit) { Self.lines(certificate) } ?? [
                "SIGHUP: the disk of the certificate has not answered for 2 s; the new one is used when it does"
            ]
        for line in lines { Console.complain(line) }
    }

    private static func lines(_ certificate: RelayTLS?) -> [String] {
        guard let certificate else { return ["SIGHUP: there is nothing to load again, the relay has no certificate"] }
        var lines = certificate.reload()
        lines[0] = "SIGHUP: \(lines[0]); the settings stay as they are"
        for index in lines.indices.dropFirst() { lines[index] = "warning: \(lines[index])" }
        return lines
    }
}
