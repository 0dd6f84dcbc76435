import NIOCore
import NIOHTTP1

/// A request's body: counted always, and kept where the address reads one.
struct HTTPRequestBody {
    /// The longest body that is read, in bytes.
    static let limit = 16 << 10

    private(set) var count = 0
    /// The body, or its beginning where it is longer than ``limit``, which makes it one that nobody can read.
    private(set) var kept = ByteBuffer()
    /// Whether the address reads a body.
    let isKept: Bool
    /// How long it is by its head; `nil` where it comes in chunks.
    let length: Int?
    /// What was passed on of the connection when its head came, where it comes in chunks: their lines count too, for an
    /// extension of theirs may be as long as a client likes (RFC 9112, 7.1.1).
    private var chunks: (input: InputPortions, start: Int)?

    /// - Parameters:
    ///   - isKept: whether the address reads a body.
    ///   - input: where the connection's bytes come by.
    init(of head: HTTPRequestHead, isKept: Bool, input: InputPortions? = nil) {
        self.isKept = isKept
        if head.headers.contains(name: "Transfer-Encoding") {
            self.length = nil
            self.chunks = input.map { ($0, $0.passed) }
        } else {
            self.length = head.headers.first(name: "Content-Length").map { Int($0) ?? .max } ?? 0
        }
    }

    /// Whether its head says that there is one.
    var isAnnounced: Bool { self.length != 0 }

    /// The bytes of it so far, with those that its chunks add, give or take a portion of input; or those that it will have.
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
