import NIOCore
import NIOHTTP1

/// The body of a request: always counted, and kept where the address reads a body.
struct HTTPRequestBody {
    /// The largest body that an address can read, in bytes.
    static let limit = 16 << 10

    private(set) var count = 0
    /// The body, cut at ``limit``; a cut body cannot be parsed.
    private(set) var kept = ByteBuffer()
    /// Whether the address reads a body.
    let isKept: Bool
    /// The length in the request's head; `nil` for a chunked body.
    let length: Int?
    /// For a chunked body: the connection's input, and its count of passed bytes when the head arrived. The lines
    /// between chunks count too, because a chunk extension may have any length (RFC 9112, 7.1.1).
    private var chunks: (input: InputPortions, start: Int)?

    /// - Parameters:
    ///   - isKept: whether the address reads a body.
    ///   - input: the handler that the connection's bytes pass.
    init(of head: HTTPRequestHead, isKept: Bool, input: InputPortions? = nil) {
        self.isKept = isKept
        if head.headers.contains(name: "Transfer-Encoding") {
            self.length = nil
            self.chunks = input.map { ($0, $0.passed) }
        } else {
            self.length = head.headers.first(name: "Content-Length").map { Int($0) ?? .max } ?? 0
        }
    }

    /// Whether the head announces a body.
    var isAnnounced: Bool { self.length != 0 }

    /// The larger of the announced length and the bytes received so far. The latter include the lines between chunks,
    /// to the accuracy of one portion of input.
    var bytes: Int {
        max(self.count, self.length ?? 0, self.chunks.map { $0.input.passed - $0.start } ?? 0)
    }

    mutating func append(_ bytes: ByteBuffer) {
        self.count += bytes.readableBytes
        guard self.isKept, self.kept.readableBytes < Self.limit else { return }
        let room = Self.limit - self.kept.readableBytes
        self.kept.writeBytes(bytes.readableBytesView.prefix(room))
    }
}
