import NIOConcurrencyHelpers
package import Wire

/// The report of a recording's unreadable places. All its readers note them here, and a place found by several counts
/// once.
package final class RecordingDamage: Sendable {
    private struct Place: Hashable {
        var segment: Int
        var offset: Int64
    }

    /// The places of one kind.
    private struct Places {
        var known: Set<Place> = []
        /// How often further places were found.
        var further = 0

        var count: Int { self.known.count + self.further }
    }

    private struct State {
        var lines = Places()
        var parts = Places()
        /// The places where compressed files are cut off: one in a file at most.
        var ends = Places()
        var cutOff: [String] = []
        var failure: String?
        var unplayed: Set<FrameDialect> = []
        var reported: @Sendable (String) -> Void = { _ in }
    }

    private let state = NIOLockedValueBox(State())

    /// The most places that are stored. A further one is counted, but not reported, each time that it is found.
    private let maximumPlaces: Int

    init(maximumPlaces: Int = 100_000) { self.maximumPlaces = maximumPlaces }

    /// The number of complete lines that cannot be read; an incomplete last line is normal and not counted.
    package var lines: Int { self.state.withLockedValue { $0.lines.count } }
    /// The number of parts of compressed files that cannot be decompressed.
    package var parts: Int { self.state.withLockedValue { $0.parts.count } }

    /// The compressed files that are cut off, as by an unfinished copy; the data after the cut is missing.
    package var cutOff: [String] { self.state.withLockedValue { $0.cutOff } }

    /// The reason why the rest cannot be read and a replay had to end, in one line.
    package var failure: String? { self.state.withLockedValue { $0.failure } }

    /// The services whose messages are not played, because the search for services had not found them.
    package var unplayed: [FrameDialect] {
        self.state.withLockedValue { state in FrameDialect.allCases.filter(state.unplayed.contains) }
    }

    func foundUnplayed(_ dialect: FrameDialect, path: String) {
        let reported = self.state.withLockedValue { $0.unplayed.insert(dialect).inserted ? $0.reported : nil }
        reported?(Self.words(forUnplayed: dialect, path: path))
    }

    /// Describes messages that are not played, with the remedy.
    package static func words(forUnplayed dialect: FrameDialect, path: String) -> String {
        "\(path) also holds messages of \(dialect.serviceName), which begin too late to be found: they are not played; "
            + "`tickertape recording cut --dialect \(dialect.name) \(path) NEW-FILE` makes a recording of them"
    }

    func failed(_ reason: String) { self.state.withLockedValue { $0.failure = reason } }

    /// A summary of the damage, in words; `nil` without any.
    package var summary: String? {
        func words(_ count: Int, _ word: String) -> String? {
            count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
        }
        let parts = words(self.parts, "damaged part")
        let lines = words(self.lines, "damaged line")
        guard parts != nil || lines != nil else { return nil }
        let further = self.state.withLockedValue { $0.lines.further + $0.parts.further }
        let places = [lines, parts].compactMap { $0 }.joined(separator: " and ")
        return further == 0 ? places : "\(places) (some of them perhaps counted more than once)"
    }

    /// Calls `reported` with a line for each new finding, on the loop of the reader that made it.
    package func watch(_ reported: @escaping @Sendable (String) -> Void) {
        self.state.withLockedValue { $0.reported = reported }
    }

    func found(line offset: Int64, reason: String, in segment: Int, path: String) {
        self.note(Place(segment: segment, offset: offset), \.lines)?(
            "\(path), byte \(offset): a line cannot be read and is left out: \(reason)"
        )
    }

    func found(part bytes: Range<Int64>, isTail: Bool, in segment: Int, path: String) {
        guard !isTail else { return self.found(endAt: bytes.lowerBound, in: segment, path: path) }
        self.note(Place(segment: segment, offset: bytes.lowerBound), \.parts)?(
            "\(path), bytes \(bytes.lowerBound) to \(bytes.upperBound): cannot be unpacked and are left out"
        )
    }

    private func found(endAt offset: Int64, in segment: Int, path: String) {
        guard let reported = self.note(Place(segment: segment, offset: offset), \.ends) else { return }
        self.state.withLockedValue { $0.cutOff.append(path) }
        reported("\(path), byte \(offset): the compressed file is cut off here: what followed, if anything, is missing")
    }

    /// Notes a place; returns the function to report it to if it is new.
    private func note(_ place: Place, _ kind: WritableKeyPath<State, Places>) -> (@Sendable (String) -> Void)? {
        self.state.withLockedValue { state in
            let isFull = state.lines.known.count + state.parts.known.count >= self.maximumPlaces
            guard !isFull || kind == \.ends || state[keyPath: kind].known.contains(place) else {
                state[keyPath: kind].further += 1
                return nil
            }
            return state[keyPath: kind].known.insert(place).inserted ? state.reported : nil
        }
    }
}
