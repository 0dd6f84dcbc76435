import MockUpstream
import NIOConcurrencyHelpers
import ServiceLifecycle

/// The warning that a replay stands still because the disk of its recording does not answer.
///
/// The mock server reads the recording on its loop. A loop that answers no probe waits for the disk.
struct RecordingDiskWatch: Sendable {
    private static let interval = Duration.seconds(1)
    /// The number of checks without an answer after which the disk counts as hung.
    private static let patience = 5

    let path: String
    let mockServer: MockServer
    let warn: @Sendable (String) -> Void

    /// The service that checks the disk until the program stops.
    var part: NamedService {
        NamedService("recording disk") {
            try? await cancelWhenGracefulShutdown { try await self.run() }
        }
    }

    /// Warns once each time that the disk hangs.
    private func run() async throws {
        let hasAnswered = NIOLockedValueBox(true)
        var missed = 0
        while true {
            if hasAnswered.withLockedValue({ $0 }) {
                missed = 0
                hasAnswered.withLockedValue { $0 = false }
                self.mockServer.probe { hasAnswered.withLockedValue { $0 = true } }
            } else {
                missed += 1
            }
            if missed == Self.patience {
                self.warn(
                    "the disk of \(self.path) does not answer, and the replay stands still until it does; "
                        + "a copy of the recording on another disk can be replayed meanwhile"
                )
            }
            try await Task.sleep(for: Self.interval)
        }
    }
}
