package import NIOCore
package import Wire

/// A recording's text from a file that may be compressed, in chunks: the input of a ``RecordingReader``.
///
/// Memory is bounded by the chunk and the decompressor's window, whatever the file's size. A damaged frame of a
/// compressed file is left out, with everything up to the next frame, and returned as such a part.
package final class RecordingBytes {
    /// A part of the file, in order.
    package enum Part: Sendable, Equatable {
        case text(ByteBuffer)
        case unreadable(RecordedLine.UnreadablePart)
    }

    private static let chunkBytes = 256 << 10
    private static let smallChunkBytes = 32 << 10
    private static let minimumBytes = 4 << 10
    /// The limit of the ratio of text to compressed bytes; real files have 10 to 50.
    static let largestGrowth: Int64 = 4_096

    package let path: String
    private let file: DiskFile
    /// The file's size on the disk, in bytes.
    package let size: Int64
    /// Whether the file is compressed.
    package let isPacked: Bool
    private let unpacker: FrameUnpacker?
    /// The offset of the next read, and the bytes read but not used yet.
    private var position: Int64 = 0
    private var input = ByteBuffer()
    private var frameStart: Int64 = 0
    private var isInFrame = false
    private var produced: Int64 = 0
    /// How many bytes of text are left out before the first that is returned.
    private var skip: Int64 = 0
    private var lastByte = UInt8(ascii: "\n")
    /// Whether a newline must end an incomplete line, so that it is not joined with the text behind the damage.
    private var mustEndLine = false
    private var isAtEnd = false
    /// Whether little will be read, so that small reads are cheaper.
    var readsLittle = false {
        didSet { if self.readsLittle, !self.isPacked { self.chunk = Self.smallChunkBytes } }
    }
    /// The size of the next read. It is small after damage: inside a damaged part, every byte may seem to begin a
    /// frame.
    private var chunk = RecordingBytes.chunkBytes
    /// Whether the decompressor may hold more text without further input.
    private var mayHoldMore = false
    /// The thread that decompresses, if one runs, and whether it has delivered its last part.
    private var ahead: TextAhead?
    private var isAheadAtEnd = false

    /// Opens a file at its start.
    package convenience init(path: String) throws(RecordingFailure) {
        try self.init(file: try DiskFile(reading: path))
    }

    /// Opens a file at a position.
    ///
    /// - Parameters:
    ///   - position: the offset in the file: the start of a frame where it is compressed.
    ///   - skip: how many bytes of text after that position are left out.
    init(file: DiskFile, at position: Int64 = 0, skip: Int64 = 0) throws(RecordingFailure) {
        self.file = file
        self.path = file.path
        self.size = file.size
        let head = try file.read(at: 0, count: 4)
        let magic = head.getInteger(at: head.readerIndex, endianness: .little, as: UInt32.self)
        self.isPacked = magic.map(FrameMagic.isStart) ?? false
        self.unpacker = self.isPacked ? FrameUnpacker() : nil
        self.position = position
        self.frameStart = position
        self.skip = skip
    }

    deinit { self.ahead?.stop() }

    /// Starts a thread that decompresses from here on, a little ahead of the reader. Meant for reading a whole file.
    package func readAhead() throws(RecordingFailure) {
        guard self.isPacked, self.ahead == nil else { return }
        let bytes = try RecordingBytes(file: self.file, at: self.position, skip: self.skip)
        // Where the system has no thread left, the reader's thread decompresses.
        self.ahead = try? TextAhead(bytes)
    }

    /// Returns the next part; `nil` at the end.
    package func next() throws(RecordingFailure) -> Part? {
        guard let ahead else { return try self.nextHere() }
        guard !self.isAheadAtEnd else { return nil }
        let part = ahead.next()
        self.isAheadAtEnd = TextAhead.isLast(part)
        return try part.get()
    }

    private func nextHere() throws(RecordingFailure) -> Part? {
        while let part = try self.nextUnskipped() {
            guard case .text(var chunk) = part else { return part }
            let skipped = Int(min(self.skip, Int64(chunk.readableBytes)))
            chunk.moveReaderIndex(forwardBy: skipped)
            self.skip -= Int64(skipped)
            if chunk.readableBytes > 0 { return .text(chunk) }
        }
        return nil
    }

    private func nextUnskipped() throws(RecordingFailure) -> Part? {
        guard let unpacker else {
            let chunk = try self.readChunk()
            return chunk.readableBytes > 0 ? .text(chunk) : nil
        }
        while true {
            if let newline = self.endLine() { return .text(newline) }
            guard !self.isAtEnd else { return nil }
            if self.input.readableBytes == 0, !self.mayHoldMore {
                self.input = try self.readChunk()
                if self.input.readableBytes == 0 {
                    self.isAtEnd = true
                    guard self.isInFrame else { return nil }
                    return .unreadable(.init(bytes: self.frameStart..<self.position, isTail: true))
                }
            }
            if let part = try self.unpack(unpacker) { return part }
        }
    }

    private func readChunk() throws(RecordingFailure) -> ByteBuffer {
        let chunk = try self.file.read(at: self.position, count: self.chunk)
        self.chunk = self.readsLittle && !self.isPacked ? Self.smallChunkBytes : min(Self.chunkBytes, self.chunk * 2)
        self.position += Int64(chunk.readableBytes)
        return chunk
    }

    /// Takes one step; `nil` where it produced no text.
    private func unpack(_ unpacker: FrameUnpacker) throws(RecordingFailure) -> Part? {
        if !self.isInFrame {
            self.isInFrame = true
            self.frameStart = self.position - Int64(self.input.readableBytes)
        }
        var text = ByteBuffer()
        var step: FrameUnpacker.Step?
        text.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.chunkBytes) { output in
            step = self.input.withUnsafeReadableBytes { unpacker.step($0, into: output) }
            self.mayHoldMore = step.map { $0.produced == output.count && !$0.isAtFrameEnd } ?? false
            return step?.produced ?? 0
        }
        guard let step else { return try self.findNextFrame(unpacker) }
        self.input.moveReaderIndex(forwardBy: step.consumed)
        self.produced += Int64(step.produced)
        if step.isAtFrameEnd { self.isInFrame = false }
        guard self.produced <= (Self.largestGrowth * (self.position + 256)) else {
            throw RecordingFailure(
                "\(self.path) becomes more than \(Self.largestGrowth) times as large: it is not a recording"
            )
        }
        guard text.readableBytes > 0 else { return nil }
        self.lastByte = text.getInteger(at: text.writerIndex - 1) ?? self.lastByte
        return .text(text)
    }

    /// Continues at the next offset where a frame may begin; returns the damaged part before it.
    private func findNextFrame(_ unpacker: FrameUnpacker) throws(RecordingFailure) -> Part {
        unpacker.reset()
        let broken = self.frameStart
        var place = broken + 1
        self.isInFrame = false
        self.mustEndLine = true
        self.mayHoldMore = false
        self.input = ByteBuffer()
        self.chunk = Self.minimumBytes
        var size = Self.minimumBytes
        while true {
            let window = try self.file.read(at: place, count: size)
            size = min(Self.chunkBytes, size * 2)
            guard window.readableBytes >= 4 else { break }
            let found = window.withUnsafeReadableBytes { bytes in
                (0...bytes.count - 4).first {
                    FrameMagic.isStart(
                        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self))
                    )
                }
            }
            if let found {
                self.position = place + Int64(found)
                return .unreadable(.init(bytes: broken..<self.position, isTail: false))
            }
            place += Int64(window.readableBytes - 3)
        }
        self.position = self.size
        self.isAtEnd = true
        return .unreadable(.init(bytes: broken..<max(broken, self.size), isTail: false))
    }

    /// Returns the newline that ends an incomplete line before damage, once.
    private func endLine() -> ByteBuffer? {
        guard self.mustEndLine else { return nil }
        self.mustEndLine = false
        guard self.lastByte != UInt8(ascii: "\n") else { return nil }
        self.lastByte = UInt8(ascii: "\n")
        return ByteBuffer(bytes: [UInt8(ascii: "\n")])
    }
}
