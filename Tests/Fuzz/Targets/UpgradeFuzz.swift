import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import WebSocket

/// The rules for a client's opening handshake with an arbitrary response.
///
/// The letters `ACCEPT` in an input stand for the correct value of `Sec-WebSocket-Accept`.
enum UpgradeFuzz {
    private static let maximumBodyBytes = 256

    static let seeds: [[UInt8]] = {
        let good = "HTTP/1.1 101 Switching Protocols\r\n"
        let edge = """
            Date: Fri, 31 Mar 2023 18:15:38 GMT\r\nConnection: upgrade\r\nUpgrade: websocket\r
            Sec-WebSocket-Accept: ACCEPT\r\nCF-Cache-Status: DYNAMIC\r\nServer: cloudflare\r\nalt-svc: h3=":443"; ma=86400\r
            \r

            """
        let plain = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ACCEPT\r\n\r\n"
        let chunks = "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
        return [
            good + edge, good + plain + "\u{1}\u{2}", "HTTP/1.1 100 Continue\r\n\r\n" + good + plain,
            good + "Upgrade: h2c, websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: ACCEPT\r\n\r\n",
            "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n{\"error\":\"Invalid API key\"}",
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 30\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
            "HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n<html><head></head></html>",
            "HTTP/1.1 302 Found\r\nLocation: https://finnhub.io/\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n<!DOCTYPE html>",
        ].map { Array($0.utf8) }
    }()

    static let words: [[UInt8]] =
        [
            "\r\n", "\r", "\n", "\r\n\r\n", ":", ": ", " ", "\t", ",", "ACCEPT", "HTTP/1.1 ", "HTTP/2.0 ", "101 ",
            "103 ",
            "99 ", "600 ", "-1 ", "0", "Content-Length: ", "Content-Length: -5\r\n", "99999999999999999999", "4096",
            "9223372036854775807", "Transfer-Encoding: chunked\r\n", "7fffffffffffffff\r\n", "FFFFFFFFFFFFFFFFFF\r\n",
            "0\r\n", "1\r\nx\r\n", "Sec-WebSocket-Accept: ACCEPT\r\n",
            "Sec-WebSocket-Extensions: permessage-deflate\r\n",
            "Sec-WebSocket-Protocol: chat\r\n", "Upgrade: websocket\r\n", "Connection: Upgrade\r\n", " folded\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n", "\u{0}", "ä", "x",
        ].map { Array($0.utf8) } + [[0xFF], [0x80], [0x81, 0x01, 0x41], [0x88, 0x00]]

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let whole = try Self.answer([input])
        let cut = try Self.answer(input.pieces)
        try FuzzFinding.require(whole == cut, "whole it is \(whole), in pieces \(cut)")
        return whole.hasPrefix("open ")
    }

    /// Answers an upgrade request with the pieces, and returns the client's result.
    private static func answer(_ pieces: [[UInt8]]) throws(FuzzFinding) -> String {
        let channel = EmbeddedChannel()
        let outcomes = NIOLockedValueBox<[String]>([])
        let upgrades = NIOLockedValueBox(0)
        let frames = NIOLockedValueBox<[String]>([])
        do {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            var request = WebSocketClientRequest(host: "ws.finnhub.io", target: "/?token=secret")
            request.maximumBodyBytes = Self.maximumBodyBytes
            request.maximumHeaderBytes = 1_024
            // A constant nonce, so that a response that repeats the value or a part of it has the same result in every
            // run.
            channel.upgradeToWebSocket(request, settings: WebSocketSettings(role: .client), nonce: (1, 2)) {
                channel,
                _ in
                upgrades.withLockedValue { $0 += 1 }
                try channel.pipeline.syncOperations.addHandler(
                    FrameWitness { text in frames.withLockedValue { $0.append(text) } }
                )
            }.whenComplete { result in
                let words =
                    switch result {
                    case .success: "open"
                    case .failure(let error): "\(error)"
                    }
                outcomes.withLockedValue { $0.append(words) }
            }
            let accept = try Self.accept(for: try channel.readOutbound(as: ByteBuffer.self))
            for piece in Self.replacing(pieces, accept) where channel.isActive {
                try channel.writeInbound(ByteBuffer(bytes: piece))
            }
            // The time limit also ends a body without an end.
            channel.embeddedEventLoop.advanceTime(by: .seconds(10))
            let outcome = outcomes.withLockedValue { $0 }
            let count = upgrades.withLockedValue { $0 }
            try FuzzFinding.require(outcome.count == 1, "\(outcome.count) outcomes after the limit")
            try FuzzFinding.require(count == (outcome == ["open"] ? 1 : 0), "\(count) upgrades for \(outcome)")
            try FuzzFinding.require(outcome == ["open"] || !channel.isActive, "open after \(outcome)")
            try FuzzFinding.require(!outcome[0].contains("secret"), "the request's target is told: \(outcome)")
            try FuzzFinding.require(outcome[0].utf8.count < 16 << 10, "an outcome of \(outcome[0].utf8.count) bytes")
            _ = try channel.finish(acceptAlreadyClosed: true)
            return "\(outcome[0]) \(frames.withLockedValue { $0 })"
        } catch {
            throw (error as? FuzzFinding) ?? FuzzFinding("\(error) was thrown")
        }
    }

    /// Returns the value of `Sec-WebSocket-Accept` for the client's request, computed by this package's server.
    private static func accept(for request: ByteBuffer?) throws -> String {
        let text = request.map { String(buffer: $0) } ?? ""
        let marker = "Sec-WebSocket-Key: "
        guard let start = text.firstRange(of: marker)?.upperBound else { throw FuzzFinding("no request: \(text)") }
        let key = text[start...].prefix { !$0.isNewline }
        let head = HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: "/",
            headers: [
                "Host": "h", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": String(key),
            ]
        )
        return try WebSocketServerHandshake.check(head).get().responseHeaders.first(name: "Sec-WebSocket-Accept") ?? ""
    }

    /// Replaces the letters by the value, even if two pieces share them.
    private static func replacing(_ pieces: [[UInt8]], _ accept: String) -> [[UInt8]] {
        let mark = Array("ACCEPT".utf8)
        let joined = Array(pieces.joined())
        var bytes: [UInt8] = []
        var index = 0
        while index < joined.count {
            if joined[index...].starts(with: mark) {
                bytes += Array(accept.utf8)
                index += mark.count
            } else {
                bytes.append(joined[index])
                index += 1
            }
        }
        // The pieces have the lengths of the input's, so every run cuts alike; the last one takes the excess.
        var rest = bytes[...]
        var cut = pieces.dropLast().map { piece in
            let part = Array(rest.prefix(piece.count))
            rest = rest.dropFirst(piece.count)
            return part
        }
        cut.append(Array(rest))
        return cut.filter { !$0.isEmpty }
    }
}

/// The application behind an upgrade, which reports the first event.
private final class FrameWitness: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage

    private let reported: (String) -> Void

    init(reported: @escaping (String) -> Void) { self.reported = reported }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.reported("\(Self.unwrapInboundIn(data))") }
}
