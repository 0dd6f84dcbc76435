import NIOCore
import NIOHTTP1

/// A request's body: counted always, and kept where the address reads one.
struct HTTPRequestBody {
    /// The longest body that is read, in bytes.
    static let limit = 16 << 10

    private(set) var count = 0
    /// The body, or its beginning where it is longer than ``limit``, which makes it one that nobody can read.
    private(set) var kept = ByteBuffer()
    private let isKept: Bool

    init(of head: HTTPRequestHead) {
        self.isKept = head.method == .POST && head.uri.prefix { $0 != "?" } == ReplayDoor.path
    }

    mutating func append(_ bytes: ByteBuffer) {
        self.count += bytes.readableBytes
        guard self.isKept, self.kept.readableBytes < Self.limit else { return }
        let room = Self.limit - self.kept.readableBytes
        self.kept.writeBytes(bytes.readableBytesView.prefix(room))
    }
}
