/// Why a side's trades of a time may be missing.
package enum AuditInterruption: Sendable {
    /// Its stream was interrupted.
    case gap
    /// The symbol was not subscribed.
    case absence
}

/// The times that one side's stream covers, by the exchange's clock in ms: from its first trade to its newest, without
/// its interruptions.
struct AuditStream {
    private struct Interruption {
        var from: Int64
        /// `nil` until a newer trade has come.
        var to: Int64?
        var kind: AuditInterruption
    }

    /// The most interruptions that are remembered: a trade is judged a few minutes after it came.
    private static let limit = 64

    private(set) var start: Int64?
    private(set) var newest: Int64 = .min
    private var interruptions: [Interruption] = []
    /// The number of gaps so far.
    private(set) var gapCount = 0

    /// Takes the time of a trade.
    mutating func take(_ time: Int64) {
        if self.start == nil { self.start = time }
        if let last = self.interruptions.last, last.to == nil, time > last.from {
            self.interruptions[self.interruptions.count - 1].to = time
        }
        self.newest = max(self.newest, time)
    }

    /// Notes that trades may be missing between the newest trade and the next one.
    mutating func interrupted(_ kind: AuditInterruption) {
        guard self.start != nil else { return }
        if let last = self.interruptions.last, last.to == nil {
            // A quiet symbol is subscribed again, and the gap follows that. A symbol may be given up within a gap.
            if kind == .gap, last.kind == .absence { self.gapCount += 1 }
            self.interruptions[self.interruptions.count - 1].kind = kind
            return
        }
        if kind == .gap { self.gapCount += 1 }
        self.interruptions.append(Interruption(from: self.newest, to: nil, kind: kind))
        if self.interruptions.count > Self.limit { self.interruptions.removeFirst() }
    }

    /// Notes that the stream was live until a time, although no trade came.
    mutating func lived(until time: Int64) { if self.start != nil { self.newest = max(self.newest, time) } }

    /// The time of the newest trade before an interruption that no trade has ended; `nil` without one.
    var openSince: Int64? { self.interruptions.last.flatMap { $0.to == nil ? $0.from : nil } }

    /// The interruption that has, or may have, cost the trades of a time.
    func interruption(at time: Int64) -> AuditInterruption? {
        self.interruptions.first { $0.from <= time && time <= $0.to ?? .max }?.kind
    }
}
