import NIOCore

/// The compressing of what one connection sends of its own.
struct MessageCompressor {
    /// Below this many bytes there is nothing to gain where each message stands for itself.
    static let worthwhileBytes = 128

    private let direction: DeflateAgreement.Direction
    private var deflater: Deflater?

    init(_ direction: DeflateAgreement.Direction) {
        self.direction = direction
    }

    /// Returns the compressed payload; nil when the message is to travel as it is.
    mutating func compress(_ message: ByteBuffer) -> ByteBuffer? {
        guard self.direction.isPossible else { return nil }
        // What has gone into a window that is kept must travel that way.
        let isFree = !self.direction.keepsContext
        if isFree, message.readableBytes < Self.worthwhileBytes { return nil }
        let deflater = self.deflater ?? Deflater(self.direction)
        self.deflater = deflater
        var compressed = ByteBuffer()
        deflater.compress(message, into: &compressed)
        return isFree && compressed.readableBytes >= message.readableBytes ? nil : compressed
    }
}
