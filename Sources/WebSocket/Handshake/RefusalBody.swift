import NIOCore
import NIOHTTP1

/// The body of a response other than 101, up to a limit. A server's explanation of a refusal is short.
struct RefusalBody {
    private enum Framing: Equatable {
        case nothing
        case length(Int)
        case chunked
        case untilEnd
    }

    private let framing: Framing
    private let maximumBytes: Int
    private var raw = ByteBuffer()

    init(of head: HTTPResponseHead, maximumBytes: Int) {
        self.maximumBytes = maximumBytes
        let codings = head.headers[canonicalForm: "Transfer-Encoding"]
        if [204, 304].contains(head.status.code) {
            self.framing = .nothing
        } else if let last = codings.last {
            self.framing = last.lowercased() == "chunked" ? .chunked : .untilEnd
        } else if let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }), length >= 0 {
            self.framing = .length(length)
        } else {
            self.framing = .untilEnd
        }
    }

    /// Takes the next bytes. Returns true when no more are needed, because the body is complete or the limit is
    /// reached.
    mutating func append(_ bytes: ByteBuffer) -> Bool {
        // Chunk headers count as well. Four times the limit is enough for the smallest reasonable chunks.
        let room = self.maximumBytes * (self.framing == .chunked ? 4 : 1) - self.raw.readableBytes
        if let part = bytes.getSlice(at: bytes.readerIndex, length: min(room, bytes.readableBytes)) {
            self.raw.writeImmutableBuffer(part)
        }
        if bytes.readableBytes >= room { return true }
        switch self.framing {
        case .nothing: return true
        case .length(let length): return self.raw.readableBytes >= length
        case .chunked: return Self.joinChunks(self.raw).isComplete
        case .untilEnd: return false
        }
    }

    /// The received body, cut to the limit; bytes that are not UTF-8 are replaced.
    var text: String {
        var body: ByteBuffer
        switch self.framing {
        case .nothing: return ""
        case .chunked: body = Self.joinChunks(self.raw).body
        case .untilEnd: body = self.raw
        case .length(let length):
            body = self.raw.getSlice(at: 0, length: min(length, self.raw.readableBytes)) ?? self.raw
        }
        body = body.readSlice(length: min(self.maximumBytes, body.readableBytes)) ?? body
        return String(buffer: body)
    }

    /// Joins the received chunks (RFC 9112, 7.1) up to the first incomplete or malformed one.
    private static func joinChunks(_ raw: ByteBuffer) -> (body: ByteBuffer, isComplete: Bool) {
        var raw = raw
        var body = ByteBuffer()
        while let end = raw.readableBytesView.firstIndex(of: 0x0A) {
            let line = raw.readSlice(length: end - raw.readerIndex + 1).map { String(buffer: $0) } ?? ""
            let digits = line.prefix { $0.isHexDigit }
            guard let size = Int(digits, radix: 16) else { return (body, true) }
            guard size > 0 else { return (body, true) }
            var chunk = raw.readSlice(length: min(size, raw.readableBytes)) ?? ByteBuffer()
            body.writeBuffer(&chunk)
            guard let lineEnd = raw.readSlice(length: min(2, raw.readableBytes)), lineEnd.readableBytes == 2 else {
                break
            }
        }
        return (body, false)
    }
}
