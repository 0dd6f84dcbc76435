import Market
import NIOCore
import Wire

/// A venue's market whose trades are computed from their ids, so that ten hours of it need no memory.
///
/// The symbols trade in turn. Of three neighbours of a symbol, all have the same price and size.
final class FormulaMarket: VenueFrames {
    let venue: Venue
    let symbols: [String]
    /// The wall clock at the market's start, ns since 1970; a whole second.
    let start: Int64
    /// The time between two trades of the venue, and of the first one, ns.
    let period: Int64
    let offset: Int64
    let firstID: UInt64 = 10_000_000
    /// The parts of the symbols' frames that do not change.
    let natives: [String]
    private let beginnings: [String]
    private let middles: [String]
    private var buffer = ByteBuffer()
    /// The newest second in RFC 3339, without a fraction.
    private var second: (at: Int64, text: String) = (-1, "")

    init(_ venue: Venue, count: Int, start: Int64, period: Int64, offset: Int64) {
        self.venue = venue
        self.start = start
        self.period = period
        self.offset = offset
        let natives = (0..<count).map { index in
            let name = "C\(index / 10)\(index % 10)"
            return switch venue {
            case .binance: "\(name)USDT"
            case .coinbase: "\(name)-USD"
            case .kraken: "\(name)/USD"
            }
        }
        self.natives = natives
        self.symbols = natives.map(venue.symbol)
        switch venue {
        case .binance:
            self.beginnings = natives.map { #"{"stream":"\#($0.lowercased())@trade","data":{"e":"trade","E":"# }
            self.middles = natives.map { #","s":"\#($0)","t":"# }
        case .coinbase:
            let orders =
                #","maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","#
                + #""taker_order_id":"e6f50944-3e2a-439e-ae49-308300ba8296","side":"sell","size":""#
            self.beginnings = natives.map { _ in #"{"type":"match","trade_id":"# }
            self.middles = natives.map { _ in orders }
        case .kraken:
            self.beginnings = natives.map {
                #"{"channel":"trade","type":"update","data":[{"symbol":"\#($0)","side":"buy","price":"#
            }
            self.middles = natives.map { _ in #","ord_type":"limit","trade_id":"# }
        }
    }

    var eventCount: Int { .max }

    func symbol(of event: Int) -> Int { event % self.symbols.count }

    /// When an event happens, ns since the market's start.
    func at(_ event: Int) -> Int64 { self.offset + Int64(event) * self.period }

    /// The number of the symbol's trades until a time.
    func count(of symbol: Int, at: Int64) -> Int {
        guard at >= self.at(symbol) else { return 0 }
        let events = Int((at - self.offset) / self.period)
        return (events - symbol) / self.symbols.count + 1
    }

    /// The exchange's time of a symbol's trade, ns since 1970.
    func time(_ symbol: Int, _ place: Int) -> Int64 {
        let unit: Int64 = self.venue == .binance ? 1_000_000 : 1_000
        return (self.start + self.at(place * self.symbols.count + symbol)) / unit * unit
    }

    /// The price in hundredths and the size in hundred-thousandths.
    func numbers(_ symbol: Int, _ place: Int) -> (price: Int, size: Int) {
        let mixed = (place / 3 &+ symbol &* 7_919) &* 2_654_435_761 % 1_000_003
        return (100_000 + mixed % 9_973, 1 + mixed % 99_991)
    }

    /// Returns a trade in the venue's own text.
    func trade(_ symbol: Int, _ place: Int) -> MarketTrade {
        let (price, size) = self.numbers(symbol, place)
        let event = place * self.symbols.count + symbol
        return MarketTrade(
            at: self.at(event),
            symbol: symbol,
            id: self.firstID + UInt64(place),
            time: self.time(symbol, place),
            price: Self.decimal(price, digits: 2),
            size: Self.decimal(size, digits: 5)
        )
    }

    private static func decimal(_ number: Int, digits: Int) -> String {
        let text = String(number)
        let whole = String(repeating: "0", count: max(digits + 1 - text.count, 0)) + text
        return "\(whole.dropLast(digits)).\(whole.suffix(digits))"
    }

    // MARK: Frames

    func frames(_ events: Range<Int>) -> ByteBuffer {
        // A new buffer: the program may keep the old one.
        self.buffer = ByteBufferAllocator().buffer(capacity: 220 * events.count)
        for event in events { self.write(event) }
        return self.buffer
    }

    private func write(_ event: Int) {
        let (symbol, place) = (event % self.symbols.count, event / self.symbols.count)
        let time = self.time(symbol, place)
        let (price, size) = self.numbers(symbol, place)
        self.buffer.writeInteger(UInt8(0x81))
        self.buffer.writeInteger(UInt8(126))
        let lengthIndex = self.buffer.writerIndex
        self.buffer.writeInteger(UInt16(0))
        let begin = self.buffer.writerIndex
        self.buffer.writeString(self.beginnings[symbol])
        let id = self.firstID + UInt64(place)
        switch self.venue {
        case .binance:
            let ms = UInt64(time / 1_000_000)
            self.writeDigits(ms + 1, atLeast: 1)
            self.buffer.writeString(self.middles[symbol])
            self.writeDigits(id, atLeast: 1)
            self.buffer.writeStaticString(#","p":""#)
            self.writeDecimal(price, digits: 2)
            self.buffer.writeStaticString(#"000000","q":""#)
            self.writeDecimal(size, digits: 5)
            self.buffer.writeStaticString(#"000","T":"#)
            self.writeDigits(ms, atLeast: 1)
            self.buffer.writeStaticString(#","m":true,"M":true}}"#)
        case .coinbase:
            self.writeDigits(id, atLeast: 1)
            self.buffer.writeString(self.middles[symbol])
            self.writeDecimal(size, digits: 5)
            self.buffer.writeStaticString(#"","price":""#)
            self.writeDecimal(price, digits: 2)
            self.buffer.writeStaticString(#"","product_id":""#)
            self.buffer.writeString(self.natives[symbol])
            self.buffer.writeStaticString(#"","sequence":"#)
            self.writeDigits(id * 7, atLeast: 1)
            self.buffer.writeStaticString(#","time":""#)
            self.writeStamp(time)
            self.buffer.writeStaticString(#""}"#)
        case .kraken:
            self.writeDecimal(price, digits: 2)
            self.buffer.writeStaticString(#","qty":"#)
            self.writeDecimal(size, digits: 5)
            self.buffer.writeString(self.middles[symbol])
            self.writeDigits(id, atLeast: 1)
            self.buffer.writeStaticString(#","timestamp":""#)
            self.writeStamp(time)
            self.buffer.writeStaticString(#""}]}"#)
        }
        self.buffer.setInteger(UInt16(self.buffer.writerIndex - begin), at: lengthIndex)
    }

    private func writeDecimal(_ number: Int, digits: Int) {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        self.writeDigits(UInt64(number / scale), atLeast: 1)
        self.buffer.writeInteger(UInt8(ascii: "."))
        self.writeDigits(UInt64(number % scale), atLeast: digits)
    }

    private func writeDigits(_ number: UInt64, atLeast: Int) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { bytes in
            var rest = number
            var count = 0
            while rest > 0 || count < atLeast {
                count += 1
                bytes[24 - count] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            self.buffer.writeBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[(24 - count)...]))
        }
    }

    private func writeStamp(_ time: Int64) {
        let second = time / 1_000_000_000
        if self.second.at != second {
            self.second = (second, String(UTCText.secondStamp(second * 1_000_000_000).prefix(19)))
        }
        self.buffer.writeString(self.second.text)
        self.buffer.writeInteger(UInt8(ascii: "."))
        self.writeDigits(UInt64(time % 1_000_000_000 / 1_000), atLeast: 6)
        self.buffer.writeInteger(UInt8(ascii: "Z"))
    }
}
