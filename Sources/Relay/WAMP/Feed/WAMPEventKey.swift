/// What makes two events of the feed the same publication.
enum WAMPEventKey: Equatable {
    /// A price, by its row and the number of its trade.
    case price(row: Int, ordinal: UInt64)
    /// A message of the relay, by its number.
    case message(UInt64)
}
