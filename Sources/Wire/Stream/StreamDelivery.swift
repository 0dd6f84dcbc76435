/// How the trades of a symbol reach a client of `/v1/stream`.
package enum StreamDelivery: Sendable, Hashable {
    /// Debounced prices, without unchanged ones.
    case latest
    /// Every trade, in order.
    case all
    /// The newest at most once in so many milliseconds, if the symbol has traded since.
    case every(milliseconds: Int)

    /// The intervals that can be asked for, in milliseconds: 100 ms to an hour.
    package static let intervals = 100...3_600_000

    package var word: String {
        switch self {
        case .latest: "latest"
        case .all: "all"
        case .every: "every"
        }
    }

    /// Reads what a client says: one of the words, an interval, or both where they fit; `nil` stands for what is not
    /// said.
    ///
    /// - Throws: ``StreamRequest/Fault`` for what cannot be understood.
    package static func parse(
        word: String?,
        milliseconds: Int?
    ) throws(StreamRequest.Fault) -> StreamDelivery? {
        switch (word, milliseconds) {
        case (nil, nil): return nil
        case ("latest", nil): return .latest
        case ("all", nil): return .all
        case (nil, let milliseconds?), ("every", let milliseconds?):
            guard Self.intervals.contains(milliseconds) else { throw .every }
            return .every(milliseconds: milliseconds)
        case ("every", nil): throw .every
        case (_, _): throw .delivery
        }
    }

    /// The milliseconds of a text such as `250ms`, `1s`, `5m` or `1h`; `nil` when it is none or absurdly long.
    package static func milliseconds(_ text: some StringProtocol) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.utf8.count <= 9, let number = Int(digits) else { return nil }
        switch text.dropFirst(digits.count) {
        case "ms": return number
        case "s": return number * 1_000
        case "m": return number * 60_000
        case "h": return number * 3_600_000
        default: return nil
        }
    }
}

/// What becomes of a client that does not keep up, by its own choice.
package enum StreamOverflow: String, Sendable, Hashable {
    /// It goes on with the newest, and is told how much it missed.
    case latest
    /// It is closed, and is told how much it missed.
    case close
}

/// The name of a trade for ever: the run of numbers and the number, `EPOCH:SEQ` as text.
package struct TapePosition: Sendable, Hashable, CustomStringConvertible {
    package var epoch: UInt64
    package var sequence: UInt64

    package init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Self.number(parts[0]), let sequence = Self.number(parts[1]) else {
            return nil
        }
        self.init(epoch: epoch, sequence: sequence)
    }

    private static func number(_ text: some StringProtocol) -> UInt64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt64(text)
    }

    package var description: String { "\(self.epoch):\(self.sequence)" }
}
