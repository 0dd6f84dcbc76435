import NIOCore
import NIOHTTP1

/// A strict parser of an HTTP/1.1 head (RFC 9112): no folded lines, no bare CR or LF, no control characters.
package enum HTTPHeadParser {
    struct Malformed: Error, Equatable {
        var what: String
    }

    /// Parses a response head as `HTTPHeadReader` returns it.
    static func response(_ head: ByteBuffer) throws(Malformed) -> HTTPResponseHead {
        let (line, headers) = try Self.split(head)
        // HTTP-version SP status-code SP [ reason-phrase ]; servers often omit the second space.
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, let version = Self.version(parts[0]), parts[1].utf8.count == 3,
            let code = Int(parts[1]), (100...599).contains(code)
        else { throw Malformed(what: "status line") }
        let reason = parts.count == 3 ? String(parts[2]) : ""
        return HTTPResponseHead(
            version: version,
            status: HTTPResponseStatus(statusCode: code, reasonPhrase: reason),
            headers: headers
        )
    }

    /// Whether the bytes are a token (RFC 9110, 5.6.2), like the names of headers, methods and subprotocols.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default:
                    "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Whether the bytes are allowed in a header's value (RFC 9110, 5.5): no control characters except the tab.
    package static func isFieldValue(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
    }

    private static func split(_ head: ByteBuffer) throws(Malformed) -> (line: String, headers: HTTPHeaders) {
        var lines: [ArraySlice<UInt8>] = []
        let bytes = Array(head.readableBytesView)
        var start = 0
        for index in bytes.indices where bytes[index] == 0x0A {
            guard index > start, bytes[index - 1] == 0x0D else { throw Malformed(what: "line end") }
            lines.append(bytes[start..<index - 1])
            start = index + 1
        }
        guard let first = lines.first, Self.isFieldValue(first) else { throw Malformed(what: "first line") }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw Malformed(what: "header line") }
            let name = line[..<colon]
            let value = line[(colon + 1)...]
            guard Self.isToken(name), Self.isFieldValue(value) else { throw Malformed(what: "header line") }
            headers.add(
                name: String(decoding: name, as: Unicode.UTF8.self),
                value: String(decoding: Self.trimmed(value), as: Unicode.UTF8.self)
            )
        }
        return (String(decoding: first, as: Unicode.UTF8.self), headers)
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var value = value.drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return value
    }

    private static func version(_ text: Substring) -> HTTPVersion? {
        switch text {
        case "HTTP/1.1": .http1_1
        case "HTTP/1.0": .http1_0
        default: nil
        }
    }
}
