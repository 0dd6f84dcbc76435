import Glibc
import NIOCore
package import Platform
import Wire

/// A compressed file of a recording: frames of about 1 MiB of whole lines, the index in a frame that decompressors
/// skip, and the table of zstd's seekable format, so that any part can be read alone.
///
/// `zstd -d` restores the original file, byte for byte.
package struct PackedSegment {
    /// The text in a frame, bytes; more only where one line is longer.
    static let blockBytes = 1 << 20
    /// The most text that a frame may claim: a block, and the longest line.
    static let largestBlock = blockBytes + 2 * RecordingParser.maximumLineBytes
    private static let tableFooterBytes = 9
    /// The least average size of a frame, in bytes. A table with more frames than that allows is not a recording's, and
    /// would take more memory than the file is large.
    private static let minimumFrameBytes: Int64 = 64
    /// The limit of the index in a small file, bytes; in a larger one it is a quarter of the file.
    private static let smallIndexBytes: Int64 = 64 << 10

    /// The place of a frame in the file and of its text.
    struct Frame: Sendable, Equatable {
        var offset: Int64
        var length: Int
        /// The length of its text, and the text's offset, in bytes.
        var textLength: Int
        var textOffset: Int64
    }

    let file: DiskFile
    let frames: [Frame]
    /// `nil` where the file has no index of this program.
    package let index: RecordingIndex?

    // MARK: Reading

    /// Opens a compressed file that has a table; `nil` without a table, or with an invalid one.
    ///
    /// The table has no checksum, so that one with an index frame counts only where the index agrees with it.
    init?(_ file: DiskFile) {
        guard let frames = try? Self.readTable(of: file) else { return nil }
        self.file = file
        let texts = frames.filter { $0.textLength > 0 }
        self.frames = texts
        // Tables of other programs have no such frame.
        guard let place = frames.last(where: { $0.textLength == 0 }) else {
            self.index = nil
            return
        }
        guard let index = Self.readIndex(place, of: file, blocks: texts.count),
            index.blocks.elementsEqual(texts, by: { $0.offset == $1.textOffset && $0.length == $1.textLength })
        else { return nil }
        self.index = index
    }

    private static func readTable(of file: DiskFile) throws(RecordingFailure) -> [Frame]? {
        let size = file.size
        guard size > Int64(Self.tableFooterBytes) + 8 else { return nil }
        var footer = try file.read(at: size - Int64(Self.tableFooterBytes), count: Self.tableFooterBytes)
        guard let count = footer.readInteger(endianness: .little, as: UInt32.self),
            let flags: UInt8 = footer.readInteger(),
            footer.readInteger(endianness: .little, as: UInt32.self) == FrameMagic.tableEnd, flags & 0x7F == 0
        else { return nil }
        let entryBytes = flags & 0x80 != 0 ? 12 : 8
        let contentBytes = Int64(count) * Int64(entryBytes) + Int64(Self.tableFooterBytes)
        let start = size - contentBytes - 8
        guard start >= 0, contentBytes < Int64(UInt32.max), Int64(count) <= start / Self.minimumFrameBytes + 2 else {
            return nil
        }
        var table = try file.read(at: start, count: Int(contentBytes) + 8)
        guard table.readInteger(endianness: .little, as: UInt32.self) == FrameMagic.table,
            table.readInteger(endianness: .little, as: UInt32.self) == UInt32(contentBytes)
        else { return nil }
        var frames: [Frame] = []
        frames.reserveCapacity(Int(count))
        var offset: Int64 = 0
        var textOffset: Int64 = 0
        for _ in 0..<count {
            guard let length = table.readInteger(endianness: .little, as: UInt32.self),
                let textLength = table.readInteger(endianness: .little, as: UInt32.self)
            else { return nil }
            if entryBytes == 12 { table.moveReaderIndex(forwardBy: 4) }
            frames.append(
                Frame(offset: offset, length: Int(length), textLength: Int(textLength), textOffset: textOffset)
            )
            offset += Int64(length)
            textOffset += Int64(textLength)
        }
        return offset == start ? frames : nil
    }

    /// How much of a file's end is searched for a table whose own end is damaged, bytes.
    private static let searchedEnd: Int64 = 1 << 20

    /// Describes the fault in the index or the table of frames; `nil` where both are sound, and where the file never
    /// had them, as one that another program compressed.
    static func fault(of file: DiskFile) throws(RecordingFailure) -> String? {
        let size = file.size
        let footer = try file.read(at: max(0, size - 4), count: 4)
        if footer.getInteger(at: footer.readerIndex, endianness: .little, as: UInt32.self) == FrameMagic.tableEnd {
            return PackedSegment(file) == nil
                ? "the index or the table of frames in the compressed file is damaged" : nil
        }
        let start = max(0, size - Self.searchedEnd)
        let end = try file.read(at: start, count: Int(size - start))
        let hasTable = end.withUnsafeReadableBytes { bytes in
            guard bytes.count >= 8 else { return false }
            return (0...bytes.count - 8).contains { place in
                let magic = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                let length = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
                return magic == FrameMagic.table && Int(length) == bytes.count - place - 8
            }
        }
        return hasTable ? "the table of frames in the compressed file is damaged" : nil
    }

    private static func readIndex(_ frame: Frame, of file: DiskFile, blocks: Int) -> RecordingIndex? {
        guard frame.length > 8, Int64(frame.length) <= max(file.size / 4, Self.smallIndexBytes),
            var bytes = try? file.read(at: frame.offset, count: frame.length),
            bytes.readInteger(endianness: .little, as: UInt32.self) == FrameMagic.index,
            bytes.readInteger(endianness: .little, as: UInt32.self) == UInt32(frame.length - 8)
        else { return nil }
        return bytes.withUnsafeReadableBytes { RecordingIndex($0, blocks: blocks) }
    }

    /// Returns the text of one frame; `nil` where it is damaged.
    func text(of place: Int) throws(RecordingFailure) -> ByteBuffer? {
        let frame = self.frames[place]
        guard frame.textLength <= Self.largestBlock, frame.length <= Self.largestBlock + 1_024,
            Int64(frame.textLength) <= Int64(frame.length) * RecordingBytes.largestGrowth
        else { return nil }
        let bytes = try self.file.read(at: frame.offset, count: frame.length)
        return bytes.withUnsafeReadableBytes { FrameUnpacker().unpack($0, count: frame.textLength) }
    }

    /// Returns the last frame that begins at or before an offset of the text; the number of frames where the text ends
    /// before it.
    func frame(with place: Int64) -> Int {
        guard let last = self.frames.last, place < last.textOffset + Int64(last.textLength) else {
            return self.frames.count
        }
        var (low, high) = (0, self.frames.count)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if self.frames[middle].textOffset <= place { low = middle } else { high = middle }
        }
        return low
    }

    /// Returns blank lines that replace a text. They are long, so that they are few.
    static func blank(_ length: Int) -> ByteBuffer {
        let lineBytes = 64 << 10
        var left = min(length, Self.largestBlock)
        var text = ByteBuffer()
        text.reserveCapacity(left)
        while left > 0 {
            let count = min(left, lineBytes)
            text.writeRepeatingByte(UInt8(ascii: " "), count: count - 1)
            text.writeInteger(UInt8(ascii: "\n"))
            left -= count
        }
        return text
    }

    // MARK: Writing

    /// Compresses a file into a new one, which is synced, read back and compared before this returns.
    ///
    /// - Parameters:
    ///   - disk: syncs the new file.
    ///   - isCancelled: is called between blocks; where it returns true, the new file is removed.
    /// - Throws: ``RecordingFailure``; then there is no new file.
    package static func pack(
        _ path: String,
        to target: String,
        disk: any SegmentDisk = SystemSegmentDisk(),
        isCancelled: () -> Bool = { false }
    ) throws(RecordingFailure) {
        let source = try DiskFile(reading: path)
        let output = try DiskFile(creating: target)
        do throws(RecordingFailure) {
            let size = source.size
            let (checksum, length) = try self.write(source, to: output, isCancelled)
            // The source is complete and locked: a different length means that it was not read to its end.
            guard length == size else { throw RecordingFailure("only \(length) of \(size) bytes of \(path) were read") }
            try output.sync(disk)
            guard try self.checksum(of: target, isCancelled) == checksum else {
                throw RecordingFailure("\(target) is not what was written to it")
            }
        } catch {
            unlink(target)
            throw error
        }
    }

    private static func write(
        _ source: DiskFile,
        to output: DiskFile,
        _ isCancelled: () -> Bool
    ) throws(RecordingFailure) -> (checksum: UInt64, length: Int64) {
        let packer = FramePacker()
        var indexer = RecordingIndexer()
        var header: RecordingHeader?
        var table = ByteBuffer()
        var checksum: UInt64 = 0
        var place: Int64 = 0
        var rest = ByteBuffer()
        while true {
            guard !isCancelled() else { throw RecordingFailure("stopped") }
            let chunk = try source.read(at: place, count: Self.blockBytes)
            place += Int64(chunk.readableBytes)
            rest.writeImmutableBuffer(chunk)
            let isLast = chunk.readableBytes < Self.blockBytes
            // Up to the end of the last whole line; everything where a line exceeds the limit.
            var length = rest.readableBytes
            if !isLast, length < Self.largestBlock {
                let end = rest.readableBytesView.lastIndex(of: UInt8(ascii: "\n"))
                length = end.map { $0 + 1 - rest.readerIndex } ?? 0
            }
            if length > 0, let block = rest.readSlice(length: length) {
                let offset = place - Int64(rest.readableBytes) - Int64(length)
                indexer.add(block, offset: offset, header: &header)
                checksum = Self.checksum(block, after: checksum)
                let frame = try block.withUnsafeReadableBytesThrowing { bytes throws(RecordingFailure) in
                    try packer.pack(bytes)
                }
                try output.write(frame)
                table.writeInteger(UInt32(frame.readableBytes), endianness: .little)
                table.writeInteger(UInt32(length), endianness: .little)
                rest = ByteBuffer(bytes: rest.readableBytesView)
            }
            if isLast { break }
        }
        let index = indexer.index.encoded()
        try output.write(Self.skippable(FrameMagic.index, index))
        table.writeInteger(UInt32(index.readableBytes + 8), endianness: .little)
        table.writeInteger(UInt32(0), endianness: .little)
        table.writeInteger(UInt32(table.readableBytes / 8), endianness: .little)
        table.writeInteger(UInt8(0))
        table.writeInteger(FrameMagic.tableEnd, endianness: .little)
        try output.write(Self.skippable(FrameMagic.table, table))
        return (checksum, place)
    }

    private static func skippable(_ magic: UInt32, _ content: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.writeInteger(magic, endianness: .little)
        frame.writeInteger(UInt32(content.readableBytes), endianness: .little)
        frame.writeImmutableBuffer(content)
        return frame
    }

    /// Returns the length of a text and its CRC-32C in one number.
    private static func checksum(_ text: ByteBuffer, after before: UInt64) -> UInt64 {
        let checksum = text.withUnsafeReadableBytes { Checksum32C.of($0, after: UInt32(truncatingIfNeeded: before)) }
        return ((before >> 32) + UInt64(text.readableBytes)) << 32 | UInt64(checksum)
    }

    private static func checksum(of path: String, _ isCancelled: () -> Bool) throws(RecordingFailure) -> UInt64 {
        let bytes = try RecordingBytes(path: path)
        var checksum: UInt64 = 0
        var isWhole = true
        while isWhole, let part = try bytes.next() {
            guard !isCancelled() else { throw RecordingFailure("stopped") }
            switch part {
            case .text(let text): checksum = Self.checksum(text, after: checksum)
            case .unreadable: isWhole = false
            }
        }
        guard isWhole, PackedSegment(try DiskFile(reading: path))?.index != nil else {
            throw RecordingFailure("\(path) is not what was written to it")
        }
        return checksum
    }
}

extension ByteBuffer {
    /// `withUnsafeReadableBytes` with a typed error.
    func withUnsafeReadableBytesThrowing<Value>(
        _ body: (UnsafeRawBufferPointer) throws(RecordingFailure) -> Value
    ) throws(RecordingFailure) -> Value {
        let result: Result<Value, RecordingFailure> = self.withUnsafeReadableBytes { bytes in
            do throws(RecordingFailure) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
