import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

/// Tests of a venue's feed with two connections in virtual time.
@Suite("A venue's feed that rotates its connection")
struct RotationFeedTests {
    static func trade(_ symbol: String, _ id: Int) -> String {
        let stream = "\(symbol.lowercased())@trade"
        return #"{"stream":"\#(stream)","data":{"e":"trade","E":1723161255343,"s":"\#(symbol)","t":\#(id),"#
            + #""p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}}"#
    }

    private static let announcement = #"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}}"#
    private static let pair = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]

    /// A live feed of two symbols whose end was announced, so that a second connection is open.
    private static func announced(
        _ symbols: [String] = Self.pair,
        listed: [String]? = nil,
        change: (inout VenueSettings) -> Void = { _ in }
    ) throws -> VenueBench {
        let bench = VenueBench(.binance, symbols, listed: listed, change: change)
        bench.start()
        _ = try bench.requests()
        bench.connections[0].send(Self.trade("BTCUSDT", 10), Self.trade("ETHUSDT", 100))
        bench.connections[0].send(Self.announcement)
        bench.advance(seconds: 2)
        return bench
    }

    private static func ids(_ bench: VenueBench, _ symbol: String = "BINANCE:BTCUSDT") -> [UInt64] {
        let contents = bench.log.contents
        return contents.trades.filter { contents.symbols.name(of: $0.symbol) == symbol }.compactMap(\.id)
    }

    private static func isPlain(_ bench: VenueBench) -> Bool {
        let contents = bench.log.contents
        let repeated = contents.losses.reduce(0) { $0 + $1.repeatedTrades }
        return contents.gaps.isEmpty && repeated == 0 && contents.trades.allSatisfy { $0.marks.isEmpty }
    }

    @Test("opens a second connection after the announcement, changes to it when all ids overlap, and stays live")
    func rotates() throws {
        let bench = try Self.announced()
        #expect(bench.connections.count == 2)
        let second = bench.connections[1]
        #expect(
            try second.takeTexts() == [#"{"method":"SUBSCRIBE","params":["btcusdt@trade","ethusdt@trade"],"id":1}"#]
        )
        let statuses = bench.log.contents.statuses.count
        // The second connection is ahead of the first, and then behind it.
        second.send(Self.trade("BTCUSDT", 12), Self.trade("BTCUSDT", 13))
        bench.connections[0].send(Self.trade("BTCUSDT", 11))
        #expect(Self.ids(bench) == [10, 11])
        bench.connections[0].send(Self.trade("BTCUSDT", 12), Self.trade("ETHUSDT", 101))
        bench.advance(seconds: 1)
        #expect(try !bench.connections[0].takeClose())
        second.send(Self.trade("ETHUSDT", 101))
        bench.advance(seconds: 0)
        #expect(try bench.connections[0].takeClose())
        #expect(Self.ids(bench) == [10, 11, 12, 13])
        // What the first one still sends is not counted as repeated.
        bench.connections[0].send(Self.trade("BTCUSDT", 13), Self.trade("BTCUSDT", 14))
        second.send(Self.trade("BTCUSDT", 14), Self.trade("ETHUSDT", 102))
        #expect(Self.ids(bench) == [10, 11, 12, 13, 14] && Self.ids(bench, "BINANCE:ETHUSDT") == [100, 101, 102])
        #expect(Self.isPlain(bench))
        #expect(bench.log.contents.statuses.count == statuses && bench.status.word == "live")
        bench.advance(seconds: 3)
        #expect(!bench.connections[0].isOpen && bench.connections.count == 2)
        guard case .disconnected(_, let reason, .replaced, nil)? = bench.log.contents.events.last else {
            Issue.record("no end of the first connection")
            return
        }
        #expect(
            reason == "a second connection took over (Binance announced an end): the ids of the 2 symbols prove that "
                + "nothing is missing"
        )
        #expect(bench.log.contents.words(of: "BINANCE:BTCUSDT") == ["asked", "live"])
        bench.stop()
        #expect(bench.status.word == "stopped")
    }

    @Test("counts no trade as repeated when the second connection is behind the first at the change")
    func behind() throws {
        let bench = try Self.announced()
        let second = bench.connections[1]
        bench.connections[0].send(Self.trade("BTCUSDT", 11), Self.trade("BTCUSDT", 13), Self.trade("ETHUSDT", 101))
        second.send(Self.trade("BTCUSDT", 10), Self.trade("ETHUSDT", 101))
        bench.advance(seconds: 0)
        #expect(try bench.connections[0].takeClose())
        // The venue has not sent 12 on the first connection.
        for id in 11...14 { second.send(Self.trade("BTCUSDT", id)) }
        #expect(Self.ids(bench) == [10, 11, 13, 12, 14])
        #expect(bench.log.contents.losses.allSatisfy { $0.repeatedTrades == 0 })
        // From now on a repeat is the venue's.
        second.send(Self.trade("BTCUSDT", 14))
        #expect(bench.log.contents.losses.map(\.repeatedTrades).reduce(0, +) == 1)
        #expect(bench.status.word == "live")
        bench.stop()
    }

    @Test("renews the connection on request as in a planned change: the second one takes over, and nothing is missed")
    func renewed() throws {
        let bench = VenueBench(.binance, Self.pair)
        #expect(bench.feed.renew() == .over)
        bench.start()
        bench.connections[0].send(Self.trade("BTCUSDT", 10), Self.trade("ETHUSDT", 100))
        let statuses = bench.log.contents.statuses.count
        bench.advance(seconds: 3)
        #expect(bench.feed.renew() == .beside)
        bench.advance(seconds: 0)
        #expect(bench.connections.count == 2)
        #expect(try !bench.connections[0].takeClose())
        for connection in bench.connections { connection.send(Self.trade("BTCUSDT", 11), Self.trade("ETHUSDT", 101)) }
        bench.advance(seconds: 0)
        #expect(try bench.connections[0].takeClose())
        bench.connections[1].send(Self.trade("BTCUSDT", 12))
        bench.advance(seconds: 3)
        #expect(Self.ids(bench) == [10, 11, 12] && Self.isPlain(bench))
        #expect(bench.log.contents.statuses.count == statuses && bench.status.word == "live")
        guard case .disconnected(_, let reason, .replaced, nil)? = bench.log.contents.events.last else {
            Issue.record("no end of the first connection")
            return
        }
        #expect(reason.hasPrefix("a second connection took over (a new connection was asked for): "), "\(reason)")
        bench.stop()
        #expect(bench.feed.renew() == .over)
    }

    @Test("a second request closes the first connection at once, and one that fails leaves the first connection open")
    func renewedAgain() throws {
        let bench = VenueBench(.binance, Self.pair)
        bench.start()
        bench.connections[0].send(Self.trade("BTCUSDT", 10), Self.trade("ETHUSDT", 100))
        bench.failures = [UpstreamFailure("it is down")]
        #expect(bench.feed.renew() == .beside)
        bench.advance(seconds: 1)
        #expect(bench.attempts == 2 && bench.connections[0].isOpen && bench.feed.renew() == .tooSoon)
        // A planned one would be tried again after 10 s.
        bench.advance(seconds: 20)
        #expect(bench.attempts == 2)
        #expect(bench.feed.renew() == .beside)
        bench.advance(seconds: 3)
        #expect(bench.connections.count == 2)
        // No symbol trades, so nothing proves that the second one has all.
        #expect(bench.feed.renew() == .begun)
        bench.advance(seconds: 1)
        #expect(!bench.connections[0].isOpen && bench.connections[1].isOpen && bench.attempts == 3)
        bench.connections[1].send(Self.trade("BTCUSDT", 11))
        #expect(Self.ids(bench) == [10, 11] && Self.isPlain(bench))
        bench.stop()
    }

    @Test("a venue without a second connection is closed and opened again, and a ban is obeyed")
    func renewedAlone() throws {
        let coinbase = VenueBench(.coinbase, ["COINBASE:BTC-USD"])
        coinbase.start()
        #expect(coinbase.feed.renew() == .begun)
        coinbase.advance(seconds: 1)
        #expect(!coinbase.connections[0].isOpen)
        coinbase.stop()
        let bench = VenueBench(.binance, Self.pair)
        bench.start()
        bench.failures = [
            UpstreamFailure("banned", cause: .rateLimited, disposition: .rateLimited(retryAfter: 600_000_000_000))
        ]
        #expect(bench.feed.renew() == .beside)
        bench.advance(seconds: 10)
        guard case .notBefore(_, "banned") = bench.feed.renew() else {
            Issue.record("not refused")
            return
        }
        #expect(bench.attempts == 2 && bench.connections[0].isOpen)
        bench.stop()
    }

    @Test("Kraken's announcements are in the status, and while its engine halts a silence opens no second connection")
    func halted() throws {
        let bench = VenueBench(.kraken, ["KRAKEN:XXBTZUSD"])
        func status(_ members: String) -> String {
            #"{"channel":"status","type":"update","data":[{\#(members)}]}"#
        }
        bench.start()
        bench.connections[0].send(
            #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":83744.3,"qty":0.0004,"#
                + #""ord_type":"limit","trade_id":7,"timestamp":"2026-09-25T17:48:26.844359Z"}]}"#
        )
        bench.connections[0].send(status(#""system":"online""#))
        #expect(bench.status.word == "live" && bench.reason.isEmpty)
        bench.connections[0].send(
            status(#""system":"online","upcoming_maintenance":[{"title":"T","affected_services":["spot_ws"]}]"#)
        )
        #expect(bench.status.word == "live" && bench.reason == "Kraken has announced maintenance (WebSocket): T")
        bench.connections[0].send(status(#""system":"maintenance""#))
        #expect(bench.reason.hasPrefix("Kraken is down for maintenance; no cure is needed"))
        for _ in 0..<1_200 {
            bench.connections[0].send(#"{"channel":"heartbeat"}"#)
            bench.advance(seconds: 1)
        }
        #expect(bench.status.word == "stale" && bench.reason.contains("Kraken is down for maintenance"))
        #expect(bench.attempts == 1)
        bench.connections[0].send(status(#""system":"online""#))
        #expect(!bench.reason.contains("maintenance"))
        for _ in 0..<1_200 where bench.attempts == 1 {
            bench.connections[0].send(#"{"channel":"heartbeat"}"#)
            bench.advance(seconds: 1)
        }
        #expect(bench.attempts == 2)
        bench.connections[1].send(status(#""system":"post_only""#))
        #expect(bench.reason.contains("Kraken only takes orders that wait"))
        bench.stop()
    }

    @Test("opens it at 23 h 30 min and some minutes, and again a day later")
    func age() throws {
        let bench = VenueBench(.binance, ["BINANCE:BTCUSDT"])
        bench.start()
        var id = 0
        var opened: [Int] = []
        for second in stride(from: 0, to: 172_000, by: 20) {
            id += 1
            for connection in bench.connections.suffix(2) where connection.isOpen {
                connection.send(Self.trade("BTCUSDT", id))
            }
            bench.advance(seconds: 20)
            if bench.connections.count > opened.count { opened.append(second) }
        }
        #expect(opened.count == 3 && opened[1] == 84_600 + 580 && (170_380...170_420).contains(opened[2]))
        #expect(Self.ids(bench).count == id && Self.isPlain(bench))
        #expect(Set(bench.log.contents.words.dropFirst(2)) == ["live", "late"])
        bench.stop()
    }

    @Test("goes on with the first connection when the second is refused, and tries again within the limits")
    func refused() throws {
        let bench = VenueBench(.binance, Self.pair)
        bench.start()
        bench.connections[0].send(Self.trade("BTCUSDT", 1), Self.trade("ETHUSDT", 1))
        let statuses = bench.log.contents.statuses.count
        var banned = UpstreamFailure("too many", cause: .rateLimited, disposition: .rateLimited(retryAfter: nil))
        banned.disposition = .rateLimited(retryAfter: 600_000_000_000)
        bench.failures = [UpstreamFailure("it is down"), UpstreamFailure("it is down"), banned]
        bench.connections[0].send(Self.announcement)
        var id = 1
        var attempts: [(second: Int, count: Int)] = []
        for second in 0..<1_000 {
            id += 1
            for connection in bench.connections where connection.isOpen {
                connection.send(Self.trade("BTCUSDT", id), Self.trade("ETHUSDT", id))
            }
            bench.advance(seconds: 1)
            if attempts.last?.count != bench.attempts { attempts.append((second, bench.attempts)) }
        }
        #expect(attempts.map(\.count) == [1, 2, 3, 4, 5])
        #expect(attempts.map(\.second).dropFirst() == [1, 11, 31, 631])
        #expect(bench.connections.count == 2 && !bench.connections[0].isOpen)
        #expect(Self.ids(bench) == (1...UInt64(id)).map { $0 } && Self.isPlain(bench))
        #expect(bench.log.contents.statuses.count == statuses)
        bench.stop()
    }

    @Test("obeys the ban that the second connection met when the first one ends, too")
    func banned() throws {
        let bench = VenueBench(.binance, Self.pair)
        bench.start()
        bench.connections[0].send(Self.trade("BTCUSDT", 1))
        bench.failures = [
            UpstreamFailure("banned", cause: .rateLimited, disposition: .rateLimited(retryAfter: 600_000_000_000))
        ]
        bench.connections[0].send(Self.announcement)
        bench.advance(seconds: 10)
        #expect(bench.attempts == 2 && bench.status.word == "late")
        bench.close(1_001)
        bench.advance(seconds: 580)
        #expect(bench.attempts == 2 && bench.status.word == "rate-limited" && bench.reason == "banned")
        bench.advance(seconds: 20)
        #expect(bench.attempts == 3 && bench.connections.count == 2)
        bench.stop()
    }

    @Test("goes on with the second connection when the first one is cut, and the ids show what is missing")
    func cut() throws {
        for isMissing in [false, true] {
            let bench = try Self.announced()
            let statuses = bench.log.contents.statuses.count
            let second = bench.connections[1]
            second.send(Self.trade("BTCUSDT", isMissing ? 13 : 11))
            #expect(Self.ids(bench) == [10])
            bench.connections[0].reset()
            bench.advance(seconds: 0)
            #expect(bench.log.contents.statuses.count == statuses && bench.status.word == "live")
            #expect(Self.ids(bench) == [10, isMissing ? 13 : 11])
            let gaps = bench.log.contents.gaps
            #expect(gaps.map(\.missing) == (isMissing ? [11...12] : []))
            if isMissing { #expect(gaps[0].reason.contains("Binance has announced to close its connections")) }
            #expect(bench.attempts == 2)
            let reason = bench.log.contents.events.compactMap { event -> String? in
                guard case .disconnected(_, let reason, .replaced, _) = event else { return nil }
                return reason
            }
            #expect(reason.count == 1 && reason[0].contains(": \(isMissing ? 0 : 1) of 2 symbols overlap by their ids"))
            bench.stop()
        }
    }

    @Test("changes after three minutes although a symbol does not trade, and after seconds if the first one lags")
    func limits() throws {
        let quiet = try Self.announced()
        for id in 11..<190 {
            for connection in quiet.connections { connection.send(Self.trade("BTCUSDT", id)) }
            quiet.advance(seconds: 1)
            #expect(quiet.connections[0].isOpen)
        }
        quiet.advance(seconds: 4)
        #expect(try quiet.connections[0].takeClose())
        #expect(Self.ids(quiet).count == 180 && Self.isPlain(quiet))
        quiet.stop()
        let lagging = try Self.announced()
        lagging.connections[1].send(Self.trade("BTCUSDT", 11))
        lagging.advance(seconds: 4)
        #expect(try lagging.connections[0].takeClose())
        #expect(Self.ids(lagging) == [10, 11] && Self.isPlain(lagging))
        lagging.stop()
    }

    @Test("closes a second connection that lacks what the first one brings, and one whose end is announced, too")
    func defective() throws {
        let bench = try Self.announced()
        for id in 101..<290 {
            bench.connections[0].send(Self.trade("ETHUSDT", id))
            bench.connections[1].send(Self.trade("BTCUSDT", 10))
            bench.advance(seconds: 1)
            if id == 280 { #expect(try bench.connections[1].takeTexts().count == 1) }
        }
        #expect(!bench.connections[1].isOpen && bench.connections[0].isOpen)
        #expect(bench.status.word == "live" && Self.isPlain(bench))
        bench.stop()
        let announced = try Self.announced()
        announced.connections[1].send(Self.announcement)
        announced.advance(seconds: 1)
        #expect(!announced.connections[1].isOpen && announced.connections[0].isOpen && announced.attempts == 2)
        announced.advance(seconds: 10)
        #expect(announced.attempts == 3)
        announced.stop()
    }

    @Test("requests changes of the subscriptions on both connections, each once")
    func subscriptions() throws {
        let bench = try Self.announced(listed: Self.pair + ["BINANCE:SOLUSDT"])
        for connection in bench.connections { _ = try connection.takeTexts() }
        bench.feed.subscriptionsChanged([.subscribe("BINANCE:SOLUSDT"), .unsubscribe("BINANCE:ETHUSDT")])
        bench.advance(seconds: 2)
        for connection in bench.connections {
            let texts = try connection.takeTexts()
            #expect(texts.count == 2)
            #expect(texts.contains { $0.hasPrefix(#"{"method":"SUBSCRIBE","params":["solusdt@trade"]"#) })
            #expect(texts.contains { $0.hasPrefix(#"{"method":"UNSUBSCRIBE","params":["ethusdt@trade"]"#) })
        }
        // Nothing waits for the trades of a symbol that is not wanted.
        bench.connections[1].send(Self.trade("ETHUSDT", 101), Self.trade("XYZ", 1))
        bench.advance(seconds: 5)
        #expect(bench.connections[0].isOpen)
        // A symbol that is new on both proves itself like the others.
        bench.connections[1].send(Self.trade("BTCUSDT", 10), Self.trade("SOLUSDT", 7))
        bench.connections[0].send(Self.trade("SOLUSDT", 6))
        bench.advance(seconds: 0)
        #expect(try bench.connections[0].takeClose())
        #expect(Self.ids(bench, "BINANCE:SOLUSDT") == [6, 7] && Self.isPlain(bench))
        bench.feed.subscriptionsChanged([.unsubscribe("BINANCE:SOLUSDT"), .unsubscribe("BINANCE:BTCUSDT")])
        bench.advance(seconds: 3)
        #expect(!bench.connections[0].isOpen)
        bench.stop()
    }

    @Test("closes both connections when no symbol is wanted, and at a stop")
    func ends() throws {
        let unwanted = try Self.announced(["BINANCE:BTCUSDT"])
        unwanted.feed.subscriptionsChanged([.unsubscribe("BINANCE:BTCUSDT")])
        unwanted.advance(seconds: 1)
        #expect(try unwanted.connections[0].takeClose())
        #expect(!unwanted.connections[1].isOpen)
        unwanted.connections[0].channel.close(promise: nil)
        unwanted.advance(seconds: 100)
        #expect(unwanted.attempts == 2 && unwanted.status.word == "waiting")
        unwanted.stop()
        let stopped = try Self.announced()
        stopped.stop()
        #expect(stopped.connections.allSatisfy { !$0.isOpen } && stopped.status.word == "stopped")
        let abandoned = try Self.announced()
        abandoned.feed.abandon()
        abandoned.advance(seconds: 1)
        #expect(abandoned.connections.allSatisfy { !$0.isOpen })
    }

    @Test("fills a hole of the first connection from the second one")
    func fills() throws {
        let bench = try Self.announced()
        bench.connections[0].send(Self.trade("BTCUSDT", 12))
        bench.connections[1].send(Self.trade("BTCUSDT", 11))
        #expect(bench.log.contents.gaps.map(\.missing) == [11...11])
        #expect(Self.ids(bench) == [10, 12, 11])
        #expect(bench.log.contents.trades.filter { $0.marks.contains(.filled) }.map(\.id) == [11])
        bench.stop()
    }

    @Test("renews a connection of Binance on which every symbol is silent for far longer than usual")
    func silent() throws {
        let bench = VenueBench(.binance, ["BINANCE:BTCUSDT"])
        bench.start()
        bench.connections[0].send(Self.trade("BTCUSDT", 1))
        for _ in 0..<8 {
            bench.advance(seconds: 10)
            bench.connections[0].pong()
        }
        #expect(bench.status.word == "stale" && bench.connections.count == 1)
        bench.advance(seconds: 11)
        bench.connections[0].pong()
        #expect(bench.connections.count == 2 && bench.status.word == "stale")
        bench.connections[1].send(Self.trade("BTCUSDT", 4))
        bench.advance(seconds: 4)
        #expect(try bench.connections[0].takeClose())
        #expect(Self.ids(bench) == [1, 4] && bench.status.word == "live")
        #expect(bench.log.contents.gaps.map(\.missing) == [2...3])
        #expect(bench.log.contents.gaps.first?.reason.contains("silent for far longer than usual") == true)
        bench.stop()
    }

    @Test("takes no trade twice from Kraken's second snapshot, and rotates neither Coinbase nor Kraken by their age")
    func kraken() throws {
        let bench = VenueBench(.kraken, ["KRAKEN:XXBTZUSD"]) { $0.rotation?.age = 60_000_000_000 }
        func trades(_ type: String, _ ids: ClosedRange<Int>) -> String {
            let list = ids.map {
                #"{"symbol":"BTC/USD","side":"buy","price":83744.3,"qty":0.00044780,"ord_type":"limit","trade_id":\#($0),"#
                    + #""timestamp":"2026-09-25T17:48:26.844359Z"}"#
            }
            return #"{"channel":"trade","type":"\#(type)","data":[\#(list.joined(separator: ","))]}"#
        }
        bench.start()
        bench.connections[0].send(trades("snapshot", 1...50))
        for second in 51...710 {
            bench.connections[0].send(trades("update", second...second))
            bench.advance(seconds: 1)
            if bench.connections.count == 2 { break }
        }
        let newest = try #require(Self.ids(bench, "KRAKEN:XXBTZUSD").last)
        // The snapshot is from a moment before the newest trade.
        bench.connections[1].send(trades("snapshot", Int(newest) - 50...Int(newest) - 1))
        bench.advance(seconds: 0)
        #expect(try bench.connections[0].takeClose())
        bench.connections[1].send(trades("update", Int(newest) + 1...Int(newest) + 2))
        #expect(Self.ids(bench, "KRAKEN:XXBTZUSD") == (51...newest + 2).map { $0 } && Self.isPlain(bench))
        bench.stop()
        #expect(VenueSettings(.coinbase, symbols: []).rotation == nil)
        #expect(VenueSettings(.kraken, symbols: []).rotation?.age == nil)
    }
}
