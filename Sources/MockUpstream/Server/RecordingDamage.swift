import NIOConcurrencyHelpers

/// The report of a recording's unreadable places. All its readers note them here, and a place found by several counts
/// once.
package final class RecordingDamage: Sendable {
    /// The most places that are stored; of further ones each damaged line counts again each time.
    private static let maximumPlaces = 100_000

    private struct Place: Hashable {
        var segment: Int
        var offset: Int64
    }

    private struct State {
        var lines: Set<Place> = []
        var parts: Set<Place> = []
        /// The places where compressed files are cut off.
        var ends: Set<Place> = []
        var cutOff: [String] = []
        var uncounted = 0
        var failure: String?
        var reported: @Sendable (String) -> Void = { _ in }
    }

    private let state = NIOLockedValueBox(State())

    init() {}

    /// The number of complete lines that cannot be read; an incomplete last line is normal and not counted.
    package var lines: Int { self.state.withLockedValue { $0.lines.count + $0.uncounted } }
    /// The number of parts of compressed files that cannot be decompressed.
    package var parts: Int { self.state.withLockedValue { $0.parts.count } }

    /// The compressed files that are cut off, as by an unfinished copy; the data after the cut is missing.
    package var cutOff: [String] { self.state.withLockedValue { $0.cutOff } }

    /// The reason why the rest cannot be read and a replay had to end, in one line.
    package var failure: String? { self.state.withLockedValue { $0.failure } }

    func failed(_ reason: String) { self.state.withLockedValue { $0.failure = reason } }

    /// A summary of the damage, in words; `nil` without any.
    package var summary: String? {
        func words(_ count: Int, _ word: String) -> String? {
            count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
        }
        let parts = words(self.parts, "damaged part")
        let lines = words(self.lines, "damaged line")
        guard parts != nil || lines != nil else { return nil }
        return [lines, parts].compactMap { $0 }.joined(separator: " and ")
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
