import Market
import Wire

/// The parser of positions that are typed at the screen: those of ``ReplayPlaceText``, limited to the recording.
///
/// Times of day and dates are those of the screen's clock, unless a `Z` behind them says UTC.
enum TypedPlace {
    /// The reason why a text is not a position, in one line.
    struct ParseError: Error, Equatable {
        var reason: String
    }

    static let usage = "write a time such as 14:03 or 14:03:05 (as the screen shows them), +30s, -2m, 50% or gap"

    /// - Parameters:
    ///   - position: the current position of the replay.
    ///   - clock: the screen's.
    static func parse(
        _ text: String,
        at position: ReplayPosition?,
        clock: ScreenClock = .utc
    ) throws(ParseError) -> ReplayPlace {
        guard let place = Self.read(text, at: position, clock: clock) else { throw ParseError(reason: Self.usage) }
        switch place {
        case .nextGap, .percent: return place
        case .offset(let offset):
            guard let position, offset > position.end - position.start else { return place }
            throw Self.outside(position, clock)
        case .time(let time):
            guard let position else { throw ParseError(reason: "the replay has not begun") }
            let nearest = min(max(time, position.start), max(position.start, position.end))
            // A relative position is clamped to the recording's ends.
            guard Self.isRelative(text) || nearest == time else { throw Self.outside(position, clock) }
            return .time(nearest)
        }
    }

    private static func isRelative(_ text: String) -> Bool {
        text.trimmedOfBlanks.first.map { "+-".contains($0) } ?? false
    }

    private static func read(_ text: String, at position: ReplayPosition?, clock: ScreenClock) -> ReplayPlace? {
        let (start, at) = (position?.start ?? 0, position?.at ?? 0)
        let words = text.trimmedOfBlanks
        let isOfClock =
            !Self.isRelative(text) && !words.lowercased().hasSuffix("z") && words.contains { ":-".contains($0) }
        guard isOfClock else { return ReplayPlaceText.parse(text, start: start, at: at) }
        let place = ReplayPlaceText.parse(text, start: clock.local(start), at: clock.local(at))
        guard case .time(let local) = place else { return place }
        if local == clock.local(start) { return .time(start) }
        // Of two times with one reading, that in the recording.
        let times = clock.times(ofLocal: local)
        let inside = times.first { $0 >= start && $0 <= position?.end ?? .max }
        return (inside ?? times.first).map { .time($0) }
    }

    private static func outside(_ position: ReplayPosition, _ clock: ScreenClock) -> ParseError {
        let (from, to) = (clock.timeOfDay(position.start), clock.timeOfDay(position.end))
        return ParseError(reason: "the recording reaches from \(from) to \(to) \(clock.label(at: position.end))")
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
