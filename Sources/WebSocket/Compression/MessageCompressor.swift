import NIOCore

/// The compressor of the messages that one connection alone sends.
struct MessageCompressor {
    /// The least size, in bytes, at which compressing a message without context pays.
    static let worthwhileBytes = 128

    private let direction: DeflateAgreement.Direction
    private var deflater: Deflater?

    init(_ direction: DeflateAgreement.Direction) {
        self.direction = direction
    }

    /// Returns the compressed payload; `nil` to send the message uncompressed.
    mutating func compress(_ message: ByteBuffer) -> ByteBuffer? {
        guard self.direction.isPossible else { return nil }
        // A message that has entered a kept window must be sent compressed.
        let isFree = !self.direction.keepsContext
        if isFree, message.readableBytes < Self.worthwhileBytes { return nil }
        let deflater = self.deflater ?? Deflater(self.direction)
        self.deflater = deflater
        var compressed = ByteBuffer()
        deflater.compress(message, into: &compressed)
        return isFree && compressed.readableBytes >= message.readableBytes ? nil : compressed
    }
}
