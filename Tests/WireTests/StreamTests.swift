import Market
import NIOCore
import Testing
import Wire

@Suite struct StreamTests {
    private func update() throws -> PriceUpdate {
        var volume = ExactSum(try #require(ExactDecimal("999999999999999999")))
        volume.add(try #require(ExactDecimal("0.00000001")))
        let summary = SymbolSummary(
            symbol: "BINANCE:BTCUSDT",
            price: try #require(ExactDecimal("61837.63")),
            size: try #require(ExactDecimal("0.00000002")),
            exchangeTime: 1_723_161_255_342_000_000,
            received: 1_723_161_255_342_123_000,
            sequence: 17,
            open: try #require(ExactDecimal("61800")),
            high: try #require(ExactDecimal("61900.5")),
            low: try #require(ExactDecimal("61700")),
            volume: volume,
            trades: 18
        )
        return PriceUpdate(summary: summary, skipped: 3)
    }

    @Test("a price has the keys of the contract, in their order, and exact decimals")
    func price() throws {
        #expect(
            String(buffer: StreamEncoder.price(try self.update()))
                == #"{"type":"price","symbol":"BINANCE:BTCUSDT","price":"61837.63","size":"0.00000002","#
                + #""time":1723161255342,"received":1723161255342123,"seq":17,"skipped":3,"open":"61800","#
                + #""high":"61900.5","low":"61700","volume":"999999999999999999.00000001","trades":18}"#
        )
    }

    @Test("a volume that lacks something is null, and is read back as one that does")
    func brokenVolume() throws {
        var update = try self.update()
        update.summary.volume.add(try #require(ExactDecimal("1e40")))
        #expect(!update.summary.volume.isWhole)
        let text = StreamEncoder.price(update)
        #expect(String(buffer: text).contains(#""volume":null,"trades":18"#))
        guard case .price(let back) = StreamMessage.parse(text) else {
            Issue.record("it is no price: \(String(buffer: text))")
            return
        }
        #expect(!back.summary.volume.isWhole)
    }

    @Test(
        "what a relay tells of prices and sizes that no exchange can mean is no message",
        arguments: [
            (#""price":"61837.63""#, #""price":"1e999""#), (#""price":"61837.63""#, #""price":"0""#),
            (#""size":"0.00000002""#, #""size":"1e400""#), (#""size":"0.00000002""#, #""size":"-1""#),
            (#""high":"61900.5""#, #""high":"1e18""#), (#""low":"61700""#, #""low":"1e-31""#),
            (#""open":"61800""#, #""open":"1e500""#),
            (#""volume":"999999999999999999.00000001""#, #""volume":"1e-9223372036854775808""#),
            (#""volume":"999999999999999999.00000001""#, #""volume":"1e400""#),
        ]
    )
    func bounds(good: String, bad: String) throws {
        let text = String(buffer: StreamEncoder.price(try self.update()))
        #expect(text.contains(good))
        #expect(
            StreamMessage.parse(ByteBuffer(string: text.replacing(good, with: bad))) == .malformed(reason: "price")
        )
    }

    @Test("a status has the keys of the contract, in their order")
    func status() {
        let live = FeedStatus(source: .live, phase: .live, since: 5_000_000)
        #expect(
            String(buffer: StreamEncoder.status(live))
                == #"{"type":"status","state":"live","since":5,"reason":null,"source":"live","file":null,"#
                + #""speed":null,"certificateChecked":true,"cause":null}"#
        )
        let replay = FeedStatus(
            source: .replay(file: "a\"b.jsonl", speed: 10),
            phase: .reconnecting(attempt: 2, retryAt: 9_000_000),
            since: 5_000_000,
            reason: "reset",
            cause: .pongTimeout,
            certificateChecked: false
        )
        #expect(
            String(buffer: StreamEncoder.status(replay))
                == #"{"type":"status","state":"reconnecting","since":5,"reason":"reset","source":"replay","#
                + #""file":"a\"b.jsonl","speed":10.0,"certificateChecked":false,"cause":"pong-timeout","#
                + #""paused":false,"attempt":2,"retryAt":9}"#
        )
        var simulated = FeedStatus(source: .simulated(seed: .max, speed: nil), phase: .live, since: 5_000_000)
        simulated.isPaused = true
        #expect(
            String(buffer: StreamEncoder.status(simulated))
                == #"{"type":"status","state":"live","since":5,"reason":null,"source":"simulated","file":null,"#
                + #""speed":null,"certificateChecked":true,"cause":null,"paused":true,"seed":"18446744073709551615"}"#
        )
        #expect(StreamMessage.parse(StreamEncoder.status(simulated)) == .status(simulated))
    }

    @Test("gaps and errors have the keys of the contract")
    func others() {
        let gap = Gap(from: 1_000_000, to: 2_000_000, reason: "reset", nextSequence: 18, epoch: 7)
        #expect(
            String(buffer: StreamEncoder.gap(gap))
                == #"{"type":"gap","from":1,"to":2,"reason":"reset","nextSeq":18,"epoch":7,"overlap":null,"cause":null}"#
        )
        #expect(String(buffer: StreamEncoder.error("no\n")) == #"{"type":"error","msg":"no\n"}"#)
    }

    @Test("every message is read back as what was written")
    func roundTrips() throws {
        let update = try self.update()
        #expect(StreamMessage.parse(StreamEncoder.price(update)) == .price(update))
        var ahead = update
        ahead.summary.isAhead = true
        #expect(StreamMessage.parse(StreamEncoder.price(ahead)) == .price(ahead))
        #expect(StreamMessage.parse(StreamEncoder.trades(ahead.summary)) == .trades(ahead.summary))
        #expect(!String(buffer: StreamEncoder.price(update)).contains("ahead"))
        #expect(StreamMessage.parse(StreamEncoder.snapshot(update.summary, skipped: 3)) == .snapshot(update))
        let gap = Gap(
            from: 1_000_000,
            to: 2_000_000,
            reason: "reset",
            nextSequence: 18,
            epoch: 7,
            overlap: 3,
            overlapBounds: OverlapBounds(least: 2, most: 5),
            cause: .sleep
        )
        let written = String(buffer: StreamEncoder.gap(gap))
        #expect(written.contains(#""overlap":3,"cause":"sleep","overlapBounds":{"least":2,"most":5}"#))
        #expect(StreamMessage.parse(StreamEncoder.gap(gap)) == .gap(gap))
        let own = Gap(from: 1_000_000, to: 2_000_000, reason: "silence", nextSequence: 18, epoch: 7, symbol: "X:Y Z")
        #expect(StreamMessage.parse(StreamEncoder.gap(own)) == .gap(own))
        let states: [SymbolStatus.State] = [
            .asked, .live, .quiet, .refused(.noSuchSymbol, retryAt: 9_000_000),
            .refused(.notPermitted, retryAt: 9_000_000), .refused(.overLimit, retryAt: 9_000_000),
        ]
        for state in states {
            let status = SymbolStatus(symbol: "IC MARKETS:1", state: state, since: 5_000_000, reason: "r")
            #expect(StreamMessage.parse(StreamEncoder.symbol(status)) == .symbol(status))
        }
        #expect(StreamMessage.parse(StreamEncoder.error("no")) == .error("no"))
        let phases: [FeedStatus.Phase] = [
            .connecting, .waiting, .live, .late, .reconnecting(attempt: 3, retryAt: 7_000_000),
            .rateLimited(until: 8_000_000), .keyRejected(retryAt: nil),
            .keyRejected(retryAt: 9_000_000), .keyInUse(retryAt: 9_000_000), .keyInUse(retryAt: nil), .stale,
            .noSuchSymbol, .notPermitted,
            .ended,
            .stopped,
        ]
        let sources: [FeedStatus.Source] = [
            .live, .demo, .replay(file: "x", speed: nil), .replay(file: "x", speed: 0.1),
            .replay(file: "x", speed: 1 / 3), .simulated(seed: 7, speed: 2),
        ]
        for phase in phases {
            for source in sources {
                let status = FeedStatus(
                    source: source,
                    phase: phase,
                    since: 5_000_000,
                    reason: "r",
                    certificateChecked: true,
                    via: "127.0.0.1:8080"
                )
                #expect(StreamMessage.parse(StreamEncoder.status(status)) == .status(status))
            }
        }
        for cause in FeedStatus.Cause.allCases {
            let status = FeedStatus(source: .live, phase: .connecting, since: 5_000_000, reason: "r", cause: cause)
            #expect(StreamMessage.parse(StreamEncoder.status(status)) == .status(status))
        }
    }

    @Test("a cause that this program does not know is one all the same")
    func foreignCause() {
        let text = #"{"type":"status","state":"connecting","since":1,"source":"live","cause":"gremlins"}"#
        guard case .status(let status) = StreamMessage.parse(ByteBuffer(string: text)) else {
            Issue.record("no status")
            return
        }
        #expect(status.cause == .other)
    }

    @Test("an outcome and the figures of 24 hours are read as they were written")
    func venues() throws {
        let outcome = GapOutcome(
            symbol: "BINANCE:BTCUSDT",
            missing: 5...18_446_744_073_709_551_615,
            from: 1_000_000_000,
            to: 2_000_000_000,
            lost: [5...5, 7...9_007_199_254_740_993],
            reason: "the venue has them no more"
        )
        #expect(StreamMessage.parse(StreamEncoder.settled(outcome, number: 3)) == .settled(outcome))
        var filled = outcome
        (filled.lost, filled.reason) = ([], nil)
        #expect(StreamMessage.parse(StreamEncoder.settled(filled)) == .settled(filled))
        filled.missing = nil
        #expect(StreamMessage.parse(StreamEncoder.settled(filled)) == .settled(filled))
        var day = VenueDay(
            symbol: "KRAKEN:XXBTZUSD",
            open: ExactDecimal("61000.1"),
            high: try #require(ExactDecimal("62500")),
            low: try #require(ExactDecimal("60000.5")),
            last: try #require(ExactDecimal("61837.63")),
            volume: try #require(ExactDecimal("0")),
            received: 1_795_239_062_534_123_000
        )
        let text = StreamEncoder.venueDay(day, number: 3)
        #expect(String(buffer: text).contains(#""last":"61837.63","change":"837.53","volume":"0""#))
        #expect(StreamMessage.parse(text) == .venueDay(day))
        day.open = nil
        #expect(StreamMessage.parse(StreamEncoder.venueDay(day)) == .venueDay(day))
    }

    @Test(
        "an outcome with a part that cannot be read is no message",
        arguments: [
            (#","lost":[]"#, ""), ("[]", #"[{"first":"4","last":"4"}]"#), ("[]", #"[{"first":"9","last":"7"}]"#),
            ("[]", "[7]"), (#""first":"7""#, #""first":7"#), (#""from":1000"#, #""from":null"#),
            (#""symbol":"A""#, #""symbol":1"#), (#""last":"9"},"lost":[]"#, #""last":9},"lost":[]"#),
            (#","missing":{"first":"7","last":"9"},"lost":[]"#, #","lost":[{"first":"7","last":"7"}]"#),
        ]
    )
    func brokenOutcomes(_ part: String, _ replacement: String) {
        func parse(_ text: String) -> StreamMessage { StreamMessage.parse(ByteBuffer(string: text)) }
        let text =
            #"{"type":"settled","symbol":"A","from":1000,"to":2000,"missing":{"first":"7","last":"9"},"lost":[]}"#
        let outcome = GapOutcome(symbol: "A", missing: 7...9, from: 1_000_000_000, to: 2_000_000_000)
        #expect(parse(text) == .settled(outcome))
        #expect(parse(text.replacing(part, with: replacement)) == .malformed(reason: "settled"))
    }

    @Test("unknown keys and types are let pass, and what is no message is malformed")
    func foreign() {
        func parse(_ text: String) -> StreamMessage { StreamMessage.parse(ByteBuffer(string: text)) }
        #expect(parse(#"{"x":{"y":[1]},"msg":"m","type":"error"}"#) == .error("m"))
        #expect(parse(#"{"type":"bar"}"#) == .unknown(type: "bar"))
        #expect(parse("") == .malformed(reason: "no JSON object"))
        #expect(parse(#"{"type":7}"#) == .malformed(reason: "no type"))
        #expect(parse(#"{"type":"price","symbol":"X"}"#) == .malformed(reason: "price"))
        #expect(parse(#"{"type":"status","state":"odd","since":1,"source":"live"}"#) == .malformed(reason: "status"))
        #expect(parse(#"{"type":"gap","from":1,"to":9223372036854775,"nextSeq":-1}"#) == .malformed(reason: "gap"))
    }

    @Test("no moment that a relay names lies so far off that reckoning with it could overflow")
    func absurdTimes() {
        for time in ["-1", "-9223372036854", "9223372036854", "4611686018428"] {
            for text in [
                #"{"type":"gap","from":\#(time),"to":1,"nextSeq":1}"#,
                #"{"type":"gap","from":1,"to":\#(time),"nextSeq":1}"#,
                #"{"type":"status","state":"live","since":\#(time),"source":"live"}"#,
                #"{"type":"symbol","symbol":"X","state":"live","since":\#(time)}"#,
            ] {
                guard case .malformed = StreamMessage.parse(ByteBuffer(string: text)) else {
                    Issue.record("\(text)")
                    continue
                }
            }
            let late = #"{"type":"status","state":"rate-limited","since":1,"retryAt":\#(time),"source":"live"}"#
            guard case .status(let status) = StreamMessage.parse(ByteBuffer(string: late)) else {
                Issue.record("\(late)")
                continue
            }
            #expect(status.phase == .rateLimited(until: 0))
        }
    }

    @Test("a status that says nothing of certificates does not count as one that has checked them")
    func unchecked() {
        let text = #"{"type":"status","state":"live","since":1,"source":"live"}"#
        guard case .status(let status) = StreamMessage.parse(ByteBuffer(string: text)) else {
            Issue.record("no status")
            return
        }
        #expect(!status.certificateChecked)
    }

    @Test("a client asks for one symbol, several, or all")
    func requests() {
        func parse(_ text: String) -> StreamRequest? { StreamRequest.parse(ByteBuffer(string: text)) }
        #expect(parse(#"{"type":"subscribe","symbol":"A"}"#) == .subscribe(["A"]))
        #expect(parse(#"{"symbols":["A","B"],"x":{},"type":"unsubscribe"}"#) == .unsubscribe(["A", "B"]))
        #expect(parse(#"{"type":"subscribe"}"#) == .subscribe([]))
        #expect(parse(#"{"type":"replay"}"#) == .replay(ByteBuffer(string: #"{"type":"replay"}"#)))
        #expect(parse(#"{"type":"dance"}"#) == .other("dance"))
        for text in [
            "", "[]", "{}", #"{"type":7}"#, #"{"type":"subscribe","symbol":7}"#, #"{"type":"subscribe","symbols":"A"}"#,
            #"{"type":"subscribe","symbols":["A",7]}"#, #"{"type":"subscribe","symbols":["A"}"#,
            #"{"type":"subscribe"}x"#,
        ] {
            #expect(parse(text) == nil, "\(text)")
        }
        let since = TapePosition(epoch: .max, sequence: 0)
        for request in [
            StreamRequest.subscribe([]), .subscribe(["A\"", "B"]), .unsubscribe(["C"]), .other("x"),
            .subscribe(["A"], delivery: .all, since: since), .subscribe([], delivery: .every(milliseconds: 250)),
            .subscribe([], delivery: .latest), .overflow(.close), .ping(id: nil),
            .ping(id: ByteBuffer(string: #"{"a":[1]}"#)),
        ] {
            #expect(StreamRequest.parse(request.encoded()) == request)
        }
    }

    @Test("what a request says of delivery, since and overflow is understood, or called wrong")
    func wishes() {
        func parse(_ members: String) -> StreamRequest? {
            StreamRequest.parse(ByteBuffer(string: #"{"type":"subscribe",\#(members)}"#))
        }
        #expect(parse(#""every":"250ms""#) == .subscribe([], delivery: .every(milliseconds: 250)))
        #expect(parse(#""every":100"#) == .subscribe([], delivery: .every(milliseconds: 100)))
        #expect(parse(#""delivery":"every","every":"1h""#) == .subscribe([], delivery: .every(milliseconds: 3_600_000)))
        #expect(parse(#""since":"7:12""#) == .subscribe([], since: TapePosition(epoch: 7, sequence: 12)))
        for wrong in [#""every":99"#, #""every":"2h""#, #""every":"x""#, #""every":null"#, #""delivery":"every""#] {
            #expect(parse(wrong) == .faulty(.every), "\(wrong)")
        }
        for wrong in [#""delivery":"most""#, #""delivery":7"#, #""delivery":"all","every":"1s""#] {
            #expect(parse(wrong) == .faulty(.delivery), "\(wrong)")
        }
        for wrong in ["7", "7:", ":7", "7:-1", "7:1:2", "a:b", "18446744073709551616:1"] {
            #expect(parse(#""since":"\#(wrong)""#) == .faulty(.since), "\(wrong)")
        }
        // An empty list does not mean every symbol, neither in a subscription nor in its end.
        #expect(parse(#""symbols":[]"#) == .faulty(.noSymbols))
        #expect(parse(#""symbols":[],"symbol":"A""#) == .subscribe(["A"]))
        let none = StreamRequest.parse(ByteBuffer(string: #"{"type":"unsubscribe","symbols":[]}"#))
        #expect(none == .faulty(.noSymbols))
        let overflow = StreamRequest.parse(ByteBuffer(string: #"{"type":"overflow","policy":"wait"}"#))
        #expect(overflow == .faulty(.overflow))
        let long = String(repeating: "1", count: 300)
        #expect(StreamRequest.parse(ByteBuffer(string: #"{"type":"ping","id":\#(long)}"#)) == .faulty(.id))
    }

    private func hello(_ status: FeedStatus, symbols: [StreamHello.Symbol]) -> StreamHello {
        StreamHello(
            version: "1",
            epoch: 7,
            newest: 3,
            oldest: nil,
            resumeTrades: 1,
            resumeSeconds: 2,
            limits: StreamHello.Limits(),
            time: 0,
            status: status,
            symbols: symbols
        )
    }

    @Test(
        "where a replay stands is read back, from its own message and from hello",
        arguments: [10, 0.5, nil] as [Double?],
        [false, true]
    )
    func replay(speed: Double?, isPaused: Bool) {
        let second: Int64 = 1_000_000_000
        let position = ReplayPosition(start: 0, end: 2 * second, at: second, speed: speed, isPaused: isPaused)
        #expect(StreamMessage.parse(StreamEncoder.replay(position, number: 1)) == .replay(position))
        var endless = position
        endless.end = .max
        #expect(StreamMessage.parse(StreamEncoder.replay(endless)) == .replay(endless))
        #expect(String(buffer: StreamEncoder.replay(endless)).contains(#""end":null,"at":1000,"percent":null,"#))
        var hello = self.hello(
            FeedStatus(source: .replay(file: "f", speed: speed), phase: .live, since: 0),
            symbols: [
                StreamHello.Symbol(name: "A", summary: nil, age: nil, state: "live"),
                StreamHello.Symbol(name: "B", summary: nil, age: nil, state: StreamEncoder.releasedState),
            ]
        )
        hello.replay = position
        // A released symbol is not among the feed's symbols.
        let read = StreamMessage.hello(epoch: 7, newest: 3, symbols: ["A"], hello.status, replay: position)
        #expect(StreamMessage.parse(StreamEncoder.hello(hello, number: 1)) == read)
    }

    @Test(
        "what cannot be a place in a replay is none",
        arguments: [
            #""start":0,"end":2,"at":1,"speed":1"#, #""start":0,"end":2,"at":1,"speed":"fast","paused":true"#,
            #""start":0,"end":2,"at":1,"speed":0,"paused":true"#, #""start":0,"end":2,"at":1,"speed":-1,"paused":true"#,
            #""start":3,"end":2,"at":1,"speed":1,"paused":true"#, #""start":0,"end":2,"at":-1,"speed":1,"paused":true"#,
            #""start":0,"end":2,"at":9e18,"speed":1,"paused":true"#,
            #""start":0,"end":"2","at":1,"speed":1,"paused":true"#,
            #""start":0,"end":2,"at":1,"speed":1,"paused":"true""#, #""start":0,"end":2,"at":1,"paused":true"#,
        ]
    )
    func noReplay(members: String) {
        let message = StreamMessage.parse(ByteBuffer(string: #"{"type":"replay",\#(members)}"#))
        #expect(message == .malformed(reason: "replay"))
        let status = FeedStatus(source: .demo, phase: .live, since: 0)
        let reported = #"{"state":"live","source":"demo","since":0,"certificateChecked":true}"#
        let hello = #"{"type":"hello","status":\#(reported),"replay":{\#(members)}}"#
        #expect(StreamMessage.parse(ByteBuffer(string: hello)) == .hello(epoch: nil, newest: nil, status))
    }

    @Test("that nobody asks for a symbol any more is read back")
    func released() {
        #expect(
            StreamMessage.parse(StreamEncoder.released("A:B", since: 5_000_000, number: 1))
                == .released("A:B", since: 5_000_000)
        )
    }

    @Test("hello and single trades are read back")
    func session() throws {
        let status = FeedStatus(source: .demo, phase: .live, since: 5_000_000)
        let hello = self.hello(status, symbols: [])
        let read = StreamMessage.parse(StreamEncoder.hello(hello, number: 1))
        #expect(read == .hello(epoch: 7, newest: 3, status))
        var text = ByteBuffer()
        let trade = Trade(
            price: try #require(ExactDecimal("1.5")),
            size: .zero,
            exchangeTime: 5_000_000,
            symbol: SymbolID(index: 0)
        )
        StreamEncoder.trade(
            trade,
            symbol: ByteBuffer(string: #""A""#),
            sequence: 9,
            received: 6_000,
            number: 4,
            into: &text
        )
        #expect(
            StreamMessage.parse(text)
                == .trade(
                    StreamTrade(
                        symbol: "A",
                        sequence: 9,
                        price: trade.price,
                        size: .zero,
                        exchangeTime: 5_000_000,
                        received: 6_000
                    )
                )
        )
        #expect(!String(buffer: text).contains("ahead") && !String(buffer: text).contains("possibleRepeat"))
        var marked = trade
        marked.marks = [.ahead, .possibleRepeat]
        text.clear()
        StreamEncoder.trade(
            marked,
            symbol: ByteBuffer(string: #""A""#),
            sequence: 9,
            received: 6_000,
            number: 4,
            into: &text
        )
        #expect(String(buffer: text).hasSuffix(#","received":6,"ahead":true,"possibleRepeat":true}"#))
        guard case .trade(let read)? = StreamMessage.parse(text) as StreamMessage? else {
            Issue.record("no trade: \(String(buffer: text))")
            return
        }
        #expect(read.isAhead && read.isPossibleRepeat && read.exchangeTime == 5_000_000)
    }

    private func text(of trade: Trade) -> ByteBuffer {
        var text = ByteBuffer()
        StreamEncoder.trade(
            trade,
            symbol: ByteBuffer(string: #""A""#),
            sequence: 7,
            received: 6_000,
            number: nil,
            into: &text
        )
        return text
    }

    @Test("a trade keeps the venue's id, a string of any 64-bit number but the largest, and the mark of a filled one")
    func identifiedTrade() throws {
        var trade = Trade(
            price: try #require(ExactDecimal("61837.63000000")),
            size: try #require(ExactDecimal("2")),
            exchangeTime: 5_000_000,
            symbol: SymbolID(index: 0)
        )
        #expect(!String(buffer: self.text(of: trade)).contains("id") && StreamMessage.id(self.text(of: trade)) == nil)
        for id: UInt64 in [0, 3_735_683_259, 1 << 53 + 1, .max - 1] {
            trade.id = id
            trade.marks = []
            let plain = self.text(of: trade)
            #expect(String(buffer: plain).hasSuffix(#","received":6,"id":"\#(id)"}"#))
            trade.marks = [.filled, .ahead, .possibleRepeat]
            let marked = self.text(of: trade)
            let end = #","received":6,"id":"\#(id)","ahead":true,"possibleRepeat":true,"filled":true}"#
            #expect(String(buffer: marked).hasSuffix(end))
            var reader = FrameReader()
            var symbols = SymbolTable()
            var trades: [Trade] = []
            for frame in [plain, marked] {
                #expect(
                    reader.read(frame, of: .tickertape, symbols: &symbols, into: &trades) == .trades(skipped: 0)
                )
            }
            #expect(trades.map(\.id) == [id, id])
            #expect(trades.map(\.marks) == [[], [.ahead, .possibleRepeat, .filled]])
            #expect(trades.allSatisfy { $0.hasSameContent(by: trade) })
        }
    }

    @Test(
        "an id that is no string of digits within 64 bits, and a mark that is not true, count as absent",
        arguments: [
            "7", #""""#, #""+7""#, #""-7""#, #""7 ""#, #""7.0""#, #""0x7""#, #""18446744073709551616""#,
            #""000000000000000000007""#, "null", "true", #"{"id":"7"}"#, #"["7"]"#, #""\u0661""#,
        ]
    )
    func foreignID(id: String) throws {
        let text = #"{"type":"trade","symbol":"A","seq":1,"price":"1","size":"1","time":1,"received":1,"#
        let message = StreamMessage.parse(ByteBuffer(string: text + #""id":\#(id),"filled":"true"}"#))
        guard case .trade(let trade) = message else {
            Issue.record("\(message)")
            return
        }
        #expect(trade.id == nil && !trade.isFilled)
    }

    @Test(
        "a gap keeps the ids of what is missing, and their number",
        arguments: [(3_735_684_463...3_735_685_666, "1204"), (7...7, "1"), (0...UInt64.max, "18446744073709551615")]
    )
    func missing(ids: ClosedRange<UInt64>, count: String) {
        var gap = Gap(from: 1_000_000, to: 2_000_000, reason: "r", nextSequence: 3, epoch: 7, symbol: "A")
        #expect(!String(buffer: StreamEncoder.gap(gap)).contains("missing"))
        gap.missing = ids
        let text = String(buffer: StreamEncoder.gap(gap))
        let object = #"{"first":"\#(ids.lowerBound)","last":"\#(ids.upperBound)","count":"\#(count)"}"#
        #expect(text.hasSuffix(#","symbol":"A","missing":\#(object)}"#))
        #expect(StreamMessage.parse(ByteBuffer(string: text)) == .gap(gap))
    }

    @Test(
        "ids of a gap that contradict each other count as absent",
        arguments: [
            #"{"first":"8","last":"7"}"#, #"{"first":"8"}"#, #"{"last":"8"}"#, #"{"first":8,"last":9}"#, "{}", "[]",
            #""8""#, "null", #"{"first":"8","last":"18446744073709551616"}"#,
        ]
    )
    func contradictoryIDs(missing: String) {
        let text = #"{"type":"gap","from":1,"to":2,"nextSeq":3,"missing":\#(missing)}"#
        let gap = Gap(from: 1_000_000, to: 2_000_000, reason: "", nextSequence: 3)
        #expect(StreamMessage.parse(ByteBuffer(string: text)) == .gap(gap))
    }
}

extension StreamMessage {
    /// The id of the trade in a message.
    fileprivate static func id(_ text: ByteBuffer) -> UInt64? {
        guard case .trade(let trade) = StreamMessage.parse(text) else { return nil }
        return trade.id
    }
}
