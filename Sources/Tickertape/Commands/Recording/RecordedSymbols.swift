import Feeds
import Market
import MockUpstream

/// The symbols of recordings in messages.
enum RecordedSymbols {
    /// The number of symbols that a list names; for the rest it gives their number.
    private static let named = 8

    static func list(_ names: Set<String>) -> String {
        let first = names.sorted().prefix(Self.named).map { ScreenText.clean($0, columns: 64) }
        let more = names.count - first.count
        return first.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// Refuses symbols that are all missing from a recording, provided that its symbols are known. The replay would
    /// otherwise play nothing, without an end.
    static func check(_ symbols: [String], in recording: RecordingFile) throws(OperatorError) {
        guard !symbols.isEmpty, let known = recording.allSymbols, known.isDisjoint(with: symbols) else { return }
        throw OperatorError(
            "\(recording.path) has no \(Self.list(Set(symbols))); it has \(known.isEmpty ? "no trade" : Self.list(known))",
            status: .usage
        )
    }
}
