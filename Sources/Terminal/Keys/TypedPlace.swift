import Market
import Wire

/// A place in a replay as a person at the screen types it: what ``ReplayPlaceText`` reads, and it must lie in the recording.
enum TypedPlace {
    /// Why a text is no place, in one line.
    struct ParseError: Error, Equatable {
        var reason: String
    }

    static let usage = "write a time such as 14:03 or 14:03:05 (UTC), +30s, -2m, 50% or gap"

    /// - Parameter position: where the replay stands.
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
            // On the way from where it stands the ends are far enough.
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
    /// The text without blanks at its ends.
    var trimmedOfBlanks: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
