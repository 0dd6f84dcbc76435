import NIOCore
import WebSocket

/// The compressed copies of messages to many clients, each made once for all clients with the same parameters.
///
/// Callers need no knowledge of it: a buffer that is passed for one client after another is recognised by its address.
/// Owned by the relay's loop. It stays unused until a client asks for compression.
final class SharedCompression {
    /// A buffer's address and length. They identify the buffer while a ``CompressedCopy`` retains it.
    private struct Place: Hashable {
        var address: UnsafeRawPointer?
        var count: Int
    }

    private struct CompressedCopy {
        let plain: ByteBuffer
        /// The compressed copies, by window bits.
        var compressed: [Int: ByteBuffer] = [:]
    }

    private var copies: [Place: CompressedCopy] = [:]
    private var compressors: [Int: FrameCompressor] = [:]

    /// Returns frames as a client with that agreement gets them.
    func copy(of frames: ByteBuffer, for agreement: DeflateAgreement) -> ByteBuffer {
        precondition(!agreement.fromServer.keepsContext, "what one client had before is not what all had")
        guard FrameCompressor.isWorthwhile(bytes: frames.readableBytes) else { return frames }
        let bits = agreement.fromServer.windowBits
        let place = frames.withUnsafeReadableBytes { Place(address: $0.baseAddress, count: $0.count) }
        if let known = self.copies[place]?.compressed[bits] { return known }
        let compressed = self.compressor(bits).compress(frames)
        self.copies[place, default: CompressedCopy(plain: frames)].compressed[bits] = compressed
        return compressed
    }

    /// Drops the copies at the end of a turn, when all clients have theirs.
    func turnEnded() {
        if !self.copies.isEmpty { self.copies.removeAll(keepingCapacity: true) }
    }

    private func compressor(_ bits: Int) -> FrameCompressor {
        if let known = self.compressors[bits] { return known }
        let compressor = FrameCompressor(windowBits: bits)
        self.compressors[bits] = compressor
        return compressor
    }
}
