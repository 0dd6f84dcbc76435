import NIOCore
import WebSocket

/// The compressed twins of what goes to many clients, each made once for all clients with the same parameters.
///
/// Those who write know nothing of it: the same buffer, given for one client after the other, is recognised by its place
/// in memory. Owned by the relay's loop. Without a client that has asked for compression, nothing in it is ever used.
final class SharedCompression {
    /// A buffer's place in memory. It names the buffer as long as somebody holds on to it, as ``Twin`` does.
    private struct Place: Hashable {
        var address: UnsafeRawPointer?
        var count: Int
    }

    private struct CompressedCopy {
        let plain: ByteBuffer
        /// By the window's bits.
        var compressed: [Int: ByteBuffer] = [:]
    }

    private var twins: [Place: CompressedCopy] = [:]
    private var compressors: [Int: FrameCompressor] = [:]

    /// Returns whole frames as a client with that agreement gets them.
    func copy(of frames: ByteBuffer, for agreement: DeflateAgreement) -> ByteBuffer {
        precondition(!agreement.fromServer.keepsContext, "what one client had before is not what all had")
        guard FrameCompressor.isWorthwhile(bytes: frames.readableBytes) else { return frames }
        let bits = agreement.fromServer.windowBits
        let place = frames.withUnsafeReadableBytes { Place(address: $0.baseAddress, count: $0.count) }
        if let known = self.twins[place]?.compressed[bits] { return known }
        let compressed = self.compressor(bits).compress(frames)
        self.twins[place, default: CompressedCopy(plain: frames)].compressed[bits] = compressed
        return compressed
    }

    /// Forgets the twins: everyone has been given theirs.
    func turnEnded() {
        if !self.twins.isEmpty { self.twins.removeAll(keepingCapacity: true) }
    }

    private func compressor(_ bits: Int) -> FrameCompressor {
        if let known = self.compressors[bits] { return known }
        let compressor = FrameCompressor(windowBits: bits)
        self.compressors[bits] = compressor
        return compressor
    }
}
