import HTTP
import Market
import NIOCore
import NIOHTTP1
import WebSocket
import Wire

/// A session in one room, at `/v1/room/NAME`.
///
/// It gets every event of the room, or is closed with the count of those that it missed.
final class RoomClient: RelayProtocol {
    static let path = "/v1/room/NAME"
    static let name = "room"
    private static let prefix = "/v1/room/"

    static func serves(_ path: Substring) -> Bool {
        path.hasPrefix(Self.prefix) && !path.dropFirst(Self.prefix.count).contains("/")
    }

    static func isOn(_ settings: RelaySettings) -> Bool { settings.rooms }

    let output: ClientOutput
    let context: RelayContext
    private let room: String
    private var allowance: RequestAllowance
    var roomRate = RequestAllowance.ofRooms

    /// - Parameter subprotocol: the negotiated subprotocol.
    init(room: String, context: RelayContext, subprotocol: String? = nil) {
        let settings = context.settings
        self.room = room
        self.context = context
        self.allowance = RequestAllowance(burst: settings.requestBurst, perSecond: settings.requestsPerSecond)
        // Nothing is counted below the high mark, so it is low.
        let high = min(settings.maximumWaitingBytes / 16, 64 << 10)
        self.output = context.makeOutput(ClientOutput.Marks(low: high / 2, high: high))
        self.output.subprotocol = subprotocol
        self.pace.setPolicy(
            feedWaits: false,
            limit: settings.maximumWaitingBytes,
            messageLimit: settings.maximumWaitingMessages,
            closes: true
        )
    }

    convenience init(request: HTTPRequestHead, context: RelayContext) throws(HTTPRefusal) {
        guard request.query ?? "" == "" else {
            throw .badQuery("there are no parameters here", page: "docs/rooms.md")
        }
        guard let name = PercentText.decoded(request.path.dropFirst(Self.prefix.count)), RoomName.isValid(name) else {
            throw .badRoom
        }
        self.init(room: name, context: context, subprotocol: try StreamQuery.subprotocol(request.headers))
    }

    static func makeFanout(for context: RelayContext) -> RoomFanout { RoomFanout() }

    func opened() {
        do throws(RoomFault) {
            try self.context.rooms.enter(self.room, self)
            self.write(self.context.rooms.encodedState(of: self.room))
        } catch {
            self.report(error)
            self.close(.tryAgainLater, reason: error.words)
        }
    }

    func closed() { self.context.rooms.leaveAll(self) }

    func willStop() { self.pace.endWaiting() }

    func received(_ text: ByteBuffer) {
        switch self.allowance.requested(now: self.context.now) {
        case .allowed: break
        case .refused: return self.report(.rateLimited)
        case .flood: return self.close(.policy, reason: "too many requests")
        }
        do throws(RoomFault) {
            _ = try self.context.rooms.submit(try RoomSubmission(text), by: self, in: self.room)
        } catch {
            self.report(error)
        }
    }

    private func report(_ fault: RoomFault) {
        self.write(StreamEncoder.error(fault.words, code: fault.kind.rawValue))
    }

    /// Writes a message to this client alone.
    private func write(_ object: ByteBuffer) {
        self.output.send(framed: SharedMessage.framed(object))
        self.pace.wrote(messages: 1)
    }

    func obey(_ verdict: Backlog.Verdict) {
        switch verdict {
        case .keep, .goOn: break
        case .close(let missed):
            guard self.isOpen else { return }
            self.closeSlow(missed: 0, reason: "too slow: \(missed) messages missed")
        }
    }
}

extension RoomClient: RoomMember {
    func roomChanged(_ event: RoomEvent, in room: String, _ message: SharedMessage) {
        let frame = self.compressed(message.frame(for: RoomClient.self) { _ in event.object })
        let offer = self.pace.offered(trades: 1, bytes: frame.readableBytes, messages: 1)
        guard case .write = offer else { return }
        self.output.send(asIs: frame)
        self.pace.wrote(messages: 1)
    }
}

extension HTTPRefusal {
    fileprivate static let badRoom = HTTPRefusal(
        status: .badRequest,
        type: "bad-path",
        message: "the room's name in the path is not valid",
        hint: "percent-encode its UTF-8, such as /v1/room/BINANCE%3ABTCUSDT"
    )
}
