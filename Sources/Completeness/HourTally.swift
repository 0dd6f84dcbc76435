package import Market
import TLS

/// The counts of one symbol's hour while trades of it may still come, and the hash so far.
package struct HourTally: Sendable {
    /// Why an hour has no hash, although trades of it are on the tape.
    enum Obstacle: Sendable {
        /// A trade came after later ids had been digested, or trades of two later hours.
        case late
        /// More trades waited for missing ones than may be held.
        case tooMany
        case newIDs

        var reason: String {
            switch self {
            case .late: "a trade came too late for the hash"
            case .tooMany: "too many trades waited for missing ones"
            case .newIDs: "the venue began its ids anew"
            }
        }
    }

    let start: Int64
    /// Whether trades before this hour are known.
    let isBegun: Bool
    private(set) var first: UInt64 = .max
    private(set) var last: UInt64 = 0
    private(set) var count: UInt64 = 0
    /// How many of ``count`` are in the hash.
    private var digested: UInt64 = 0
    private var filled: UInt64 = 0
    var missing: UInt64 = 0
    var repeated: UInt64 = 0
    private var digest: RunningSHA256?
    /// The hash, once later hours have trades.
    private var result: String?
    private(set) var obstacle: Obstacle?

    package init(start: Int64, isBegun: Bool) {
        self.start = start
        self.isBegun = isBegun
    }

    /// Whether the hour contains a time, ns since 1970.
    @inline(__always)
    func contains(_ time: Int64) -> Bool {
        UInt64(bitPattern: time &- self.start) < UInt64(bitPattern: CompletenessHour.length)
    }

    /// Whether the hash is being computed.
    var isOpen: Bool { self.digest != nil }
    /// Whether a trade of the hour waits for others.
    var waits: Bool { self.digested < self.count }

    /// Counts a trade of the hour.
    @inline(__always)
    package mutating func count(_ id: UInt64, isFilled: Bool) {
        self.first = min(self.first, id)
        self.last = max(self.last, id)
        self.count &+= 1
        if isFilled { self.filled &+= 1 }
    }

    /// Adds the line of the next trade by its id.
    ///
    /// - Returns: whether the hash has begun with it.
    @discardableResult
    @inline(__always)
    package mutating func digest(_ line: UnsafeRawBufferPointer) -> Bool {
        guard self.obstacle == nil else { return false }
        guard self.result == nil else {
            self.giveUp(.late)
            return false
        }
        let begins = self.digest == nil
        if begins { self.digest = RunningSHA256() }
        self.digest?.take(line)
        self.digested &+= 1
        return begins
    }

    /// Ends the hash. A trade that comes after this voids it.
    mutating func close() {
        self.result = self.digest?.finish()
        self.digest = nil
    }

    mutating func giveUp(_ obstacle: Obstacle) {
        self.digest = nil
        self.result = nil
        self.obstacle = self.obstacle ?? obstacle
    }

    /// Returns what is known of the hour.
    ///
    /// - Parameters:
    ///   - isOver: whether trades after this hour are known.
    ///   - unplaced: the missing ids beyond the newest trade, if it lies in this hour.
    package func report(of symbol: String, isOver: Bool, unplaced: UInt64) -> CompletenessHour {
        var hour = CompletenessHour(symbol: symbol, start: self.start)
        if self.count > 0 { (hour.first, hour.last) = (self.first, self.last) }
        hour.count = self.count
        hour.missing = min(self.missing.addingCapped(unplaced), CompletenessHour.maximumCount)
        hour.repeated = self.repeated
        hour.filled = self.filled
        hour.isWhole = self.isBegun && isOver
        if let obstacle {
            hour.reason = obstacle.reason
        } else if self.count == 0 {
            hour.reason = "no trade"
        } else if self.waits {
            hour.reason = "trades before others of the hour may still come"
        } else {
            hour.sha256 = self.result ?? self.digest?.finish()
        }
        return hour
    }
}
