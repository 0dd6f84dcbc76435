import Glibc
import Market
import NIOCore
import WebSocket
package import Wire

/// One trade of a venue, with its numbers as the venue writes them.
package struct MarketTrade: Sendable {
    /// When the venue sends it, ns since the market's start.
    var at: Int64
    /// The index of its symbol.
    var symbol: Int
    var id: UInt64
    /// The exchange's time, ns since 1970; whole microseconds.
    var time: Int64
    var price: String
    var size: String
}

/// A venue's market that is known in full: every trade by its id, and its frame, in the order in which the venue sends
/// them.
///
/// The lines for the hash are made from the venue's own text, not by the code under test.
package final class VenueMarket: Sendable {
    /// The trades of one symbol. A place is an id without the first one.
    struct Column: Sendable {
        let first: UInt64
        /// The event of each place.
        var events: [Int32] = []
        var prices: [ExactDecimal] = []
        var sizes: [ExactDecimal] = []
        var times: [Int64] = []
        /// The lines `id,time,price,size\n` of all places, and where each begins.
        var lines: [UInt8] = []
        var lineStarts: [Int] = [0]

        func line(_ place: Int) -> ArraySlice<UInt8> {
            self.lines[self.lineStarts[place]..<self.lineStarts[place + 1]]
        }
    }

    package let venue: Venue
    /// By the tape's names.
    package let symbols: [String]
    /// The wall clock at the market's start, ns since 1970.
    let start: Int64
    let trades: [MarketTrade]
    let columns: [Column]
    /// The places of each symbol with one time of more trades than an answer of the REST service has.
    let crowds: [[Range<Int>]]
    /// The WebSocket frames of all events, one after the other, and where each begins.
    private let frames: ByteBuffer
    private let frameStarts: [Int]
    /// The trades as the mock server keeps them for what it sends at a subscription.
    let table: SymbolTable
    let parsed: [Trade]

    /// - Parameters:
    ///   - trades: in the order of their sending; the ids of a symbol follow each other without a hole.
    ///   - texts: the text frame of each trade; `nil` for frames made by ``VenueText``.
    package init(
        _ venue: Venue,
        symbols: [String],
        start: Int64,
        trades: [MarketTrade],
        texts: [String]? = nil
    ) throws(MarketFailure) {
        self.venue = venue
        self.symbols = symbols
        self.start = start
        self.trades = trades
        var table = SymbolTable()
        let ids = symbols.compactMap { table.intern($0) }
        var columns: [Column?] = symbols.map { _ in nil }
        var frames = ByteBuffer()
        var frameStarts = [0]
        var parsed: [Trade] = []
        for (event, trade) in trades.enumerated() {
            var column = columns[trade.symbol] ?? Column(first: trade.id)
            columns[trade.symbol] = nil
            guard trade.id == column.first + UInt64(column.events.count) else {
                throw MarketFailure("the ids of \(symbols[trade.symbol]) have a hole before \(trade.id)")
            }
            guard let price = ExactDecimal(trade.price), let size = ExactDecimal(trade.size) else {
                throw MarketFailure("a number cannot be read: \(trade.price) \(trade.size)")
            }
            column.events.append(Int32(event))
            column.prices.append(price)
            column.sizes.append(size)
            column.times.append(trade.time)
            column.lines += Array(VenueText.line(trade).utf8)
            column.lineStarts.append(column.lines.count)
            columns[trade.symbol] = column
            let text = texts?[event] ?? VenueText.frame(trade, of: venue, symbol: symbols[trade.symbol])
            WebSocketFraming.serverText(ByteBuffer(string: text), into: &frames)
            frameStarts.append(frames.writerIndex)
            parsed.append(
                Trade(price: price, size: size, exchangeTime: trade.time, symbol: ids[trade.symbol], id: trade.id)
            )
        }
        self.columns = columns.map { $0 ?? Column(first: 0) }
        self.crowds = self.columns.map { Self.crowds($0.times) }
        self.frames = frames
        self.frameStarts = frameStarts
        self.table = table
        self.parsed = parsed
    }

    private static func crowds(_ times: [Int64]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var first = 0
        for place in 1...max(times.count, 1) where place >= times.count || times[place] != times[first] {
            if place - first > VenueTradesRequest.maximumCount { found.append(first..<place) }
            first = place
        }
        return found
    }

    /// When the first of the ``crowds`` begins; `nil` without one.
    package var crowd: Int64? {
        zip(self.columns, self.crowds).compactMap { column, crowds in
            crowds.first.map { self.trades[Int(column.events[$0.lowerBound])].at }
        }.min()
    }

    var end: Int64 { self.trades.last?.at ?? 0 }

    func place(of event: Int) -> Int {
        let trade = self.trades[event]
        return Int(trade.id - self.columns[trade.symbol].first)
    }

    /// Returns the WebSocket frames of consecutive events.
    func frames(_ events: Range<Int>) -> ByteBuffer {
        let begin = self.frameStarts[events.lowerBound]
        return self.frames.getSlice(at: begin, length: self.frameStarts[events.upperBound] - begin) ?? ByteBuffer()
    }

    /// Returns the number of the symbol's trades that the venue has sent by a time.
    func count(of symbol: Int, at: Int64) -> Int {
        let events = self.columns[symbol].events
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if self.trades[Int(events[middle])].at <= at { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Why a market cannot be used.
package struct MarketFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
