import HTTP
import Market
import NIOCore
import NIOEmbedded
import TLS
import Testing
import TickertapeTesting
@testable import Relay

@Suite("Lines: a connection")
struct LineHandlerTests {
    @Test(
        "another protocol is closed without an answer",
        arguments: [
            "GET / HTTP/1.1\r\n", "POST /v1/replay HTTP/1.1\r\nprices *\r\n", "OPTIONS * HTTP/1.1\r\n", "GET /\n",
            "M-SEARCH * HTTP/1.1\r\n", "GET http://127.0.0.1:7071/ HTTP/1.1\r\n", "CONNECT 127.0.0.1:7071 HTTP/1.1\r\n",
            "prices * HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n", "Host: 127.0.0.1\r\n", "\r\n\r\nhost: x\r\n",
            "\u{16}\u{3}\u{1}",
            "\u{0}\u{1}\u{0}", "\u{5}\u{1}\u{0}", "GET /\(String(repeating: "x", count: 3_000))",
        ]
    )
    func hostile(_ input: String) throws {
        let client = try PipedLines(on: .lines())
        try client.send(input + "prices A\n")
        #expect(try client.take() == [])
        #expect(!client.channel.isActive)
        #expect(client.refused == ["not-lines"])
        #expect(client.bench.calls.all == [])
    }

    @Test("the same at every split")
    func hostileInParts() throws {
        let input = Array("POST / HTTP/1.1\r\nHost: x\r\n\r\nprices A\n".utf8)
        for place in 0...input.count {
            let client = try PipedLines(on: .lines())
            try client.send(Array(input[..<place]))
            try client.send(Array(input[place...]))
            #expect(try client.take() == [] && !client.channel.isActive && !client.isAdmitted)
        }
    }

    @Test("half a line waits, empty lines mean nothing, and the rest of an ended input is a line")
    func halfLines() throws {
        let client = try PipedLines(on: .lines())
        try client.send("\r\n\n  \nhe")
        #expect(try client.take() == [] && !client.isAdmitted)
        try client.send("lp\r\n")
        #expect(try client.take().count == LineCommand.manual.count && client.isAdmitted)
        try client.send("nothing")
        client.endInput()
        #expect(try client.take() == ["# unknown command nothing; send help"])
        #expect(client.channel.isActive)
    }

    @Test("more than a thousand empty lines in a row close the connection, before the first line and after it")
    func emptyLines() throws {
        for isOpen in [false, true] {
            let client = try PipedLines(on: .lines())
            if isOpen { try client.send("help\n") }
            for _ in 0..<5 { try client.send(String(repeating: "\n", count: 200)) }
            #expect(client.channel.isActive)
            try client.send("\n")
            #expect(!client.channel.isActive)
        }
    }

    @Test("no first line in time is told, and later silence is fine")
    func silence() throws {
        let bench = HubBench.lines()
        let (silent, half, hostile, reader) = (
            try PipedLines(on: bench), try PipedLines(on: bench), try PipedLines(on: bench), try PipedLines(on: bench)
        )
        try half.send("prices A")
        try hostile.send("GET /")
        _ = try reader.ask("prices A")
        bench.loop.advanceTime(by: bench.hub.settings.handshakeTimeout + .seconds(1))
        #expect(try silent.take() == ["# no line came in time"] && half.take() == ["# no line came in time"])
        #expect(try hostile.take() == [] && !hostile.channel.isActive)
        bench.loop.advanceTime(by: .hours(1))
        #expect(!silent.channel.isActive && !half.channel.isActive && reader.channel.isActive)
    }

    @Test("a line above 1 KiB is told and closed, as first line and later")
    func tooLong() throws {
        let bench = HubBench.lines()
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)
        for isFirst in [true, false] {
            let client = try PipedLines(on: bench)
            if !isFirst { _ = try client.ask("prices A json") }
            try client.send(long)
            let json = #"{"type":"error","msg":"line too long","code":"line-too-long","source":"live"}"#
            #expect(try client.take().last == (isFirst ? "# line too long" : json))
            #expect(client.refused == ["line-too-long"])
            // What follows is discarded, and means nothing.
            for _ in 0..<256 { try client.send(long) }
            try client.send("\nhelp\n")
            #expect(try client.take() == [])
            client.endInput()
            #expect(!client.channel.isActive)
        }
    }

    @Test("input without an end is cut off in the end")
    func endless() throws {
        let client = try PipedLines(on: .lines())
        let some = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
        for _ in 0..<70 { try client.send(some) }
        #expect(!client.channel.isActive)
    }

    @Test("a line that is no text is an error, and the third one the end")
    func unreadable() throws {
        let client = try PipedLines(on: .lines())
        let answer = "# a line must be UTF-8 without control characters"
        try client.send([0x1B, 0x5B, 0x41, 0x0A])
        #expect(try client.take() == [answer])
        try client.send([0xFF, 0xFE, 0x0A])
        #expect(try client.take() == [answer])
        #expect(try client.ask("prices A") == [])
        try client.send("prices\u{7F} \u{85}\n")
        #expect(try client.take() == [answer])
        client.endInput()
        #expect(!client.channel.isActive)
    }

    @Test("where a token is needed, the first line shows it")
    func token() throws {
        let bench = HubBench.lines()
        let gate = TokenGate(Secret("0123456789abcdef"))
        let right = try PipedLines(on: bench, token: gate)
        #expect(try right.ask("token:0123456789abcdef") == [])
        #expect(try right.ask("prices A").isEmpty && right.isAdmitted)
        for (line, type) in [("prices A", "token-missing"), ("token:0123", "token-wrong")] {
            let client = try PipedLines(on: bench, token: gate)
            #expect(try client.ask(line).count == 1)
            #expect(client.refused == [type] && !client.isAdmitted)
        }
        for _ in 0..<GuessLimit.burst { _ = try PipedLines(on: bench, token: gate).ask("token:wrong") }
        let late = try PipedLines(on: bench, token: gate)
        #expect(try late.ask("token:0123456789abcdef") == ["# too many wrong tokens came from this address"])
    }

    @Test("a token that is not needed means nothing")
    func needlessToken() throws {
        let client = try PipedLines(on: .lines())
        #expect(try client.ask("token:anything") == [])
        #expect(try client.ask("token:anything") == ["# the token belongs into the first line"])
        #expect(client.channel.isActive)
    }

    @Test("a client above the limit is told so")
    func full() throws {
        let client = try PipedLines(on: .lines(), isFull: true)
        #expect(try client.ask("prices A") == ["# all places for clients are taken"])
        #expect(client.refused == ["too-many-clients"])
        client.bench.loop.advanceTime(by: .minutes(1))
        #expect(!client.channel.isActive)
    }

    @Test("a stop of the relay ends a connection without a line")
    func quiesce() throws {
        let client = try PipedLines(on: .lines())
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(try client.take() == ["# the relay is stopping"])
    }
}
