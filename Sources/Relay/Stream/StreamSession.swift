import Market
import Wire

/// What one client of `/v1/stream` follows, in which way, and what it has been told.
///
/// It decides which prices the client gets: a snapshot before any price, never two equal debounced prices in a row, and
/// with each price how many trades were left out since the one before it. Single trades (``StreamDelivery/all``) pass by
/// it; it only knows from which one on they are wanted.
struct StreamSession {
    /// What a client is to be sent for one row.
    enum Message: Equatable {
        case nothing
        case snapshot(skipped: UInt64)
        case price(skipped: UInt64)
    }

    private struct Following {
        var delivery: StreamDelivery
        /// The last price sent; nil before the snapshot.
        var price: ExactDecimal?
        /// Which of the symbol's trades that was; before the snapshot, the newest that it did not ask for.
        var ordinal: UInt64
        /// Something was left out because the client was too slow.
        var isPostponed = false
        /// The number of the first trade that it wants in this run, where it wants every one.
        var first: UInt64
        /// Whether it wants those before, too, from where it left off.
        var isResuming = false
    }

    /// By the row of the ``PriceTable``.
    private var following: [Following?] = []
    private(set) var count = 0
    /// How symbols that appear later are followed; `nil` when they are not.
    private(set) var everything: StreamDelivery?
    /// Rows that are not followed although all are.
    private(set) var excluded: Set<Int> = []
    /// The rows to catch up with.
    private(set) var postponed: [Int] = []
    /// How many rows are followed in each way.
    private(set) var deliveries: [StreamDelivery: Int] = [:]

    var followsAll: Bool { self.everything != nil }

    /// Whether single trades of any symbol are wanted.
    var wantsTrades: Bool { self.everything == .all || self.deliveries[.all] != nil }

    /// The rows that are followed.
    var rows: [Int] { self.following.indices.filter { self.following[$0] != nil } }

    func follows(_ row: Int) -> Bool { row < self.following.count && self.following[row] != nil }

    func delivery(of row: Int) -> StreamDelivery? { self.follows(row) ? self.following[row]?.delivery : nil }

    /// Whether the client has a price of the row and follows it by debounced ones.
    func hasDebouncedPrice(_ row: Int) -> Bool {
        guard self.follows(row), let following = self.following[row] else { return false }
        return following.delivery == .latest && following.price != nil
    }

    // MARK: What is followed

    mutating func followAll(_ delivery: StreamDelivery) {
        self.everything = delivery
        self.excluded = []
    }

    /// Begins to follow a row; returns whether it was not followed before.
    ///
    /// - Parameters:
    ///   - taken: how many trades of it there have been.
    ///   - first: the number of the next trade.
    mutating func follow(_ row: Int, delivery: StreamDelivery = .latest, taken: UInt64 = 0, first: UInt64 = 0) -> Bool {
        self.excluded.remove(row)
        guard !self.follows(row) else { return false }
        while self.following.count <= row { self.following.append(nil) }
        self.following[row] = Following(delivery: delivery, ordinal: taken, first: first)
        self.count += 1
        self.deliveries[delivery, default: 0] += 1
        return true
    }

    /// Follows a row in another way.
    ///
    /// - Parameters:
    ///   - newest: the newest price and how many trades there have been, all of which the client knows or has been told
    ///     to have missed; `nil` where it has not traded.
    ///   - first: the number of the next trade.
    mutating func change(
        _ row: Int,
        to delivery: StreamDelivery,
        newest: (price: ExactDecimal, ordinal: UInt64)?,
        first: UInt64
    ) {
        guard let before = self.delivery(of: row), before != delivery else { return }
        self.forget(before)
        self.deliveries[delivery, default: 0] += 1
        self.following[row]?.delivery = delivery
        self.following[row]?.isPostponed = false
        self.postponed.removeAll { $0 == row }
        self.following[row]?.first = first
        guard before == .all || delivery == .all else { return }
        self.following[row]?.price = newest?.price
        self.following[row]?.ordinal = newest?.ordinal ?? 0
    }

    mutating func unfollow(_ row: Int) {
        if self.followsAll { self.excluded.insert(row) }
        self.drop(row)
    }

    /// The row is nobody's any more, and will be another symbol's.
    mutating func vanished(_ row: Int) {
        self.excluded.remove(row)
        self.drop(row)
    }

    private mutating func drop(_ row: Int) {
        guard let delivery = self.delivery(of: row) else { return }
        self.following[row] = nil
        self.count -= 1
        self.forget(delivery)
        self.postponed.removeAll { $0 == row }
    }

    private mutating func forget(_ delivery: StreamDelivery) {
        let left = (self.deliveries[delivery] ?? 1) - 1
        self.deliveries[delivery] = left == 0 ? nil : left
    }

    mutating func unfollowAll() { self = StreamSession() }

    /// A row has appeared; returns whether it is followed because all are.
    mutating func appeared(_ row: Int) -> Bool {
        guard let everything = self.everything, !self.excluded.contains(row) else { return false }
        return self.follow(row, delivery: everything)
    }

    // MARK: Single trades

    /// The number of the first trade of the row that is wanted in this run.
    func first(of row: Int) -> UInt64 { self.following[row]?.first ?? 0 }

    func isResuming(_ row: Int) -> Bool { self.follows(row) && self.following[row]?.isResuming == true }

    /// The trades of these rows are wanted from where the client left off; of all others it has had every one before
    /// `next`.
    mutating func resume(_ rows: [Int], next: UInt64) {
        for row in self.following.indices where self.following[row] != nil { self.following[row]?.first = next }
        for row in rows where self.follows(row) { self.following[row]?.isResuming = true }
    }

    mutating func resumed() {
        for row in self.following.indices where self.following[row]?.isResuming == true {
            self.following[row]?.isResuming = false
        }
    }

    // MARK: Prices

    /// A price is shown, or the newest is asked for: answers what the client gets, which is taken as sent.
    ///
    /// - Parameter showsUnchanged: whether a price that is the same as before is shown as well.
    mutating func show(
        _ price: ExactDecimal,
        ordinal: UInt64,
        row: Int,
        showsUnchanged: Bool = false
    ) -> Message {
        guard self.follows(row), let before = self.following[row] else { return .nothing }
        guard let last = before.price else {
            self.reported(price, ordinal, row)
            return .snapshot(skipped: ordinal > before.ordinal ? ordinal - before.ordinal - 1 : 0)
        }
        // Not newer than what it has (its snapshot was ahead of the debounce), or the same price: then it is told later
        // how many trades that left out.
        guard ordinal > before.ordinal, showsUnchanged || price != last || before.delivery != .latest else {
            return .nothing
        }
        self.reported(price, ordinal, row)
        return .price(skipped: ordinal - before.ordinal - 1)
    }

    /// The client has been told a price in another way.
    mutating func reported(_ price: ExactDecimal, _ ordinal: UInt64, _ row: Int) {
        self.following[row]?.price = price
        self.following[row]?.ordinal = ordinal
    }

    /// How many trades of the row came after the last price told; 0 where every one is wanted.
    ///
    /// - Parameter taken: how many there have been.
    func untold(of row: Int, taken: UInt64) -> UInt64 {
        guard self.follows(row), let following = self.following[row], following.delivery != .all else { return 0 }
        return taken > following.ordinal ? taken - following.ordinal : 0
    }

    /// The client has forgotten the row's price: the next is a snapshot.
    mutating func forgetPrice(of row: Int) {
        if self.follows(row) { self.following[row]?.price = nil }
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
