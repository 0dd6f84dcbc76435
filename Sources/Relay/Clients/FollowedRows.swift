import Market
import Wire

/// The rows that one client of `/v1/stream` or of lines follows, their deliveries, and the last price sent of each.
///
/// It decides which prices the client gets: a snapshot before any price, never two equal debounced prices in a row, and
/// with each price the number of trades left out since the previous one. Single trades (``StreamDelivery/all``) do not
/// pass through it; it only stores from which number on they are wanted.
struct FollowedRows {
    /// The message for a client about one row.
    enum Message: Equatable {
        case nothing
        case snapshot(skipped: UInt64)
        case price(skipped: UInt64)
    }

    private struct Following {
        var delivery: StreamDelivery
        /// The last price sent; nil before the snapshot.
        var price: ExactDecimal?
        /// The number of that trade among the symbol's trades; before the snapshot, that of the last trade before the
        /// subscription.
        var ordinal: UInt64
        /// Whether a price was left out because the client was too slow.
        var isPostponed = false
        /// With single trades: the number of the first wanted trade in this run.
        var first: UInt64
        /// Whether the earlier trades are wanted too, from the resumed position on.
        var isResuming = false
    }

    /// By the row of the ``PriceTable``.
    private var following: [Following?] = []
    private(set) var count = 0
    /// The delivery of symbols that appear later; `nil` if they are not followed.
    private(set) var everything: StreamDelivery?
    /// The rows that are not followed although all are.
    private(set) var excluded: Set<Int> = []
    /// The rows with a postponed price.
    private(set) var postponed: [Int] = []
    /// The number of rows with each delivery.
    private(set) var deliveries: [StreamDelivery: Int] = [:]

    var followsAll: Bool { self.everything != nil }

    /// Whether single trades of any symbol are wanted.
    var wantsTrades: Bool { self.everything == .all || self.deliveries[.all] != nil }

    /// The rows that are followed.
    var rows: [Int] { self.following.indices.filter { self.following[$0] != nil } }

    func follows(_ row: Int) -> Bool { row < self.following.count && self.following[row] != nil }

    func delivery(of row: Int) -> StreamDelivery? { self.follows(row) ? self.following[row]?.delivery : nil }

    /// Returns whether the client has a price of the row and gets debounced ones.
    func hasDebouncedPrice(_ row: Int) -> Bool {
        guard self.follows(row), let following = self.following[row] else { return false }
        return following.delivery == .latest && following.price != nil
    }

    /// Returns the filter of the single trades that are wanted.
    ///
    /// - Parameter name: returns the symbol of a row.
    func tradeFilter(in form: MessageForm = .text, name: (_ row: Int) -> String) -> SymbolFilter {
        guard self.wantsTrades else { return .nothing }
        let isEverything = self.everything == .all
        var rows = self.rows.filter { (self.delivery(of: $0) == .all) != isEverything }
        if isEverything { rows += self.excluded }
        return SymbolFilter(isEverything: isEverything, symbols: Set(rows.map(name)), form: form)
    }

    // MARK: Followed rows

    mutating func followAll(_ delivery: StreamDelivery) {
        self.everything = delivery
        self.excluded = []
    }

    /// Begins to follow a row; returns whether it was not followed before.
    ///
    /// - Parameters:
    ///   - taken: how many trades the row has had.
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

    /// Changes the delivery of a row.
    ///
    /// - Parameters:
    ///   - newest: the newest price and the number of trades so far, which the client has got or which were reported to
    ///     it as missed; `nil` if the row has not traded.
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

    /// Forgets a row that is free and will be given to another symbol.
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

    mutating func unfollowAll() { self = FollowedRows() }

    /// Adds a new row; returns whether it is followed because all are.
    mutating func appeared(_ row: Int) -> Bool {
        guard let everything = self.everything, !self.excluded.contains(row) else { return false }
        return self.follow(row, delivery: everything)
    }

    // MARK: Single trades

    /// Notes that the numbers of the trades begin anew: all trades of the new epoch are wanted.
    mutating func epochBegan() {
        for row in self.following.indices where self.following[row] != nil { self.following[row]?.first = 0 }
    }

    /// Returns the number of the first wanted trade of the row in this run.
    func first(of row: Int) -> UInt64 { self.following[row]?.first ?? 0 }

    func isResuming(_ row: Int) -> Bool { self.follows(row) && self.following[row]?.isResuming == true }

    /// Marks rows whose trades are wanted from the resumed position on. Of all other rows the client has had every
    /// trade before `next`.
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

    /// Returns the message for a price that is shown or requested, and notes it as sent.
    ///
    /// - Parameter showsUnchanged: whether an unchanged price is sent as well.
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
        // Either the price is not newer than the client's (its snapshot was ahead of the debounce), or it is the same.
        // The next message counts the trades left out here.
        guard ordinal > before.ordinal, showsUnchanged || price != last || before.delivery != .latest else {
            return .nothing
        }
        self.reported(price, ordinal, row)
        return .price(skipped: ordinal - before.ordinal - 1)
    }

    /// Notes a price that was sent in another message.
    mutating func reported(_ price: ExactDecimal, _ ordinal: UInt64, _ row: Int) {
        self.following[row]?.price = price
        self.following[row]?.ordinal = ordinal
    }

    /// Returns how many trades of the row came after the last price sent; 0 with single trades.
    ///
    /// - Parameter taken: how many trades the row has had.
    func unreported(of row: Int, taken: UInt64) -> UInt64 {
        guard self.follows(row), let following = self.following[row], following.delivery != .all else { return 0 }
        return taken > following.ordinal ? taken - following.ordinal : 0
    }

    /// Notes that the client has discarded the row's price, so that the next message is a snapshot.
    mutating func forgetPrice(of row: Int) {
        if self.follows(row) { self.following[row]?.price = nil }
    }

    /// Postpones the row's price for a client that is too slow; it gets the newest one later.
    mutating func postpone(_ row: Int) {
        guard self.follows(row), self.following[row]?.isPostponed == false else { return }
        self.following[row]?.isPostponed = true
        self.postponed.append(row)
    }

    /// Returns the rows with a postponed price, and clears them.
    mutating func takePostponed() -> [Int] {
        let rows = self.postponed
        self.postponed = []
        for row in rows { self.following[row]?.isPostponed = false }
        return rows
    }
}
