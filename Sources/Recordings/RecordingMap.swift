import Glibc
import NIOCore
package import Wire

/// A place in a recording's file: the beginning of a line.
package struct RecordingPlace: Sendable, Equatable {
    /// Its offset in the decompressed text, in bytes.
    package var offset: Int64
    /// The line's time, ns since the file's start; `nil` for the header's.
    package var at: Int64?

    package init(offset: Int64, at: Int64?) {
        self.offset = offset
        self.at = at
    }
}

/// One file of a recording, compressed or not: read from any place, forwards and backwards, and searched.
///
/// Times are found without reading the whole file. A compressed file is searched by its index and one block, an
/// uncompressed one by binary search, since the lines' times never go back. Both take a few dozen small reads, whatever
/// the file's size. Only a compressed file without an index (one that another program made) is read from its start.
/// Offsets are those of the text. Blocks until the disk is done; belongs to one thread at a time.
package final class RecordingMap {
    /// The stretch in which a line is searched, and the size of a read, bytes.
    private static let windowBytes = 64 << 10
    private static let chunkBytes = 32 << 10
    /// How much of a file's end is searched for a line, bytes.
    private static let searchedEnd = 16 << 20

    private let file: DiskFile
    let isPacked: Bool
    private lazy var packed = self.isPacked ? PackedSegment(self.file) : nil
    /// The frame decompressed last: consecutive stretches often share one.
    private var newest: (place: Int, text: ByteBuffer)?
    package let path: String
    /// The header in the first line; `nil` where that line is no header.
    package let header: RecordingHeader?
    /// The index; `nil` where the file has none.
    package var index: RecordingIndex? { self.packed?.index }
    /// The text's length in bytes; `nil` where only reading the text would show it.
    package private(set) lazy var length: Int64? =
        self.isPacked
        ? self.packed.map { $0.frames.last.map { $0.textOffset + Int64($0.textLength) } ?? 0 } : self.file.size

    /// Whether the file records its stops, once that is known.
    var knownStops: Bool?
    /// The bytes read from the disk so far.
    package var bytesRead: Int64 { self.file.bytesRead }

    /// - Throws: ``RecordingFailure`` where the file cannot be read, or is of an unsupported version.
    package convenience init(path: String) throws(RecordingFailure) { try self.init(try DiskFile(reading: path)) }

    init(_ file: DiskFile) throws(RecordingFailure) {
        self.path = file.path
        self.file = file
        let bytes = try RecordingBytes(file: file)
        self.isPacked = bytes.isPacked
        self.header = try Self.header(of: bytes)
    }

    /// Reads the header in the first line of a file; `nil` where that line is no header.
    private static func header(of bytes: RecordingBytes) throws(RecordingFailure) -> RecordingHeader? {
        bytes.readsLittle = true
        let reader = RecordingReader(bytes, atMost: Int64(RecordingParser.maximumLineBytes))
        while let line = try reader.next() {
            if let version = reader.refusedVersion { throw .version(version, of: bytes.path) }
            if case .unreadable = line.content { continue }
            guard case .header(let header) = line.content else { return nil }
            return header
        }
        return nil
    }

    /// Whether a recorder still writes the file. If not, this takes a shared lock, and no other program can begin to
    /// write it while this is open.
    package var isBeingWritten: Bool { flock(self.file.descriptor, LOCK_SH | LOCK_NB) != 0 }

    /// Returns the first line whose time is not before `at` (ns since the file's start); `nil` where every line is
    /// earlier.
    package func place(at: Int64) throws(RecordingFailure) -> RecordingPlace? {
        try self.first {
            ($0.at ?? .min) >= at
        } block: {
            ($0.at?.upperBound ?? .min) >= at
        }
    }

    /// Returns the last line that has a time and satisfies `isWanted`; `nil` where the end of the file has none.
    /// Searches at most the last 16 MiB.
    package func last(
        where isWanted: (RecordedLine) -> Bool = { _ in true }
    ) throws(RecordingFailure) -> RecordedLine? {
        guard let length else { return nil }
        let reader = BackwardReader(self, before: length, atMost: Self.searchedEnd, block: Self.windowBytes)
        while let line = try reader.next() {
            if line.at != nil, isWanted(line) { return line }
        }
        return nil
    }

    // MARK: Reading

    /// Returns a reader of all lines, in order.
    ///
    /// - Parameter leavesTextOut: whether frames come without their text, which is faster.
    package func reader(leavesTextOut: Bool = false) throws(RecordingFailure) -> RecordingReader {
        var parser = RecordingParser()
        parser.leavesTextOut = leavesTextOut
        return RecordingReader(try self.bytes(from: 0), parser)
    }

    /// Returns a reader of the lines from a place on, whose times count from the recording's start.
    ///
    /// - Parameter shift: how much later than the recording the file began, ns.
    func reader(
        from offset: Int64,
        header: RecordingHeader,
        shift: Int64
    ) throws(RecordingFailure) -> RecordingReader {
        let parser = RecordingParser(header: header, offset: offset, shift: shift)
        return RecordingReader(try self.bytes(from: offset), parser)
    }

    /// Returns the text from an offset on, in order.
    package func bytes(from offset: Int64) throws(RecordingFailure) -> RecordingBytes {
        guard self.isPacked else { return try RecordingBytes(file: self.file, at: offset, skip: 0) }
        guard let frame = self.packed?.frames.last(where: { $0.textOffset <= offset }) else {
            return try RecordingBytes(file: self.file, at: 0, skip: offset)
        }
        return try RecordingBytes(file: self.file, at: frame.offset, skip: offset - frame.textOffset)
    }

    /// Returns at most `limit` bytes of the text before an offset; `nil` at the start, and where it cannot be read.
    func text(before end: Int64, atMost limit: Int) throws(RecordingFailure) -> ByteBuffer? {
        guard end > 0 else { return nil }
        guard let packed else {
            let count = Int(min(end, Int64(limit)))
            let text = try self.file.read(at: end - Int64(count), count: count)
            return text.readableBytes == count ? text : nil
        }
        let frame = packed.frame(with: end - 1)
        guard packed.frames.indices.contains(frame), let text = try self.text(of: frame, packed) else { return nil }
        let behind = Int(end - packed.frames[frame].textOffset)
        let count = min(limit, behind)
        return text.getSlice(at: text.readerIndex + behind - count, length: count)
    }

    /// Returns the next chunk of the text at an offset; `nil` at the end. Blank lines replace an unreadable part of a
    /// compressed file, so that every byte keeps its offset.
    func text(at place: Int64) throws(RecordingFailure) -> ByteBuffer? {
        guard let packed else {
            let text = try self.file.read(at: place, count: Self.chunkBytes)
            return text.readableBytes > 0 ? text : nil
        }
        let frame = packed.frame(with: place)
        guard packed.frames.indices.contains(frame) else { return nil }
        let text = try self.text(of: frame, packed) ?? PackedSegment.blank(packed.frames[frame].textLength)
        let begin = Int(place - packed.frames[frame].textOffset)
        guard begin < text.readableBytes else { return nil }
        return text.getSlice(at: text.readerIndex + begin, length: text.readableBytes - begin)
    }

    /// Returns the text of a frame; `nil` where it is damaged.
    private func text(of frame: Int, _ packed: PackedSegment) throws(RecordingFailure) -> ByteBuffer? {
        if let newest, newest.place == frame { return newest.text }
        guard let text = try packed.text(of: frame) else { return nil }
        self.newest = (frame, text)
        return text
    }

    /// Describes the fault in a compressed file's index; `nil` where it has none.
    func indexFault() -> String? {
        guard self.isPacked else { return nil }
        do throws(RecordingFailure) {
            return try PackedSegment.fault(of: self.file)
        } catch {
            return error.description
        }
    }

    // MARK: Searching

    /// Returns the first line that fits. All lines behind it must fit, too.
    private func first(
        _ fits: (RecordedLine) -> Bool,
        block blockFits: (RecordingIndex.Block) -> Bool
    ) throws(RecordingFailure) -> RecordingPlace? {
        var from: Int64 = 0
        if let index {
            guard let block = index.blocks.first(where: blockFits) else { return nil }
            from = block.offset
        } else if !self.isPacked {
            // A line of an unknown kind may use its time otherwise.
            from = try self.halve(among: { $0.at != nil && $0.content != .unknown }, fits)
        }
        var found: RecordingPlace?
        try self.scan(from: from, isLineStart: true) { line in
            guard line.at != nil, fits(line) else { return true }
            found = RecordingPlace(offset: line.offset, at: line.at)
            return false
        }
        return found
    }

    /// Returns the start of a line shortly before the first that fits, by binary search. Of the lines in `isLookedAt`,
    /// all behind one that fits must fit, too.
    package func halve(
        among isLookedAt: (RecordedLine) -> Bool,
        _ fits: (RecordedLine) -> Bool
    ) throws(RecordingFailure) -> Int64 {
        var low: Int64 = 0
        var high = self.length ?? 0
        while high - low > Int64(Self.windowBytes) {
            let middle = low + (high - low) / 2
            var line: RecordedLine?
            try self.scan(from: middle, to: high, isLineStart: false) { found in
                guard isLookedAt(found) else { return true }
                line = found
                return false
            }
            if let line, !fits(line) { low = line.offset } else { high = middle }
        }
        return low
    }

    /// Calls `body` for each line that begins at or behind `from`, until it returns `false`.
    ///
    /// - Parameters:
    ///   - end: lines that begin here or behind it are left out.
    ///   - isLineStart: whether a line begins at `from`; otherwise the scan begins with the next whole line.
    ///   - leavesTextOut: whether frames come without their text, which is faster.
    package func scan(
        from: Int64,
        to end: Int64 = .max,
        isLineStart: Bool,
        leavesTextOut: Bool = false,
        _ body: (RecordedLine) -> Bool
    ) throws(RecordingFailure) {
        let reader = try RecordingReader(
            self,
            from: from,
            to: end,
            isLineStart: isLineStart,
            leavesTextOut: leavesTextOut
        )
        while let line = try reader.next() { guard body(line) else { return } }
    }
}
