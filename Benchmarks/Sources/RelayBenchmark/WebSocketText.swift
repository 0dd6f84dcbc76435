/// The part of RFC 6455 that a load generator needs: handshakes, text frames, pongs.
enum WebSocketText {
    /// Returns a client's handshake. The key is the RFC's example, since no server here checks for reuse.
    static func request(port: Int, path: String, subprotocol: String? = nil) -> [UInt8] {
        let offer = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
        return Array(
            """
            GET \(path) HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            \(offer)\r

            """.utf8
        )
    }

    /// Returns a server's response to a request.
    static func answer(to request: [UInt8]) throws -> [UInt8] {
        let name = "sec-websocket-key:"
        let lines = String(decoding: request, as: UTF8.self).split(separator: "\r\n")
        guard let line = lines.first(where: { $0.lowercased().hasPrefix(name) }) else {
            throw BenchmarkFailure("a request without Sec-WebSocket-Key")
        }
        let key = line.dropFirst(name.count).drop { $0 == " " }
        let accept = HandshakeDigest.accept(key: String(key))
        return Array(
            """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(accept)\r
            \r

            """.utf8
        )
    }

    /// Returns a request of Finnhub's protocol as a frame.
    static func subscribe(_ symbol: String) -> [UInt8] {
        Self.clientFrame(opcode: 0x1, Array(#"{"type":"subscribe","symbol":"\#(symbol)"}"#.utf8))
    }

    /// Returns a client's frame. Its masking key is zero, which leaves the payload unchanged and which every server
    /// must accept.
    static func clientFrame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode]
        Self.appendLength(payload.count, mask: 0x80, to: &frame)
        return frame + [0, 0, 0, 0] + payload
    }

    /// Returns a server's frame.
    static func serverFrame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode]
        Self.appendLength(payload.count, mask: 0, to: &frame)
        return frame + payload
    }

    private static func appendLength(_ count: Int, mask: UInt8, to frame: inout [UInt8]) {
        switch count {
        case ...125:
            frame.append(mask | UInt8(count))
        case ...0xFFFF:
            frame += [mask | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        default:
            frame.append(mask | 127)
            for shift in stride(from: 56, through: 0, by: -8) { frame.append(UInt8(count >> shift & 0xFF)) }
        }
    }
}
