import Market
import Sinks
import Testing

@Suite("The screen as people see it")
struct SnapshotTests {
    /// The text of a screen; a run of blank lines is told by its length.
    private static func screen(_ state: DisplayState, _ columns: Int, _ rows: Int) -> String {
        let grid = DisplayView.frame(of: state, size: .init(columns: columns, rows: rows), now: sampleNoon).grid
        var lines: [String] = []
        var blanks = 0
        for line in (0..<rows).map(grid.line) {
            if line.isEmpty {
                blanks += 1
                continue
            }
            if blanks > 0 { lines.append(blanks == 1 ? "" : "(\(blanks) blank lines)") }
            blanks = 0
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    private static let one = DisplayState(
        rows: [sampleRow(sampleSummary())],
        status: sampleStatus(.live),
        relay: "127.0.0.1:8080",
        clients: 2
    )

    private static var unchecked: DisplayState {
        var state = Self.one
        state.status = sampleStatus(.live, .demo, checked: false)
        return state
    }

    private static var cut: DisplayState {
        var state = Self.one
        state.status = sampleStatus(
            .reconnecting(attempt: 3, retryAt: sampleNoon.wall + 4 * oneSecond),
            .replay(file: "/x/busy_btcusdt_spot_20k.jsonl", speed: 10),
            reason: "connection reset by peer",
            checked: false
        )
        state.rows[0].arrived = sampleNoon.monotonic - 9 * oneSecond
        state.gaps = 2
        state.lastGap = Gap(
            from: sampleNoon.wall - 7 * oneSecond,
            to: sampleNoon.wall,
            reason: "no pong",
            nextSequence: 3
        )
        return state
    }

    private static var many: DisplayState {
        var state = Self.cut
        state.status = sampleStatus(.live, .demo, checked: false)
        state.rows = [
            sampleRow(sampleSummary()),
            sampleRow(sampleSummary("BINANCE:ETHUSDT", price: "2510.1", open: "2515.5"), age: 7 * oneSecond),
            sampleRow(sampleSummary("株式:東京", price: "0.00000951", open: "0.00001"), age: 65 * oneSecond),
        ]
        state.waiting = ["OANDA:EUR_USD"]
        return state
    }

    @Test("One line of 20 columns")
    func size20x1() {
        #expect(
            Self.screen(Self.one, 20, 1) == """
                61837.63 ▲ 0 s
                """
        )
        #expect(
            Self.screen(Self.unchecked, 20, 1) == """
                61837.63 ▲ 0 s D !C
                """
        )
        #expect(
            Self.screen(Self.cut, 20, 1) == """
                61837.63▲ RECON R !C
                """
        )
        #expect(
            Self.screen(Self.many, 20, 1) == """
                61837.63 ▲ 0 s D !C
                """
        )
    }

    @Test("40 columns, 10 lines")
    func size40x10() {
        #expect(
            Self.screen(Self.one, 40, 10) == """
                ● LIVE

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  0 s ago

                high 61837.63   low 61825.50
                trades/s 5.0   volume 123.45678
                open 61825.50   size 0.02   trades 17

                2 clients   left out 3   q quits
                """
        )
        #expect(
            Self.screen(Self.unchecked, 40, 10) == """
                ● LIVE  DEMO  CERTIFICATE NOT CHECKED

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  0 s ago

                high 61837.63   low 61825.50
                trades/s 5.0   volume 123.45678
                open 61825.50   size 0.02   trades 17

                2 clients   left out 3   q quits
                """
        )
        #expect(
            Self.screen(Self.cut, 40, 10) == """
                ✖ RECONNECTING 3 in 4 s  REPLAY  !CERT
                connection reset by peer

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  OLD 9 s
                high 61837.63   low 61825.50
                trades/s 5.0   volume 123.45678

                2 gaps, the last 7 s until 05:31:02
                2 clients   left out 3   q quits
                """
        )
        #expect(
            Self.screen(Self.many, 40, 10) == """
                ● LIVE  DEMO  CERTIFICATE NOT CHECKED

                SYMBOL         PRICE       AGE       %
                BTCUSDT   61837.63 ▲       0 s  +0.02%
                ETHUSDT    2510.10 ▲  LATE 7 s  -0.21%
                東京    0.00000951 ▲ OLD 1m05s  -4.90%
                EUR_USD no price yet

                2 gaps, the last 7 s until 05:31:02
                2 clients   left out 9   q quits
                """
        )
    }

    @Test("80 columns, 24 lines")
    func size80x24() {
        #expect(
            Self.screen(Self.one, 80, 24) == """
                ● LIVE

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  0 s ago

                high 61837.63   low 61825.50   trades/s 5.0   volume 123.45678   open 61825.50
                size 0.02   trades 17
                (16 blank lines)
                relay 127.0.0.1:8080, 2 clients   left out 3   q quits, l latency
                """
        )
        #expect(
            Self.screen(Self.unchecked, 80, 24) == """
                ● LIVE  DEMO  CERTIFICATE NOT CHECKED

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  0 s ago

                high 61837.63   low 61825.50   trades/s 5.0   volume 123.45678   open 61825.50
                size 0.02   trades 17
                (16 blank lines)
                relay 127.0.0.1:8080, 2 clients   left out 3   q quits, l latency
                """
        )
        #expect(
            Self.screen(Self.cut, 80, 24) == """
                ✖ RECONNECTING, attempt 3 in 4 s  REPLAY 10x  CERTIFICATE NOT CHECKED
                connection reset by peer

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  OLD 9 s

                high 61837.63   low 61825.50   trades/s 5.0   volume 123.45678   open 61825.50
                size 0.02   trades 17
                (14 blank lines)
                2 gaps, the last 7 s until 05:31:02 UTC: no pong
                relay 127.0.0.1:8080, 2 clients   left out 3   q quits, l latency
                """
        )
        #expect(
            Self.screen(Self.many, 80, 24) == """
                ● LIVE  DEMO  CERTIFICATE NOT CHECKED  4 symbols

                SYMBOL         PRICE       AGE      CHANGE       %     HIGH        LOW RATE/S
                BTCUSDT   61837.63 ▲       0 s      +12.13  +0.02% 61837.63   61825.50    5.0
                ETHUSDT    2510.10 ▲  LATE 7 s       -5.40  -0.21%  2515.50    2510.10    2.0
                東京    0.00000951 ▲ OLD 1m05s -0.00000049  -4.90%  0.00001 0.00000951    0.0
                EUR_USD no price yet
                (15 blank lines)
                2 gaps, the last 7 s until 05:31:02 UTC: no pong
                relay 127.0.0.1:8080, 2 clients   left out 9   q quits, l latency
                """
        )
    }

    @Test("200 columns, 60 lines")
    func size200x60() {
        #expect(
            Self.screen(Self.one, 200, 60) == """
                ● LIVE

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  0 s ago

                high 61837.63   low 61825.50   trades/s 5.0   volume 123.45678   open 61825.50   size 0.02   tra\
                des 17
                (53 blank lines)
                relay 127.0.0.1:8080, 2 clients   3 left out by the debounce   q quits, l latency
                """
        )
        #expect(
            Self.screen(Self.unchecked, 200, 60) == """
                ● LIVE  DEMO  CERTIFICATE NOT CHECKED

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  0 s ago

                high 61837.63   low 61825.50   trades/s 5.0   volume 123.45678   open 61825.50   size 0.02   tra\
                des 17
                (53 blank lines)
                relay 127.0.0.1:8080, 2 clients   3 left out by the debounce   q quits, l latency
                """
        )
        #expect(
            Self.screen(Self.cut, 200, 60) == """
                ✖ RECONNECTING, attempt 3 in 4 s: connection reset by peer  REPLAY 10x busy_btcusdt_spot_20k.jso\
                nl  CERTIFICATE NOT CHECKED

                BINANCE:BTCUSDT
                61837.63 ▲  +12.13 (+0.02%)  OLD 9 s

                high 61837.63   low 61825.50   trades/s 5.0   volume 123.45678   open 61825.50   size 0.02   tra\
                des 17
                (52 blank lines)
                2 gaps, the last 7 s until 05:31:02 UTC: no pong
                relay 127.0.0.1:8080, 2 clients   3 left out by the debounce   q quits, l latency
                """
        )
        #expect(
            Self.screen(Self.many, 200, 60) == """
                ● LIVE  DEMO  CERTIFICATE NOT CHECKED  4 symbols

                SYMBOL                   PRICE         AGE        CHANGE         %       HIGH          LOW   RAT\
                E/S      VOLUME   LEFT OUT         SIZE     TRADES       OPEN
                BINANCE:BTCUSDT     61837.63 ▲         0 s        +12.13    +0.02%   61837.63     61825.50      \
                5.0   123.45678          3         0.02         17   61825.50
                BINANCE:ETHUSDT      2510.10 ▲    LATE 7 s         -5.40    -0.21%    2515.50      2510.10      \
                2.0   123.45678          3         0.02         17    2515.50
                株式:東京         0.00000951 ▲   OLD 1m05s   -0.00000049    -4.90%    0.00001   0.00000951      0.0 \
                  123.45678          3         0.02         17    0.00001
                OANDA:EUR_USD     no price yet
                (51 blank lines)
                2 gaps, the last 7 s until 05:31:02 UTC: no pong
                relay 127.0.0.1:8080, 2 clients   9 left out by the debounce   q quits, l latency
                """
        )
    }

    @Test(
        "Every state of the feed has its words, on a line, on five lines and in 20 columns",
        arguments: zip(everyPhase, Self.phases)
    )
    func phase(_ phase: FeedStatus.Phase, _ expected: [String]) {
        #expect(everyPhase.count == Self.phases.count)
        var state = Self.one
        state.status = sampleStatus(phase, reason: "the reason")
        state.rows[0].arrived = sampleNoon.monotonic - 6 * oneSecond
        #expect([Self.screen(state, 80, 1), Self.screen(state, 40, 5), Self.screen(state, 20, 1)] == expected)
    }

    private static let phases = [
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ◌ CONNECTING: the reason",
            """
            ◌ CONNECTING: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ◌ CONN",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ◌ CONNECTED, no trade yet: the reason",
            """
            ◌ CONNECTED, no trade yet: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ◌ WAITING",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) LATE 6 s",
            """
            ◌ LATE, no trade for 6 s
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  LATE 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ LATE 6 s",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) LATE 6 s",
            """
            ◌ LATE, no trade for 6 s
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  LATE 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ LATE 6 s",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ✖ RECONNECTING, attempt 3 in 4 s",
            """
            ✖ RECONNECTING, attempt 3 in 4 s
            the reason
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ✖ RECON",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ✖ RATE LIMITED for 1m00s: the reason",
            """
            ✖ RATE LIMITED for 1m00s: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ✖ LIMIT",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ✖ KEY REJECTED: the reason",
            """
            ✖ KEY REJECTED: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ✖ BAD KEY",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ■ ENDED: the reason",
            """
            ■ ENDED: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ■ ENDED",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ■ STOPPED: the reason",
            """
            ■ STOPPED: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ■ STOPPED",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ◌ STALE, no trade for 6 s",
            """
            ◌ STALE, no trade for 6 s
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ◌ STALE",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ✖ KEY REJECTED, next in 15m00s",
            """
            ✖ KEY REJECTED, next in 15m00s
            the reason
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ✖ BAD KEY",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ✖ KEY IN USE ELSEWHERE, next in 1m00s",
            """
            ✖ KEY IN USE ELSEWHERE, next in 1m00s
            the reason
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ✖ IN USE",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ✖ NO SUCH SYMBOL: the reason",
            """
            ✖ NO SUCH SYMBOL: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ✖ NO SYM",
        ],
        [
            "BINANCE:BTCUSDT 61837.63 ▲ +12.13 (+0.02%) ✖ NOT PERMITTED: the reason",
            """
            ✖ NOT PERMITTED: the reason
            BINANCE:BTCUSDT
            61837.63 ▲  +12.13 (+0.02%)  OLD 6 s
            high 61837.63   low 61825.50
            2 clients   left out 3   q quits
            """,
            "61837.63 ▲ ✖ NO PERM",
        ],
    ]
}
