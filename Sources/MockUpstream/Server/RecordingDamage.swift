import NIOConcurrencyHelpers

/// What of a recording could not be read so far: whoever reads it notes it here, and what several find counts once.
package final class RecordingDamage: Sendable {
    /// So many places are told from each other; what is found behind them counts each time.
    private static let maximumPlaces = 100_000

    private struct Place: Hashable {
        var segment: Int
        var offset: Int64
    }

    private struct State {
        var lines: Set<Place> = []
        var parts: Set<Place> = []
        /// Where compressed files are cut off.
        var ends: Set<Place> = []
        var cutOff: [String] = []
        var uncounted = 0
        var failure: String?
        var reported: @Sendable (String) -> Void = { _ in }
    }

    private let state = NIOLockedValueBox(State())

    init() {}

    /// Lines that are whole and cannot be read; a torn last one is normal and not counted.
    package var lines: Int { self.state.withLockedValue { $0.lines.count + $0.uncounted } }
    /// Parts of compressed files that cannot be unpacked.
    package var parts: Int { self.state.withLockedValue { $0.parts.count } }

    /// The compressed files that are cut off, as a copy that was not finished: what followed is missing.
    package var cutOff: [String] { self.state.withLockedValue { $0.cutOff } }

    /// Why its rest cannot be read, in one line, where a replay had to end for that.
    package var failure: String? { self.state.withLockedValue { $0.failure } }

    func failed(_ reason: String) { self.state.withLockedValue { $0.failure = reason } }

    /// What is left out, in words; `nil` where there is none.
    package var summary: String? {
        func words(_ count: Int, _ word: String) -> String? {
            count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
        }
        let parts = words(self.parts, "damaged part")
        let lines = words(self.lines, "damaged line")
        guard parts != nil || lines != nil else { return nil }
        return [lines, parts].compactMap { $0 }.joined(separator: " and ")
    }

    /// Calls `reported` with a line for each thing that is found from now on, on the loop of whoever finds it.
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

    /// Answers with whom to tell, where it is news.
    private func note(_ place: Place, _ kind: WritableKeyPath<State, Set<Place>>) -> (@Sendable (String) -> Void)? {
        self.state.withLockedValue { state in
            guard state.lines.count + state.parts.count + state.ends.count < Self.maximumPlaces else {
                if kind == \.lines { state.uncounted += 1 }
                return nil
            }
            return state[keyPath: kind].insert(place).inserted ? state.reported : nil
        }
    }
}
