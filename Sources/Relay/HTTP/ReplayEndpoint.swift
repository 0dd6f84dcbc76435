import Market
import NIOCore
import NIOHTTP1
import Wire

/// The control endpoint of a replay: `GET` and `POST /v1/replay`, and messages on `/v1/stream`.
struct ReplayEndpoint: Sendable {
    static let setting = "relay.replay-control"
    static let notReplay = "this is not a replay"
    static let closed = "this relay does not accept replay commands; the setting is \(setting)"

    let replay: any ReplayControlling
    /// Whether clients may command it.
    let isOpen: Bool

    /// Returns the body of an answer with the replay's position.
    static func position(_ endpoint: ReplayEndpoint?) throws(HTTPRefusal) -> ByteBuffer {
        guard let endpoint else { throw .notReplay }
        return Self.body(endpoint.replay.position())
    }

    /// Executes the request of a body; returns the body with the resulting position.
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
