import NIOCore

/// The decompressor of one connection's messages, within its limits.
final class MessageInflater {
    /// The ratio limit applies above this size, in bytes: a short text of one repeated letter is not an attack.
    private static let bytesOfAnyRatio = 8 << 10

    private let direction: DeflateAgreement.Direction
    private let maximumBytes: Int
    private let maximumRatio: Int?
    private let allocator: ByteBufferAllocator
    /// Kept between messages only where they refer to each other; otherwise an idle connection would hold it without
    /// use.
    private var inflater: Inflater?
    /// The decompressed part of the message.
    private var plain: ByteBuffer
    /// The compressed bytes of the message taken so far.
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

    /// The largest useful size of a compressed message in bytes, for a message of `plainBytes`. A compressor with
    /// little memory needs that much for incompressible data (zlib's `deflateBound`).
    static func maximumCompressedBytes(of plainBytes: Int) -> Int { plainBytes + plainBytes / 8 + 64 }

    /// Takes the next bytes of the message, and calls `check` with their decompressed content.
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

    /// Ends the message and returns it.
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
