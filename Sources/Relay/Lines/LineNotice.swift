import Market
import NIOCore
import Wire

/// A line that is neither a price nor a trade.
enum LineNotice {
    case status(FeedStatus)
    case symbol(SymbolStatus)
    case released(String, since: Int64)
    case gap(Gap)
    case settled(GapOutcome)
    case replay(ReplayPosition)
    case subscribed([String]?, StreamDelivery)
    case error(String, code: String)
    case help(String)
    case room(RoomState)
    case roomEvent(RoomEvent, room: String)

    /// Its text in a plain line behind `#`; `nil` if it has none there.
    var words: String? {
        switch self {
        case .status(let status): status.sentence(marks: LineEncoder.marks(of: status))
        case .symbol(let status): status.sentence
        case .released(let symbol, _): "\(SymbolName.word(symbol)) \(StreamEncoder.releasedState)"
        case .gap(let gap): (gap.symbol.map { "\(SymbolName.word($0)) " } ?? "") + gap.sentence
        case .settled(let outcome): outcome.sentence
        case .replay(let position):
            "replay \(position.isPaused ? "paused" : "playing") at \(UTCText.timestamp(position.at))"
        case .subscribed: nil
        case .error(let text, _): ScreenText.clean(text, columns: 512)
        case .help(let text): text
        case .room(let state): PrintableText.line(Self.words(of: state))
        case .roomEvent(let event, let room): PrintableText.line(Self.words(of: event, in: room))
        }
    }

    private static func words(of room: RoomState) -> String {
        let users = room.users.map(\.name).joined(separator: ", ")
        return "room \(room.name), \(room.users.isEmpty ? "no users" : "users: \(users)")"
    }

    /// Returns an event in words. A message differs from the others by its brackets.
    private static func words(of event: RoomEvent, in room: String) -> String {
        switch event {
        case .message(let message): "\(room) <\(message.user)> \(message.text)"
        case .joined(let user, _): "\(room): \(user.name) has joined"
        case .left(let user, _): "\(room): \(user.name) has left"
        }
    }

    /// The same as a message of `/v1/stream`.
    var object: ByteBuffer {
        switch self {
        case .status(let status): StreamEncoder.status(status)
        case .symbol(let status): StreamEncoder.symbol(status)
        case .released(let symbol, let since): StreamEncoder.released(symbol, since: since)
        case .gap(let gap): StreamEncoder.gap(gap)
        case .settled(let outcome): StreamEncoder.settled(outcome)
        case .replay(let position): StreamEncoder.replay(position)
        case .subscribed(let symbols, let delivery): StreamEncoder.subscribed(symbols, delivery: delivery)
        case .error(let text, let code): StreamEncoder.error(text, code: code)
        case .help(let text): Self.help(text)
        case .room(let state): state.object
        case .roomEvent(let event, _): event.object
        }
    }

    /// Whether the object states where the trades come from, or has nothing to do with trades.
    var saysSource: Bool {
        switch self {
        case .status, .room, .roomEvent: true
        case .symbol, .released, .gap, .settled, .replay, .subscribed, .error, .help: false
        }
    }

    private static func help(_ text: String) -> ByteBuffer {
        var out = JSONWriter(type: "help")
        out.field("msg", text)
        return out.finish()
    }
}
