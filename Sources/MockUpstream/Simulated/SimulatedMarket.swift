import Market
package import NIOCore
package import Wire

/// A market that generates frames like Finnhub's, or a venue's, from a seed, without a socket, a clock or an end.
///
/// The trades of all symbols are in the order of their time. A frame is sent when it is full, or one second after its
/// first trade. A heartbeat is sent every 60 s.
package struct SimulatedMarket: Sendable {
    package struct Settings: Sendable {
        package var seed: UInt64
        package var symbols: [SimulatedSymbol]
        /// The exchange's clock at the market's start, ms since 1970.
        package var start: Int64
        package var tempo = SimulatedTempo()
        /// The dialect of the frames: Finnhub's, or a venue's, whose trades have ids.
        package let dialect: FrameDialect

        package init(
            seed: UInt64,
            symbols: [SimulatedSymbol] = [.bitcoin, .ether],
            start: Int64 = 1_767_225_600_000,
            dialect: FrameDialect = .finnhub
        ) {
            precondition(MockProtocols.of(dialect) != nil, "no market in the dialect \(dialect.name)")
            self.dialect = dialect
            precondition(!symbols.isEmpty, "a market without symbols")
            self.seed = seed
            self.symbols = symbols
            self.start = start
        }
    }

    /// One text frame and its arrival.
    package struct Frame: Sendable, Equatable {
        /// ns since the market's start; never less than the previous frame's.
        package var at: Int64
        package var text: ByteBuffer
    }

    /// The most trades in a frame, and how long the first one waits for others, in ms.
    package static let tradesPerFrame = 10
    package static let frameWindow = 1_000
    /// The distance between the first ids of two symbols; the first symbol's first trade has the id 1.
    package static let idsPerSymbol: UInt64 = 1_000_000_000
    /// The interval of heartbeats, in ms.
    package static let pingInterval = 60_000

    private let settings: Settings
    private let upstream: any MockProtocol
    /// The most trades in a frame of a venue; `nil` collects trades as Finnhub does.
    private let tradesPerVenueFrame: Int?
    /// The id of each symbol's next trade.
    private var nextIDs: [UInt64] = []
    private var random: SeededGenerator
    private var symbols = SymbolTable()
    private var flows: [SimulatedOrderFlow] = []
    /// The trades made so far; those from `sent` on are in no frame yet.
    private var trades: [Trade] = []
    private var sent = 0
    private var nextPing = Self.pingInterval
    private var lastArrival: Int64 = 0
    /// The time of the next burst, ms since the start, and the number of bursts so far.
    private var nextBurst = Int.max
    private var bursts = 0

    package init(_ settings: Settings) {
        self.settings = settings
        self.upstream = MockProtocols.of(settings.dialect) ?? FinnhubMock()
        self.tradesPerVenueFrame = self.upstream.tradesPerFrame
        self.random = SeededGenerator(seed: settings.seed)
        for symbol in settings.symbols {
            guard let id = self.symbols.intern(self.upstream.symbol(symbol.name)) else {
                preconditionFailure("no symbol: \(symbol.name)")
            }
            let first = Int.random(in: 0..<200, using: &self.random)
            self.flows.append(SimulatedOrderFlow(symbol: symbol, id: id, first: first, tempo: settings.tempo))
        }
        self.nextIDs = self.symbols.names.indices.map { Self.idsPerSymbol * UInt64($0) + 1 }
        self.nextBurst = settings.tempo.burst?.interval ?? .max
    }

    /// The names of the symbols, in the order of the settings.
    package var symbolNames: [String] { self.symbols.names }

    /// Makes the next frame.
    package mutating func nextFrame() -> Frame {
        while true {
            if let most = self.tradesPerVenueFrame, self.sent < self.trades.count { return self.leave(atMost: most) }
            let order = self.nextOrder
            let windowEnd = self.windowEnd
            if self.tradesPerVenueFrame == nil, self.nextPing <= min(order, windowEnd ?? .max) {
                return self.ping()
            }
            if let windowEnd, windowEnd <= order || self.trades.count - self.sent >= Self.tradesPerFrame {
                return self.leave(windowEnd: windowEnd)
            }
            if let burst = self.settings.tempo.burst, self.nextBurst == order {
                self.flows[self.bursts % self.flows.count].burst(
                    trades: burst.trades,
                    at: order,
                    start: self.settings.start,
                    into: &self.trades,
                    random: &self.random
                )
                self.bursts += 1
                self.nextBurst += burst.interval
                continue
            }
            // There are at most as many flows as symbols; one of them has the earliest order.
            for index in self.flows.indices where self.flows[index].next == order {
                self.flows[index].takeOrder(start: self.settings.start, into: &self.trades, random: &self.random)
                break
            }
        }
    }

    /// The time of the next order, ms since the start.
    private var nextOrder: Int { self.flows.reduce(self.nextBurst) { min($0, $1.next) } }

    /// The time at which the frame being filled must be sent, ms since the start; `nil` while it is empty.
    private var windowEnd: Int? {
        guard self.sent < self.trades.count else { return nil }
        return self.milliseconds(of: self.trades[self.sent]) + Self.frameWindow
    }

    private func milliseconds(of trade: Trade) -> Int { Int(trade.exchangeTime / 1_000_000 - self.settings.start) }

    private mutating func leave(windowEnd: Int) -> Frame {
        let count = min(self.trades.count - self.sent, Self.tradesPerFrame)
        let frame = self.trades[self.sent..<self.sent + count]
        // A full frame is sent with its last trade.
        let time = count == Self.tradesPerFrame ? self.milliseconds(of: frame[frame.endIndex - 1]) : windowEnd
        var text = ByteBuffer()
        FinnhubEncoder.trade(frame, symbols: self.symbols, into: &text)
        self.sent += count
        self.forgetSent()
        return Frame(at: self.arrival(time), text: text)
    }

    /// Sends the next trades of one symbol and one moment, up to a number, in the venue's dialect and with their ids.
    private mutating func leave(atMost most: Int) -> Frame {
        let first = self.trades[self.sent]
        var end = self.sent
        while end < self.trades.count, end - self.sent < most, self.trades[end].symbol == first.symbol,
            self.trades[end].exchangeTime == first.exchangeTime
        {
            self.trades[end].id = self.nextIDs[Int(first.symbol.index)]
            self.nextIDs[Int(first.symbol.index)] += 1
            end += 1
        }
        let text = self.upstream.encode(self.trades[self.sent..<end], symbols: self.symbols).first ?? ByteBuffer()
        self.sent = end
        self.forgetSent()
        return Frame(at: self.arrival(self.milliseconds(of: first)), text: text)
    }

    private mutating func forgetSent() {
        guard self.sent == self.trades.count else { return }
        self.trades.removeAll(keepingCapacity: true)
        self.sent = 0
    }

    private mutating func ping() -> Frame {
        let time = self.nextPing
        self.nextPing += Self.pingInterval
        return Frame(at: self.arrival(time), text: FinnhubEncoder.ping)
    }

    /// Returns a time within the millisecond and after the previous frame; the frames of one burst are 20 to 80 µs
    /// apart.
    private mutating func arrival(_ milliseconds: Int) -> Int64 {
        let apart = Int64.random(in: 20_000..<80_000, using: &self.random)
        self.lastArrival = max(Int64(milliseconds) * 1_000_000 + apart, self.lastArrival + apart)
        return self.lastArrival
    }
}
