/// The comparison of this machine's clock with the exchange's: how far ours is behind at least, and whether to warn.
///
/// A machine: time is an argument. A trade cannot arrive before it happened, so where even the fastest seem to, our clock
/// is behind by that much. Nothing tells an offset the other way from a slow path but its size.
package struct ClockCheck: Sendable {
    /// The clocks cannot both be right, or the feed is very late.
    package enum Warning: Sendable, Equatable, CustomStringConvertible {
        /// This machine's clock is so far behind, ns.
        case behind(Int64)
        /// This machine's clock is so far ahead, or the trades come so late, ns.
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

    /// The newest reads that are compared.
    static let window = 128
    /// Fewer are no proof.
    static let least = 20
    /// A median below this is absurd, ns ...
    static let tooEarly: Int64 = -250_000_000
    /// ... and so is one above this, ns.
    static let tooLate: Int64 = 10_000_000_000
    /// The time between two warnings, and between two looks, ns.
    static let warningInterval: Int64 = 3_600_000_000_000
    static let lookInterval: Int64 = 1_000_000_000

    /// How far our clock is behind at least, ns, as of the last look; 0 when nothing contradicts it.
    private(set) var offset: Int64 = 0
    /// The offset by which the feed judged the reads that are compared, ns.
    private var agreed: Int64 = 0
    private var samples: [Int64] = []
    private var next = 0
    private var lookedAt: Int64?
    private var warnedAt: Int64?

    init() {}

    /// Takes the latency that the two clocks imply for one read, ns.
    ///
    /// - Parameter agreed: how far our clock is behind by what the feed's reads agree on (``ArrivalCheck``), ns. Where that
    ///   changes, one of the clocks was set, and reads from before say nothing of it now.
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
        // Not the very fastest: a venue's single wrong time proves nothing about our clock.
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
