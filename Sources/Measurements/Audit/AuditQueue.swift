import Market
import NIOCore

/// The trades of one side that have no partner, in the order of their arrival, bounded.
///
/// A trade is judged after a while, and remembered for some time afterwards, because its partner may still come.
struct AuditQueue {
    struct Entry {
        let content: AuditContent
        /// The venue's id, or the number of Finnhub's trade.
        let number: UInt64
        /// ns on the clock of both sides.
        let arrival: Int64
        /// Whether an equal trade had found its partner before this one came.
        var isRepeat = false
        /// Whether the arrival says nothing: the trade was filled in.
        var isFilled = false
        /// Whether it still waits for its partner.
        fileprivate(set) var isOpen = true
        /// The judgement, once there is one.
        fileprivate(set) var outcome: AuditOutcome?
    }

    /// The most trades that wait, and the most that are remembered.
    let capacity: (waiting: Int, remembered: Int)
    private var entries: CircularBuffer<Entry> = []
    /// The index of the first of `entries`; indices are never used again.
    private var first: UInt64 = 0
    private var remembered: [UInt64: Entry] = [:]
    private var rememberedInOrder: CircularBuffer<UInt64> = []
    /// The number of trades that wait.
    private(set) var waiting = 0

    init(waiting: Int, remembered: Int) { self.capacity = (waiting, remembered) }

    /// Adds a trade and returns its index.
    mutating func append(_ entry: Entry) -> UInt64 {
        self.entries.append(entry)
        self.waiting += 1
        return self.first + UInt64(self.entries.count - 1)
    }

    var isOverfull: Bool { self.entries.count > self.capacity.waiting }

    /// Removes a trade whose partner has come.
    mutating func take(_ index: UInt64) -> Entry? {
        guard index >= self.first else { return self.remembered.removeValue(forKey: index) }
        let place = Int(index - self.first)
        guard place < self.entries.count else { return nil }
        self.entries[self.entries.index(self.entries.startIndex, offsetBy: place)].isOpen = false
        self.waiting -= 1
        let entry = self.entries[self.entries.index(self.entries.startIndex, offsetBy: place)]
        self.dropMatched()
        return entry
    }

    private mutating func dropMatched() {
        while self.entries.first?.isOpen == false {
            self.entries.removeFirst()
            self.first += 1
        }
    }

    /// The trades that wait, in the order of their arrival.
    var open: [Entry] { self.entries.filter(\.isOpen) }

    /// The oldest trade that waits.
    var oldest: Entry? { self.entries.first }

    /// Notes the judgement of the oldest trade, which waits no longer and is remembered.
    mutating func judgeOldest(_ outcome: AuditOutcome) {
        guard var entry = self.entries.popFirst() else { return }
        entry.outcome = outcome
        self.remembered[self.first] = entry
        self.rememberedInOrder.append(self.first)
        self.first += 1
        self.waiting -= 1
        self.dropMatched()
    }

    /// Removes and returns the oldest trade that need not be remembered any longer; `nil` if there is none.
    ///
    /// - Parameter arrival: trades that arrived before this are forgotten.
    mutating func forgetOldest(before arrival: Int64) -> AuditContent? {
        while let index = self.rememberedInOrder.first {
            guard let entry = self.remembered[index] else {
                self.rememberedInOrder.removeFirst()
                continue
            }
            guard entry.arrival < arrival || self.remembered.count > self.capacity.remembered else { return nil }
            self.rememberedInOrder.removeFirst()
            self.remembered[index] = nil
            return entry.content
        }
        return nil
    }
}

/// The judgement of a trade without a partner.
enum AuditOutcome: Equatable {
    /// The venue's: Finnhub did not send it, although its stream was live.
    case missing
    /// The venue's, of a time in which Finnhub's stream was interrupted.
    case inGap
    /// Finnhub's: an equal trade came, too, and the venue has one less.
    case repeated
    /// Finnhub's: the venue has no such trade.
    case unknown
    /// Nothing is proven, because one of the streams was not there.
    case outside
}
