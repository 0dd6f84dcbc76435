import Market
import Wire

/// The parser of positions that are typed at the screen: those of ``ReplayPlaceText``, limited to the recording.
enum TypedPlace {
    /// The reason why a text is not a position, in one line.
    struct ParseError: Error, Equatable {
        var reason: String
    }

    static let usage = "write a time such as 14:03 or 14:03:05 (UTC), +30s, -2m, 50% or gap"

    /// - Parameter position: the current position of the replay.
    static func parse(_ text: String, at position: ReplayPosition?) throws(ParseError) -> ReplayPlace {
        guard let place = ReplayPlaceText.parse(text, start: position?.start ?? 0, at: position?.at ?? 0) else {
            throw ParseError(reason: Self.usage)
        }
        switch place {
        case .nextGap, .percent: return place
        case .offset(let offset):
            guard let position, offset > position.end - position.start else { return place }
            throw Self.outside(position)
        case .time(let time):
            guard let position else { throw ParseError(reason: "the replay has not begun") }
            let nearest = min(max(time, position.start), max(position.start, position.end))
            // A relative position is clamped to the recording's ends.
            let isRelative = text.trimmedOfBlanks.first.map { "+-".contains($0) } ?? false
            guard isRelative || nearest == time else { throw Self.outside(position) }
            return .time(nearest)
        }
    }

    private static func outside(_ position: ReplayPosition) -> ParseError {
        let (from, to) = (UTCText.timeOfDay(position.start), UTCText.timeOfDay(position.end))
        return ParseError(reason: "the recording reaches from \(from) to \(to) UTC")
    }
}

extension String {
    /// Returns the text without leading and trailing blanks.
    var trimmedOfBlanks: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
