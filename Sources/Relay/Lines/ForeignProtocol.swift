import NIOCore

/// The check whether a client's first bytes belong to another protocol.
///
/// A web page can send an HTTP request to any port of this machine, with a body of its choice. So a connection that
/// begins like HTTP is closed without an answer, before any later line is read as a command. The same holds for TLS and
/// other binary protocols.
enum ForeignProtocol {
    /// Returns whether this byte begins no line of text: 22 begins TLS, and 0 to 5 most others.
    static func begins(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x1B: false
        default: byte < 0x20
        }
    }

    /// Returns whether a line, or its beginning, looks like HTTP: a method and a target, a version, or a header.
    static func begins(_ line: ByteBuffer) -> Bool {
        let bytes = line.readableBytesView
        guard let first = bytes.first else { return false }
        if self.begins(with: first) { return true }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains(" HTTP/") || text.prefix(5).lowercased() == "host:" { return true }
        let method = text.prefix { $0.isASCII && ($0.isUppercase || $0 == "-") }
        guard !method.isEmpty else { return false }
        let target = text.dropFirst(method.count)
        return ["/", "*", "HTTP/", "http:", "https:"].contains { target.hasPrefix(" \($0)") }
    }
}
