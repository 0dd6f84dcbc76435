/// The comparison of this machine's clock with the exchange's: the least time by which ours is behind, and when to
/// warn.
///
/// A state machine; time is an argument. A trade cannot arrive before it happened. If even the fastest seem to, our
/// clock is behind by at least that much. In the other direction only the size distinguishes a clock's offset from a
/// slow path.
package struct ClockCheck: Sendable {
    /// The finding that the clocks cannot both be right, or that the feed is very late.
    package enum Warning: Sendable, Equatable, CustomStringConvertible {
        /// This machine's clock is this far behind, ns.
        case behind(Int64)
        /// This machine's clock is this far ahead, or the trades arrive this late, ns.
        case ahead(Int64)

        package var description: String {
            switch self {
            case .behind(let offset):
                "this machine's clock seems to be \(Self.seconds(offset)) s behind the exchange's: check NTP"
            case .ahead(let offset):
                "trades arrive \(Self.seconds(offset)) s after the exchange's time: this machine's clock seems to be that "
                    + "far ahead (check NTP), or the service is late"
            }
        }

        private static func seconds(_ nanoseconds: Int64) -> String {
            let tenths = (nanoseconds + 50_000_000) / 100_000_000
            return "\(tenths / 10).\(tenths % 10)"
        }
    }

    /// The number of newest reads that are compared.
    static let window = 128
    /// The number of reads below which nothing is concluded.
    static let least = 20
    /// The lower bound of a plausible median, ns.
    static let tooEarly: Int64 = -250_000_000
    /// The upper bound of a plausible median, ns.
    static let tooLate: Int64 = 10_000_000_000
    /// The shortest time between two warnings, and between two evaluations, ns.
    static let warningInterval: Int64 = 3_600_000_000_000
    static let lookInterval: Int64 = 1_000_000_000

    /// The least time by which our clock is behind, ns, as of the last evaluation; 0 while no read contradicts it.
    private(set) var offset: Int64 = 0
    /// The offset by which the feed judged the reads being compared, ns.
    private var agreed: Int64 = 0
    private var samples: [Int64] = []
    private var next = 0
    private var lookedAt: Int64?
    private var warnedAt: Int64?

    init() {}

    /// Takes the latency of one read as the difference of the two clocks, ns.
    ///
    /// - Parameter agreed: how far our clock is behind according to the feed's reads (``ArrivalCheck``), ns. If it
    ///   changes, one of the clocks was set, and earlier reads no longer count.
    mutating func took(_ implied: Int64, agreed: Int64 = 0, now: Int64) -> Warning? {
        if agreed != self.agreed {
            self.agreed = agreed
            self.offset = agreed
            self.samples = []
            self.next = 0
            self.lookedAt = nil
            if agreed > 0 { return self.warn(.behind(agreed), now: now) }
        }
        if self.samples.count < Self.window {
            self.samples.append(implied)
        } else {
            self.samples[self.next] = implied
            self.next = (self.next + 1) % Self.window
        }
        guard self.samples.count >= Self.least else { return nil }
        if let lookedAt, now - lookedAt < Self.lookInterval { return nil }
        self.lookedAt = now
        return self.look(now: now)
    }

    private mutating func look(now: Int64) -> Warning? {
        let sorted = self.samples.sorted()
        // The fifth percentile instead of the minimum: a single wrong time of the venue proves nothing about our clock.
        let fastest = sorted[sorted.count / 20]
        let median = sorted[sorted.count / 2]
        self.offset = max(0, -fastest)
        guard median < Self.tooEarly || median > Self.tooLate else { return nil }
        return self.warn(median < 0 ? .behind(-fastest) : .ahead(median), now: now)
    }

    private mutating func warn(_ warning: Warning, now: Int64) -> Warning? {
        if let warnedAt, now - warnedAt < Self.warningInterval { return nil }
        self.warnedAt = now
        return warning
    }
}
