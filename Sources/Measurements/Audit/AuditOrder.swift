/// The number of delivered trades whose order is not that of their ids: the fewest that would have to be moved.
///
/// All but those are a longest increasing subsequence of the ids; its ends are found by patience sorting.
struct AuditOrder {
    /// The most ends that are kept. A trade that is later than that many others is out of order, whatever they were.
    private static let limit = 8_192

    /// For each length, the smallest id with which an increasing subsequence of that length ends.
    private var ends: [UInt64] = []
    /// The lengths that are kept no longer, and the number of trades.
    private var forgotten = 0
    private var count = 0

    /// The number of trades out of order.
    var displaced: Int { self.count - self.forgotten - self.ends.count }

    /// The id behind which the next trade is in order; 0 before the first.
    var newest: UInt64 { self.ends.last ?? 0 }

    /// Takes the id of the next trade.
    mutating func take(_ id: UInt64) {
        self.count += 1
        guard let last = self.ends.last, id <= last else {
            self.ends.append(id)
            if self.ends.count > Self.limit {
                self.forgotten += Self.limit / 2
                self.ends.removeFirst(Self.limit / 2)
            }
            return
        }
        var (low, high) = (0, self.ends.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if self.ends[middle] < id { low = middle + 1 } else { high = middle }
        }
        if low > 0 || self.forgotten == 0 { self.ends[low] = id }
    }
}
