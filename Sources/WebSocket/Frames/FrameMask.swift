import NIOCore
import NIOWebSocket

/// The masking key of a client's frame, four bytes (RFC 6455, 5.3).
struct FrameMask: Equatable {
    /// The key as a little-endian number, so that its first byte on the wire is the lowest.
    var word: UInt32

    init(word: UInt32) {
        self.word = word
    }

    init(_ key: WebSocketMaskingKey) {
        self.word = UInt32(key[0]) | UInt32(key[1]) << 8 | UInt32(key[2]) << 16 | UInt32(key[3]) << 24
    }

    /// Returns the unmasked payload in a new buffer. The read buffer is shared, so unmasking in place would copy as
    /// well. `offset` is the position of the first byte in its frame's payload.
    func removed(from payload: ByteBuffer, offset: Int = 0, allocator: ByteBufferAllocator) -> ByteBuffer {
        var plain = allocator.buffer(capacity: payload.readableBytes)
        payload.withUnsafeReadableBytes { source in
            _ = plain.writeWithUnsafeMutableBytes(minimumWritableBytes: source.count) { target in
                self.combine(source, offset: offset, into: target)
                return source.count
            }
        }
        return plain
    }

    private func combine(_ source: UnsafeRawBufferPointer, offset: Int, into target: UnsafeMutableRawBufferPointer) {
        let shift = UInt32(offset % 4) * 8
        let word = shift == 0 ? self.word : self.word >> shift | self.word << (32 - shift)
        let double = UInt64(word) | UInt64(word) << 32
        var index = 0
        while index + 8 <= source.count {
            let eight = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            target.storeBytes(of: (eight ^ double).littleEndian, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < source.count {
            target[index] = source[index] ^ UInt8(truncatingIfNeeded: word >> (UInt32(index % 4) * 8))
            index += 1
        }
    }
}
