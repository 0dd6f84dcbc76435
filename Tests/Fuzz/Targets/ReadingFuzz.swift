import Feeds
import Market
import NIOCore
import Wire

/// The rules for the reader of a relay's `/v1/stream` over several connections with arbitrary messages.
///
/// Each line of an input is a message, with three exceptions: `!` is a disconnection and a new connection, `+NAME` and
/// `-NAME` are subscriptions and unsubscriptions of the user. A line may also be an answer of `/v1/bars`. Bars and prices
/// make up a chart's history, as on the screen.
enum ReadingFuzz {
    private static let hello =
        #"{"type":"hello","epoch":7,"seq":3,"status":{"state":"live","since":1,"source":"live"},"symbols":[]}"#
    private static let snapshot =
        #"{"type":"snapshot","symbol":"A","price":"1.5","size":"2","time":1721555886208,"received":1721555886210123,"seq":2,"skipped":0,"age":12,"volume":"3.5","open":"1","high":"2","low":"1","trades":3}"#
    private static let trade =
        #"{"type":"trade","symbol":"A","seq":9,"price":"1.5","size":"2","time":1721555886208,"received":1721555886210123}"#
    private static let resumed = #"{"type":"resumed","epoch":7,"from":3,"to":17,"trades":5,"complete":true}"#
    private static let gap =
        #"{"type":"gap","from":1721555886208,"to":1721555886209,"reason":"lost","nextSeq":5,"epoch":8,"overlap":null,"cause":"seek"}"#

    private static let bars =
        #"{"width":"1s","bars":[{"start":1721555886000,"open":"1","high":"2","low":"1","close":"1.5","trades":3}]}"#

