import Market

/// What one client of `/v1/stream` follows, and what it has been told.
///
/// It decides which of the desk's prices the client gets: a snapshot before any price, never two equal prices in a row,
/// and with each price how many trades were left out since the one before it.
struct StreamSession {
    /// What a client is to be sent for one row.
    enum Message: Equatable {
        case nothing
        case snapshot
        case price(skipped: UInt64)
    }

    private struct Following {
        /// The last price sent; nil before the snapshot.
        var price: ExactDecimal?
        /// Which of the symbol's trades that was.
        var ordinal: UInt64 = 0
        /// Something was left out because the client was too slow.
        var isPostponed = false
    }

    /// By the desk's row.
    private var following: [Following?] = []
    private(set) var count = 0
    /// Whether symbols that appear later are followed too.
    private(set) var followsAll = false
    private var excluded: Set<Int> = []
    /// The rows to catch up with.
    private(set) var postponed: [Int] = []

    func follows(_ row: Int) -> Bool { row < self.following.count && self.following[row] != nil }

    /// Whether the client has a price of the row.
    func hasPrice(_ row: Int) -> Bool { self.follows(row) && self.following[row]?.price != nil }

    mutating func followAll() {
        self.followsAll = true
        self.excluded = []
    }

    /// Begins to follow a row; answers whether it was not followed before.
    mutating func follow(_ row: Int) -> Bool {
        self.excluded.remove(row)
        guard !self.follows(row) else { return false }
        while self.following.count <= row { self.following.append(nil) }
        self.following[row] = Following()
        self.count += 1
        return true
    }

    mutating func unfollow(_ row: Int) {
        if self.followsAll { self.excluded.insert(row) }
        guard self.follows(row) else { return }
        self.following[row] = nil
        self.count -= 1
        self.postponed.removeAll { $0 == row }
    }

    mutating func unfollowAll() { self = StreamSession() }

    /// A row has appeared; answers whether it is followed because all are.
    mutating func appeared(_ row: Int) -> Bool {
        self.followsAll && !self.excluded.contains(row) && self.follow(row)
    }

    /// The desk shows a price, or the newest is asked for: answers what the client gets, which is taken as sent.
    mutating func show(_ price: ExactDecimal, ordinal: UInt64, row: Int) -> Message {
        guard self.follows(row), let before = self.following[row] else { return .nothing }
        guard let last = before.price else {
            self.following[row] = Following(price: price, ordinal: ordinal)
            return .snapshot
        }
        // Not newer than what it has (its snapshot was ahead of the debounce), or the same price: then it is told later
        // how many trades that left out.
        guard ordinal > before.ordinal, price != last else { return .nothing }
        self.following[row] = Following(price: price, ordinal: ordinal)
        return .price(skipped: ordinal - before.ordinal - 1)
    }

    /// The client is too slow for a price of this row: it gets the newest later.
    mutating func postpone(_ row: Int) {
        guard self.follows(row), self.following[row]?.isPostponed == false else { return }
        self.following[row]?.isPostponed = true
        self.postponed.append(row)
    }

    /// Returns the rows to catch up with, and forgets them.
    mutating func takePostponed() -> [Int] {
        let rows = self.postponed
        self.postponed = []
        for row in rows { self.following[row]?.isPostponed = false }
        return rows
    }
}
