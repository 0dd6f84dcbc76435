/// The length of a bar's period.
package enum BarWidth: Int64, Sendable, Hashable, CaseIterable {
    case second = 1
    case minute = 60
    case fiveMinutes = 300
    case hour = 3_600

    /// The width as people and programs write it: `1s`, `1m`, `5m`, `1h`.
    package var word: String {
        switch self {
        case .second: "1s"
        case .minute: "1m"
        case .fiveMinutes: "5m"
        case .hour: "1h"
        }
    }

    /// All widths as a list for messages.
    package static var words: String { Self.allCases.map(\.word).joined(separator: ", ") }

    package init?(word: String) {
        guard let width = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = width
    }

    /// The length in ns.
    package var nanoseconds: Int64 { self.rawValue * 1_000_000_000 }

    /// Returns the start of the bar that contains a moment, both ns since 1970 UTC. Bars begin at whole multiples of
    /// their width.
    package func start(of time: Int64) -> Int64 {
        let remainder = time % self.nanoseconds
        // The subtraction wraps around only for times that no clock shows.
        return time &- (remainder < 0 ? remainder + self.nanoseconds : remainder)
    }
}
