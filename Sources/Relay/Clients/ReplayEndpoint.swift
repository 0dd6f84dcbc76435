import Market
import NIOCore
import NIOHTTP1
import Wire

/// The way to a replay for programs: `GET` and `POST /v1/replay`, and messages on `/v1/stream`.
struct ReplayEndpoint: Sendable {
    static let setting = "relay.replay-control"
    static let notReplay = "this is not a replay"
    static let closed = "this relay lets nobody command its replay; the setting is \(setting)"

    let replay: any ReplayControlling
    /// Whether clients may command it.
    let isOpen: Bool

    /// The body of an answer that says where the replay stands.
    static func position(_ endpoint: ReplayEndpoint?) throws(HTTPRefusal) -> ByteBuffer {
        guard let endpoint else { throw .notReplay }
        return Self.body(endpoint.replay.position())
    }

    /// Does what a body asks, and answers with the body that says where the replay stands then.
    static func take(_ body: ByteBuffer, _ endpoint: ReplayEndpoint?) async throws(HTTPRefusal) -> ByteBuffer {
        guard let endpoint else { throw .notReplay }
        guard endpoint.isOpen else {
            throw HTTPRefusal(
                status: .forbidden,
                type: "replay-control-off",
                message: Self.closed,
                hint: "set \(Self.setting) to on"
            )
        }
        do throws(ReplayRefusal) {
            let request = try ReplayRequestText.parse(body, position: endpoint.replay.position())
            let result = await withCheckedContinuation { continuation in
                endpoint.replay.request(request) { continuation.resume(returning: $0) }
            }
            return Self.body(try result.get())
        } catch {
            throw HTTPRefusal(
                status: .unprocessableEntity,
                type: "replay-refused",
                message: error.description,
                hint: "see docs/replay.md"
            )
        }
    }

    private static func body(_ position: ReplayPosition) -> ByteBuffer {
        var body = StreamEncoder.replay(position)
        body.writeStaticString("\n")
        return body
    }
}

extension HTTPRefusal {
    fileprivate static let notReplay = HTTPRefusal(
        status: .conflict,
        type: "not-a-replay",
        message: ReplayEndpoint.notReplay,
        hint: "start the program with `tickertape replay FILE`"
    )
}

extension RelayHub {
    /// Somebody changed the replay.
    func replayChanged(_ position: ReplayPosition) {
        guard !self.isStopped else { return }
        // First, for what is played at the new speed comes behind this.
        self.setFeedWaits(position.speed == nil)
        self.replayStood(isPaused: position.isPaused)
        let message = self.message()
        for session in self.sessions.values { session.replayChanged(position, message) }
        self.flush()
    }
}
