import CZstd
import NIOCore

/// A compressor of blocks into separate frames (RFC 8878), each with its length and a checksum.
final class FramePacker {
    /// Compresses raw frames to a tenth, at 100 MB/s; higher levels save one percent and take twice the time.
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

/// A decompressor of one whole frame or of a stream of them.
final class FrameUnpacker {
    /// The largest window that is accepted, as a power of two: 8 MiB, as `zstd` uses without `--long` or `--ultra`.
    private static let largestWindow: Int32 = 23

    private let context: OpaquePointer

    init() {
        guard let context = ZSTD_createDCtx() else { preconditionFailure("no memory for a decompressor") }
        self.context = context
        _ = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.largestWindow)
    }

    deinit { ZSTD_freeDCtx(self.context) }

    /// Decompresses one frame that must hold exactly `count` bytes; `nil` where it does not.
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

    /// The outcome of one step through a stream.
    struct Step {
        var consumed: Int
        var produced: Int
        /// Whether a frame ended with it.
        var isAtFrameEnd: Bool
    }

    /// Decompresses the next part of a stream; `nil` where the bytes are not a valid frame.
    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Step? {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let rest = ZSTD_decompressStream(self.context, &target, &source)
        guard ZSTD_isError(rest) == 0 else { return nil }
        return Step(consumed: source.pos, produced: target.pos, isAtFrameEnd: rest == 0)
    }

    /// Discards the state of the current frame.
    func reset() { ZSTD_DCtx_reset(self.context, ZSTD_reset_session_only) }
}

/// The magic numbers at the beginning of frames, little-endian in a file.
package enum FrameMagic {
    /// A frame of compressed data (RFC 8878, 3.1.1). A compressed recording begins with one.
    package static let data: UInt32 = 0xFD2F_B528
    /// The first of the 16 magic numbers of frames that decompressors skip.
    static let skippable: UInt32 = 0x184D_2A50
    /// The frames of the index and of the table (zstd's "seekable format").
    static let index: UInt32 = 0x184D_2A57
    static let table: UInt32 = 0x184D_2A5E
    static let tableEnd: UInt32 = 0x8F92_EAB1

    /// Whether a frame begins with these four bytes.
    static func isStart(_ word: UInt32) -> Bool { word == Self.data || word & 0xFFFF_FFF0 == Self.skippable }
}
