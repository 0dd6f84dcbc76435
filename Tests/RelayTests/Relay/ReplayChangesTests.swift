import Market
import Testing
@testable import Relay

@Suite("The unreported changes of a replay")
struct ReplayChangesTests {
    private static func position(_ at: Int64, speed: Double? = 1, isPaused: Bool = false) -> ReplayPosition {
        ReplayPosition(start: 0, end: 100, at: at, speed: speed, isPaused: isPaused)
    }

    @Test("keep each pause and speed in order, and the newest place of each")
    func newest() {
        let changes = ReplayChanges()
        for at: Int64 in 1...1_000 { changes.add(Self.position(at)) }
        changes.add(Self.position(1_000, isPaused: true))
        changes.add(Self.position(1_000))
        changes.add(Self.position(1_001, speed: nil))
        changes.add(Self.position(0, speed: nil))
        #expect(
            changes.take() == [
                Self.position(1_000), Self.position(1_000, isPaused: true), Self.position(1_000),
                Self.position(0, speed: nil),
            ]
        )
        #expect(changes.take().isEmpty)
    }
}
