import NIOCore

/// The frames of a venue's trades, which are numbered by events in the order of their sending.
protocol VenueFrames: AnyObject {
    /// The tape's names.
    var symbols: [String] { get }
    var eventCount: Int { get }
    /// Returns the WebSocket frames of consecutive events.
    func frames(_ events: Range<Int>) -> ByteBuffer
    func symbol(of event: Int) -> Int
}

extension VenueMarket: VenueFrames {
    var eventCount: Int { self.trades.count }
    func symbol(of event: Int) -> Int { self.trades[event].symbol }
}
