import Market
import NIOCore
import NIOEmbedded
import Testing
@testable import Feeds
@testable import MockUpstream

@Suite("A fault's text")
struct FaultTests {
    private static let second: Int64 = 1_000_000_000

    @Test("names what happens, to which connections, and when")
    func forms() throws {
        #expect(try Fault("drop") == Fault(.cut(.data, isReset: false)))
        #expect(try Fault("rst=upgrade@2") == Fault(.cut(.upgrade, isReset: true), connections: 2...2))
        #expect(try Fault("hang=tcp@1-3") == Fault(.hang(.tcp), connections: 1...3))
        #expect(try Fault("half-open@2-") == Fault(.halfOpen, connections: 2...Int.max))
        #expect(
            try Fault("cut-frame@10s") == Fault(.cutFrame, window: .init(from: 10 * Self.second, to: 10 * Self.second))
        )
        #expect(
            try Fault("stall=BINANCE:BTCUSDT@1.5s-2m@7")
                == Fault(
                    .stall(symbol: "BINANCE:BTCUSDT"),
                    connections: 7...7,
                    window: .init(from: 1_500_000_000, to: 120 * Self.second)
                )
        )
        #expect(try Fault("duplicate=0.05") == Fault(.duplicate(0.05, copies: 2)))
        #expect(try Fault("duplicate=1,copies=3") == Fault(.duplicate(1, copies: 3)))
        #expect(try Fault("huge=1MB") == Fault(.huge(bytes: 1_000_000)))
        #expect(try Fault("slow=1kB/s") == Fault(.slow(bytesPerSecond: 1_000)))
        #expect(try Fault("close=1001,reason=restart") == Fault(.close(code: 1001, reason: "restart")))
        #expect(try Fault("throw-out@1").window == .init(from: 0, to: Self.second))
    }

    @Test("makes a refusal of a status, a redirect and a page")
    func refusals() throws {
        #expect(
            try Fault("status=429,retry-after=30,body=slow down").kind
                == .refuse(
                    .init(status: 429, headers: [.init(name: "Retry-After", value: "30")], body: "slow down")
                )
        )
        #expect(
            try Fault("redirect=https://example.com/?a=b").kind
                == .refuse(
                    .init(status: 302, headers: [.init(name: "Location", value: "https://example.com/?a=b")], body: "")
                )
        )
        guard case .refuse(let page) = try Fault("html").kind else {
            Issue.record("a page is no refusal")
            return
        }
        #expect(page.status == 200)
        #expect(page.body?.contains("<html>") == true)
    }

    @Test("leaves out of a refusal what would end a header's line early")
    func splitsNoAnswer() throws {
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish() }
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let faults = try FaultPlan(parsing: ["redirect=https://a.example/\r\nEvil: b"], seed: 1).connection(1)
        _ = try FaultyPipeline(tls: nil).configure(
            channel,
            faults: faults,
            refusal: { _ in nil },
            upgraded: { _, _, _ in Issue.record("a fault refuses it") }
        )
        let request =
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        channel.read()
        try channel.writeInbound(ByteBuffer(string: request))
        var sent = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { sent += String(buffer: buffer) }
        #expect(sent.hasPrefix("HTTP/1.1 302 Found\r\n"))
        #expect(!sent.contains("Evil"))
    }

    @Test("takes commas and @ in double quotes")
    func quotes() throws {
        let fault = try Fault(#"error="no, not user@host, never"@3s"#)
        #expect(fault.kind == .error("no, not user@host, never"))
        #expect(fault.window?.from == 3 * Self.second)
    }

    @Test("is refused with the form that would be right, or with the names that there are")
    func refused() {
        for (text, words) in [
            ("explode", "the faults are hang, drop, rst"), ("", "there is no fault"), ("DROP", "there is no fault"),
            ("hang", "hang=tcp|tls|upgrade|data"), ("hang=dns", "hang=tcp|tls|upgrade|data"),
            ("status=99", "status=CODE"), ("status=101", "status=CODE"), ("status=429,retry-after=soon", "retry-after"),
            ("status=429,retry=3", "no option \"retry\""), ("drop,now", "\"now\" is not OPTION=VALUE"),
            ("close=1006", "is not allowed in a close frame"), ("close=99999", "close=CODE"),
            ("duplicate=0", "duplicate=P"), ("duplicate=1.5", "duplicate=P"), ("duplicate=nan", "duplicate=P"),
            ("duplicate=0.5,copies=1", "copies=N"), ("reorder", "reorder=P"), ("garbage=-1", "garbage=P"),
            ("huge=1", "huge=SIZE"), ("huge=1GB", "huge=SIZE"), ("huge=99MB", "huge=SIZE"), ("slow=1kB", "slow=SIZE/s"),
            ("slow=0B/s", "slow=SIZE/s"), ("error=", "error=TEXT"), ("cut-frame=1", "cut-frame"),
            ("stall=", "stall[=SYMBOL]"), ("withhold", "withhold=P"), ("late=2", "late=P"),
            ("late=1,frames=0", "frames=N"), ("late=1,frames=1001", "frames=N"), ("rotation", "rotation=AGE"),
            ("rotation=1m,announced=2m", "announced=TIME"), ("rotation=1m@3s", "its time as its value"),
            ("drop@soon", "neither connections"), ("drop@0", "neither connections"),
            ("drop@3-1", "neither connections"),
            ("drop@20s-10s", "neither connections"), ("drop@", "neither connections"),
            ("drop@1@2", "second time"), ("drop@1s@2s", "second time"), ("status=500@3s", "no time"),
            ("hang=tls@3s", "no time"), ("throw-out@3s", "a fixed time"), ("drop@1,x=y", "options come before"),
            ("error=\"x", "quotation mark"), ("drop@9999999999999h", "neither connections"),
            ("drop@99999999999999999999", "neither connections"),
        ] {
            let error = #expect(throws: FaultSyntaxError.self, "\(text)") { try Fault(text) }
            #expect(error?.description.contains(words) == true, "\(text): \(error?.description ?? "")")
        }
    }

    @Test("every fault of the manual can be written in its documented form")
    func manual() throws {
        let values = [
            "hang": "hang=data", "status": "status=503", "redirect": "redirect=https://a/", "close": "close=1000",
            "duplicate": "duplicate=1", "reorder": "reorder=1", "garbage": "garbage=1", "huge": "huge=1kB",
            "error": "error=no", "slow": "slow=1kB/s", "withhold": "withhold=0.1", "late": "late=1,frames=3",
            "rotation": "rotation=24h,announced=10m", "rest-lag": "rest-lag=2s", "rest-slow": "rest-slow=1s",
            "rest-status": "rest-status=429",
        ]
        for entry in Fault.manual {
            #expect(throws: Never.self, "\(entry.name)") { try Fault(values[entry.name] ?? entry.name) }
            #expect(entry.form.hasPrefix(entry.name))
        }
    }

    @Test("a text of any characters is read or refused, and never traps")
    func anyText() {
        var generator = SeededGenerator(seed: 20_260)
        let alphabet = Array("abdhgnorst-=@,.\"0123456789smkBM/é\u{0}")
        for _ in 0..<20_000 {
            var text = Bool.random(using: &generator) ? Fault.manual.randomElement(using: &generator)?.name ?? "" : ""
            for _ in 0..<Int.random(in: 0..<24, using: &generator) {
                text.append(alphabet.randomElement(using: &generator) ?? "a")
            }
            _ = try? Fault(text)
        }
    }
}
