import NIOCore
import NIOEmbedded

/// The rules for a connection of plain lines with arbitrary bytes.
enum LineFuzz {
    /// The most bytes that the answers to one input have, besides four times its own.
    private static let answerLimit = 1 << 20

    static let seeds: [[UInt8]] =
        [
            "prices A B\r\nprices A json\nprices A plain\nstop A\nquit\n", "trades *\nprices * json\nstop *\n",
            "help\r\n\r\n  \nnonsense\nprices\n",
            "room lobby\niam:ann\nmsg:hi there \u{1F600}\nmsg:\nroom other json\n",
            "iam:a\u{301}\nmsg:x\niam:\u{e1}\nroom \nhelp", "token:0123456789abcdef\nprices A\ntoken:x\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\r\nprices A\n", "prices A\n\u{1B}[A\n\u{7F}\n\u{0}\n",
            "msg:\(String(repeating: "x", count: 1_000))\nprices \(String(repeating: "A ", count: 300))json\n",
            "\n\nprices A\n\(String(repeating: "y", count: 1_030))\nhelp\n",
        ].map { Array($0.utf8) } + [[0x16, 0x03, 0x01], [0x68, 0x65, 0xFF, 0x0A, 0xFE, 0x0A, 0xC3, 0x0A]]

    static let words: [[UInt8]] =
        [
            "\n", "\r\n", "\r", " ", "prices ", "trades ", "stop ", "*", " json\n", " plain\n", "help\n", "quit\n",
            "room ", "iam:", "msg:", "token:", "A", "BINANCE:BTCUSDT", "HTTP/1.1", "GET /", "Host:", "# ", "\u{202E}",
            "\u{200D}", "\u{301}", "\u{85}", "\u{2028}", String(repeating: "z", count: 1_024),
        ].map { Array($0.utf8) } + [[0x00], [0x1B], [0xC3], [0xFF], [0xED, 0xA0, 0x80]]

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let whole = try FuzzFinding.wrapping { try Self.converse([input]) }
        let cut = try FuzzFinding.wrapping { try Self.converse(input.pieces) }
        try FuzzFinding.require(whole == cut, "whole it is \(String(buffer: whole)), in pieces \(String(buffer: cut))")
        let text = String(buffer: whole)
        return ["A 1.5 2 ", #""snapshot""#, "has joined", "# prices SYMBOL"].contains { text.contains($0) }
    }

    /// Plays a conversation; returns the lines to the client.
    private static func converse(_ pieces: [[UInt8]]) throws -> ByteBuffer {
        let bench = try RelayBench()
        let client = try bench.lines()
        var received = 0
        for piece in pieces where client.channel.isActive {
            received += piece.count
            try client.send(bytes: piece)
        }
        bench.play()
        // The end of the client's side ends its last line.
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        bench.loop.advanceTime(by: .seconds(20))
        bench.stop()
        let lines = try client.takeBytes()
        client.finish()
        let limit = Self.answerLimit + 4 * received
        try FuzzFinding.require(lines.readableBytes <= limit, "\(received) bytes brought \(lines.readableBytes)")
        let isEnded = lines.readableBytes == 0 || lines.readableBytesView.last == UInt8(ascii: "\n")
        try FuzzFinding.require(isEnded, "half a line was sent")
        guard let text = String(validating: lines.readableBytesView, as: UTF8.self) else {
            throw FuzzFinding("the lines are not UTF-8")
        }
        let unseen = text.unicodeScalars.first { $0 != "\n" && $0.properties.generalCategory == .control }
        try FuzzFinding.require(unseen == nil, "a line has the control character \(unseen.map { $0.value } ?? 0)")
        return lines
    }
}
