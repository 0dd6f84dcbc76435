/// The way in which the trades of a symbol reach a client of `/v1/stream`.
package enum StreamDelivery: Sendable, Hashable {
    /// Debounced prices, without unchanged ones.
    case latest
    /// Every trade, in order.
    case all
    /// The newest price at most once per interval, if the symbol has traded since.
    case every(milliseconds: Int)

    /// The intervals that a client can request, in milliseconds: 100 ms to an hour.
    package static let intervals = 100...3_600_000

    package var word: String {
        switch self {
        case .latest: "latest"
        case .all: "all"
        case .every: "every"
        }
    }

    /// Reads a client's choice: a word, an interval, or both if they match; `nil` if the client made none.
    ///
    /// - Throws: ``StreamRequest/Fault`` for an invalid choice.
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

    /// Reads the milliseconds of a text such as `250ms`, `1s`, `5m` or `1h`; `nil` if it is invalid or has more than
    /// nine digits.
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

/// The client's choice of what happens when it does not keep up.
package enum StreamOverflow: String, Sendable, Hashable {
    /// The client continues with the newest trades, and gets the number of trades that it missed.
    case latest
    /// The connection is closed, and the client gets the number of trades that it missed.
    case close
}

/// The permanent identifier of a trade: its epoch and its number, `EPOCH:SEQ` as text.
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