    static let seeds: [[UInt8]] = [
        [Self.hello, Self.snapshot, "!", Self.hello, Self.trade, Self.resumed, Self.snapshot],
        // The largest age and the latest time that are possible, and after a disconnection the earliest.
        [
            Self.hello,
            Self.snapshot.replacing(#""age":12"#, with: #""age":4611686018427"#)
                .replacing("1721555886210123", with: "4611686018427000"),
            "!", Self.hello, Self.trade.replacing("1721555886210123", with: "0"),
        ],
        [Self.hello, Self.snapshot, "!", Self.hello, Self.gap, Self.trade, Self.resumed, "-A", Self.trade, "+A"],
        [
            Self.hello, Self.snapshot.replacing("snapshot", with: "price"), "+B",
            #"{"type":"symbol","symbol":"A","state":"released","since":1721555886208,"reason":null}"#, Self.trade, "!",
            Self.gap, Self.hello, Self.snapshot.replacing("snapshot", with: "trades"),
        ],
        [
            Self.hello, Self.snapshot.replacing(#""3.5""#, with: #""1e-9223372036854775808""#), Self.snapshot,
            #"{"type":"replay","start":1795230000000,"end":1795240000000,"at":1795239062500,"percent":90.63,"speed":10.0,"paused":false}"#,
        ],
        // Bars of the latest time that is possible, and a price of an early one.
        [
            Self.hello, Self.bars, Self.snapshot, Self.bars.replacing("1721555886000", with: "8796093022000"),
            Self.snapshot.replacing("1721555886208", with: "-9000000000000"),
        ],
    ].map { Array($0.joined(separator: "\n").utf8) }

    static let words: [[UInt8]] =
        Mutator.jsonWords
        + [
            "\n!\n", "\n+A\n", "\n-A\n", "\n\(Self.hello)\n", "\n\(Self.snapshot)\n", "\n\(Self.trade)\n",
            "\n\(Self.resumed)\n", "\n\(Self.gap)\n", "\n\(Self.bars)\n", "8796093022000", "-9000000000000",
            "4611686018427", "4611686018427387", "4611686018427387904",
            "9223372036854775807", "-9223372036854775808", "18446744073709551615", "0", "1e17", "1e18", "1e-18",
            "1e-31",
            "1e-9223372036854775808", "99999999999999999999999999999999999999", "null",
        ].map { Array($0.utf8) }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        var isNews = false
        for everyTrade in [false, true] {
            for symbols in [[], ["A", "B"]] {
                let found = try Self.read(input, StreamReading(symbols: symbols, takesEveryTrade: everyTrade))
                isNews = found || isNews
            }
        }
        return isNews
    }

    private static func read(_ input: [UInt8], _ start: StreamReading) throws(FuzzFinding) -> Bool {
        var reading = start
        var wall: Int64 = 1_795_239_000_000_000_000
        var isNews = false
        var history = PriceHistory()
        try Self.judge(reading.opened())
        for line in input.split(separator: UInt8(ascii: "\n")) {
            wall += 1_000_000
            switch (line.first, line.count) {
            case (UInt8(ascii: "!"), 1): try Self.judge(reading.opened())
            case (UInt8(ascii: "+"), 2...):
                try Self.judge(reading.subscribed(String(decoding: line.dropFirst(), as: UTF8.self)).map { [$0] } ?? [])
            case (UInt8(ascii: "-"), 2...):
                try Self.judge(
                    reading.unsubscribed(String(decoding: line.dropFirst(), as: UTF8.self)).map { [$0] } ?? []
                )
            default:
                if let bars = BarList.read(ByteBuffer(bytes: line), width: .second, limit: 512) {
                    history = PriceHistory(seconds: bars, minutes: [])
                }
                let news = reading.took(StreamMessage.parse(ByteBuffer(bytes: line)), wall: wall)
                try Self.judge(reading.takeRequests())
                try FuzzFinding.require(reading.takeRequests().isEmpty, "a request is made twice")
                guard let news else { continue }
                isNews = try Self.judge(news) || isNews
                switch news {
                case .snapshot(let update, _), .price(let update):
                    history.take(update.summary.price, at: update.summary.exchangeTime, arrived: wall)
                    _ = history.price(at: update.summary.exchangeTime)
                default: break
                }
            }
        }
        return isNews
    }

    /// Every request must be one that a relay can parse.
    private static func judge(_ requests: [StreamRequest]) throws(FuzzFinding) {
        for request in requests {
            let back = StreamRequest.parse(request.encoded())
            try FuzzFinding.require(back == request, "\(request) written again is \(String(describing: back))")
        }
    }

    /// Every value must be within the bounds that the displays rely on; returns whether the message is a price.
    private static func judge(_ news: StreamMessage) throws(FuzzFinding) -> Bool {
        switch news {
        case .snapshot(let update, let age):
            let isSane = age.map { (0...StreamMessage.longestSpan).contains($0) } ?? true
            try FuzzFinding.require(isSane, "an age of \(age ?? 0)")
            try Self.judge(update.summary)
            return true
        case .price(let update):
            try Self.judge(update.summary)
            return true
        case .trades(let summary):
            try Self.judge(summary)
            return true
        case .gap(let gap):
            try FuzzFinding.require(gap.from >= 0 && gap.to >= 0 && gap.length >= 0, "\(gap)")
            return false
        case .replay(let position):
            try FuzzFinding.require((0...100).contains(position.percent), "\(position)")
            return false
        case .settled(let outcome):
            let isWithin = outcome.lost.allSatisfy { lost in
                outcome.missing.map { lost.clamped(to: $0) == lost } ?? false
            }
            try FuzzFinding.require(isWithin && outcome.from >= 0 && outcome.to >= 0, "\(outcome)")
            try FuzzFinding.require(!outcome.sentence.isEmpty, "\(outcome)")
            return false
        case .venueDay(let day):
            _ = day.change
            try FuzzFinding.require(day.received >= 0 && day.volume >= .zero, "\(day)")
            return false
        case .hello, .trade, .status, .resumed, .symbol, .released, .error, .unknown, .malformed: return false
        }
    }

    private static func judge(_ summary: SymbolSummary) throws(FuzzFinding) {
        let prices = [summary.price, summary.open, summary.high, summary.low]
        try FuzzFinding.require(
            prices.allSatisfy(TradeBounds.canBePrice) && TradeBounds.canBeSize(summary.size),
            "beyond the bounds: \(summary)"
        )
        try FuzzFinding.require((0...StreamMessage.longestSpan).contains(summary.received), "\(summary)")
    }
}
