import Market
import NIOCore
import NIOHTTP1
import Wire

/// The way to a replay for programs: `GET` and `POST /v1/replay`, and messages on `/v1/stream`.
struct ReplayDoor: Sendable {
    static let setting = "relay.replay-control"
    static let notReplay = "this is not a replay"
    static let closed = "this relay lets nobody command its replay; the setting is \(setting)"

    let replay: any ReplayControlling
    /// Whether clients may command it.
    let isOpen: Bool

    /// The body of an answer that says where the replay stands.
    static func position(_ door: ReplayDoor?) throws(HTTPRefusal) -> ByteBuffer {
        guard let door else { throw .notReplay }
        return Self.body(door.replay.position())
    }

    /// Does what a body asks, and answers with the body that says where the replay stands then.
    static func take(_ body: ByteBuffer, _ door: ReplayDoor?) async throws(HTTPRefusal) -> ByteBuffer {
        guard let door else { throw .notReplay }
        guard door.isOpen else {
            throw HTTPRefusal(
                status: .forbidden,
                type: "replay-control-off",
                message: Self.closed,
                cure: "set \(Self.setting) to on"
            )
        }
        do throws(ReplayRefusal) {
            let request = try ReplayRequestText.parse(body, position: door.replay.position())
            let result = await withCheckedContinuation { continuation in
                door.replay.request(request) { continuation.resume(returning: $0) }
            }
            return Self.body(try result.get())
        } catch {
            throw HTTPRefusal(
                status: .unprocessableEntity,
                type: "replay-refused",
                message: error.description,
                cure: "see docs/replay.md"
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
        message: ReplayDoor.notReplay,
        cure: "start the program with `tickertape replay FILE`"
    )
}

extension RelayHub {
    /// Somebody changed the replay.
    func replayChanged(_ position: ReplayPosition) {
        guard !self.isStopped else { return }
        // First, for what is played at the new speed comes behind this.
        self.setFeedWaits(position.speed == nil)
        self.replayStood(isPaused: position.isPaused)
        let frame = self.frame(.replay(position))
        for client in self.streamClients.values { client.tell(.replay(position), frame: frame) }
        self.flush()
    }
}

extension StreamClient {
    /// Asks the replay for what a client wants of it. When that changes something all clients are told, this one among
    /// them; why it does not, only this one.
    func askReplay(_ text: ByteBuffer) {
        guard let replay = self.hub.replay else { return self.tell(.error(ReplayDoor.notReplay, code: "not-a-replay")) }
        guard self.hub.settings.allowsReplayControl else {
            return self.tell(.error(ReplayDoor.closed, code: "replay-control-off"))
        }
        let request: ReplayRequest
        do throws(ReplayRefusal) {
            request = try ReplayRequestText.parse(text, position: replay.position())
        } catch {
            return self.tell(.error(error.description, code: "replay-refused"))
        }
        let client = NIOLoopBound(self, eventLoop: self.hub.loop)
        let loop = self.hub.loop
        replay.request(request) { result in
            guard case .failure(let refusal) = result else { return }
            loop.execute {
                client.value.tell(.error(refusal.description, code: "replay-refused"))
                client.value.hub.flush()
            }
        }
    }
}
