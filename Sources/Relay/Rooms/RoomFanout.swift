import Wire

/// The fan-out of trades to the clients of rooms, who get none.
final class RoomFanout: TradeFanout {
    var groups = SubscriberGroups<RoomClient>()

    func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool { false }
}
