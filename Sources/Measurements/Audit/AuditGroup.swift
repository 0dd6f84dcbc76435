/// The trades of one content that may come again or still have no partner.
struct AuditGroup {
    private struct Waiting {
        /// The index in the ``AuditQueue`` of its side.
        var index: UInt64
        var number: UInt64
    }

    /// How many of them are searched for the one in order.
    private static let searched = 64

    /// Whether the trades without a partner are the venue's. Those of both sides never wait at the same time.
    private var isVenue = false
    /// Those trades, oldest first. One is the rule, which needs no memory of its own.
    private var first: Waiting?
    private var others: [Waiting] = []
    /// How many trades of this content have found their partners lately.
    var matched = 0

    var isUnused: Bool { self.first == nil && self.matched == 0 }

    /// Adds a trade without a partner.
    mutating func wait(_ index: UInt64, number: UInt64, isVenue: Bool) {
        self.isVenue = isVenue
        let own = Waiting(index: index, number: number)
        if self.first == nil { self.first = own } else { self.others.append(own) }
    }

    /// Removes and returns the oldest trade of a side without a partner whose number is beyond another; if there is
    /// none, the oldest.
    mutating func take(ofVenue isVenue: Bool, beyond number: UInt64 = 0) -> UInt64? {
        guard self.isVenue == isVenue, let oldest = self.first else { return nil }
        if oldest.number <= number,
            let place = self.others.prefix(Self.searched).firstIndex(where: { $0.number > number })
        {
            return self.others.remove(at: place).index
        }
        self.first = self.others.isEmpty ? nil : self.others.removeFirst()
        return oldest.index
    }
}
