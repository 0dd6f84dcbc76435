import NIOCore

/// The compressed messages of one connection made plain as they come, within its limits.
final class MessageInflater {
    /// Below this many bytes no ratio is looked at: a short text of one letter is no attack.
    private static let bytesOfAnyRatio = 8 << 10

    private let direction: DeflateAgreement.Direction
    private let maximumBytes: Int
    private let maximumRatio: Int?
    private let allocator: ByteBufferAllocator
    /// Lives from message to message where these refer to each other; else an idle connection would hold it for nothing.
    private var inflater: Inflater?
    /// What has come out of the message so far.
    private var plain: ByteBuffer
    /// Bytes of the message taken so far, as they travelled.
    private var taken = 0

    init(
        _ direction: DeflateAgreement.Direction,
        maximumBytes: Int,
        maximumRatio: Int?,
        allocator: ByteBufferAllocator = ByteBufferAllocator()
    ) {
        self.direction = direction
        self.maximumBytes = maximumBytes
        self.maximumRatio = maximumRatio
        self.allocator = allocator
        self.plain = allocator.buffer(capacity: 0)
    }

    /// The most bytes of a compressed message that can make sense when the message itself has at most so many: those of a
    /// compressor with a small memory that finds nothing to compress (zlib's `deflateBound`).
    static func maximumCompressedBytes(of plainBytes: Int) -> Int { plainBytes + plainBytes / 8 + 64 }

    /// Takes the next bytes of the message; `check` is given what they hold.
    func take(
        _ bytes: UnsafeRawBufferPointer,
        check: (UnsafeRawBufferPointer) -> WebSocketViolation?
    ) -> WebSocketViolation? {
        guard bytes.count <= Self.maximumCompressedBytes(of: self.maximumBytes) - self.taken else {
            return .messageTooBig
        }
        self.taken += bytes.count
        return self.grow(check) { inflater, plain, limit throws(Inflater.Failure) in
            try inflater.inflate(bytes, into: &plain, limit: limit)
        }
    }

    /// Takes in that the message has ended.
    func finish(check: (UnsafeRawBufferPointer) -> WebSocketViolation?) -> Result<ByteBuffer, WebSocketViolation> {
        let keepsContext = self.direction.keepsContext
        let violation = self.grow(check) { inflater, plain, limit throws(Inflater.Failure) in
            try inflater.finish(into: &plain, limit: limit, keepsContext: keepsContext)
        }
        if let violation { return .failure(violation) }
        let message = self.plain
        self.plain = self.allocator.buffer(capacity: 0)
        self.taken = 0
        if !keepsContext { self.inflater = nil }
        return .success(message)
    }

    private func grow(
        _ check: (UnsafeRawBufferPointer) -> WebSocketViolation?,
        by step: (Inflater, inout ByteBuffer, Int) throws(Inflater.Failure) -> Void
    ) -> WebSocketViolation? {
        let inflater = self.inflater ?? Inflater()
        self.inflater = inflater
        let before = self.plain.readableBytes
        let ratioLimit = self.maximumRatio.map { max(Self.bytesOfAnyRatio, self.taken * $0) } ?? Int.max
        do {
            try step(inflater, &self.plain, min(self.maximumBytes, ratioLimit))
        } catch {
            switch error {
            case .invalid: return .invalidCompression
            case .tooBig: return self.plain.readableBytes > self.maximumBytes ? .messageTooBig : .excessiveCompression
            }
        }
        return self.plain.withUnsafeReadableBytes { check(UnsafeRawBufferPointer(rebasing: $0[before...])) }
    }
}
