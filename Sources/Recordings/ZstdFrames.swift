import CZstd
import NIOCore

/// Compressed blocks, each a frame of its own (RFC 8878) that carries its length and a checksum.
final class FramePacker {
    /// A tenth of the raw frames, at 100 MB/s; higher levels win a hundredth and take twice the time.
    static let level: Int32 = 6

    private let context: OpaquePointer

    init() {
        guard let context = ZSTD_createCCtx() else { preconditionFailure("no memory for a compressor") }
        self.context = context
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(self.context) }

    /// Compresses a block into one frame.
    func pack(_ block: UnsafeRawBufferPointer) throws(RecordingFailure) -> ByteBuffer {
        let bound = ZSTD_compressBound(block.count)
        var frame = ByteBuffer()
        let context = self.context
        var failure: String?
        frame.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { out in
            let count = ZSTD_compress2(context, out.baseAddress, out.count, block.baseAddress, block.count)
            guard ZSTD_isError(count) == 0 else {
                failure = String(cString: ZSTD_getErrorName(count))
                return 0
            }
            return count
        }
        if let failure { throw RecordingFailure("cannot compress: \(failure)") }
        return frame
    }
}

/// The way back, for one whole frame or for a stream of them.
final class FrameUnpacker {
    /// The largest window that is accepted, as a power of two: what `zstd` makes without `--long` or `--ultra`, 8 MiB.
    private static let largestWindow: Int32 = 23

    private let context: OpaquePointer

    init() {
        guard let context = ZSTD_createDCtx() else { preconditionFailure("no memory for a decompressor") }
        self.context = context
        _ = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.largestWindow)
    }

    deinit { ZSTD_freeDCtx(self.context) }

    /// Decompresses one frame that is known to hold so many bytes; `nil` where it does not.
    func unpack(_ frame: UnsafeRawBufferPointer, count: Int) -> ByteBuffer? {
        var block = ByteBuffer()
        block.reserveCapacity(count)
        let context = self.context
        let got = block.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { out in
            let got = ZSTD_decompressDCtx(context, out.baseAddress, count, frame.baseAddress, frame.count)
            return ZSTD_isError(got) == 0 ? got : 0
        }
        return got == count ? block : nil
    }

    /// What one step through a stream did.
    struct Step {
        var consumed: Int
        var produced: Int
        /// Whether a frame ended with it.
        var isAtFrameEnd: Bool
    }

    /// Goes on through a stream; `nil` where the bytes are no frame's.
    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Step? {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let rest = ZSTD_decompressStream(self.context, &target, &source)
        guard ZSTD_isError(rest) == 0 else { return nil }
        return Step(consumed: source.pos, produced: target.pos, isAtFrameEnd: rest == 0)
    }

    /// Forgets the frame that it is in.
    func reset() { ZSTD_DCtx_reset(self.context, ZSTD_reset_session_only) }
}

/// How frames begin.
enum FrameMagic {
    static let data: UInt32 = 0xFD2F_B528
    /// Frames for others than the decompressor: 16 numbers of which this is the first.
    static let skippable: UInt32 = 0x184D_2A50
    /// What the index is in, and the table of frames (zstd's "seekable format").
    static let index: UInt32 = 0x184D_2A57
    static let table: UInt32 = 0x184D_2A5E
    static let tableEnd: UInt32 = 0x8F92_EAB1

    /// Whether a frame begins with these four bytes.
    static func isStart(_ word: UInt32) -> Bool { word == Self.data || word & 0xFFFF_FFF0 == Self.skippable }
}
