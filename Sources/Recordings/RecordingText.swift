import Glibc
package import NIOCore

/// A recording's text, any stretch of it, from a file that may be compressed.
///
/// Of a compressed file only the frames are unpacked that hold the stretch; one that is damaged reads as blank lines, so that
/// what is behind it has its place. Blocks for as long as the disk takes. Belongs to one thread at a time.
package final class RecordingText {
    private let file: DiskFile
    private let packed: PackedSegment?
    /// Of the text, bytes.
    package let length: Int64
    /// The frame that was unpacked last: stretches that are read one after the other often share one.
    private var newest: (place: Int, text: ByteBuffer)?

    /// Opens a file under its name, or under that which it has got by compression; `nil` where it cannot be read, or is
    /// compressed by a program that leaves no table of its frames.
    package init?(path: String) {
        guard let file = try? DiskFile(reading: SegmentNames.present(path)) else { return nil }
        let head = try? file.read(at: 0, count: 4)
        let isPacked = head?.getInteger(at: 0, endianness: .little, as: UInt32.self).map(FrameMagic.isStart) ?? false
        self.file = file
        self.packed = isPacked ? PackedSegment(file) : nil
        guard !isPacked || self.packed != nil else { return nil }
        self.length = self.packed.map { $0.frames.last.map { $0.textOffset + Int64($0.textLength) } ?? 0 } ?? file.size
    }

    /// So many bytes from a place on; `nil` where the disk does not give them, or the text does not have them.
    package func read(at place: Int64, count: Int64) -> ByteBuffer? {
        guard place >= 0, count >= 0, place <= self.length - count else { return nil }
        guard let packed else {
            let bytes = try? self.file.read(at: place, count: Int(count))
            return bytes?.readableBytes == Int(count) ? bytes : nil
        }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(Int(count))
        var frame = Self.frame(with: place, in: packed.frames)
        while bytes.readableBytes < Int(count), frame < packed.frames.count {
            let text = self.text(of: frame, in: packed)
            let begin = Int(max(0, place - packed.frames[frame].textOffset))
            let part = min(text.readableBytes - begin, Int(count) - bytes.readableBytes)
            bytes.writeImmutableBuffer(text.getSlice(at: text.readerIndex + begin, length: part) ?? ByteBuffer())
            frame += 1
        }
        return bytes.readableBytes == Int(count) ? bytes : nil
    }

    /// The first stretch from a place on that may hold trades of a symbol: by the index, where the file has one.
    ///
    /// What claims to be longer than any block is unpacked by nobody, and holds none.
    package func stretch(of symbol: String, from place: Int64, atMost limit: Int64) -> Range<Int64>? {
        guard place < self.length else { return nil }
        guard let index = self.packed?.index else { return place..<min(self.length, place + limit) }
        guard let number = index.symbols.firstIndex(of: symbol) else { return nil }
        var found: Range<Int64>?
        for block in index.blocks where block.end > place {
            let has = block.symbols.contains(number) && block.length <= PackedSegment.largestBlock
            guard let begun = found else {
                if has { found = max(place, block.offset)..<block.end }
                continue
            }
            guard has, block.end - begun.lowerBound <= limit else { break }
            found = begun.lowerBound..<block.end
        }
        return found
    }

    /// The last stretch before a place that may hold trades of a symbol.
    package func stretch(of symbol: String, before end: Int64, atMost limit: Int64) -> Range<Int64>? {
        guard end > 0 else { return nil }
        guard let index = self.packed?.index else { return max(0, end - limit)..<end }
        guard let number = index.symbols.firstIndex(of: symbol) else { return nil }
        var found: Range<Int64>?
        for block in index.blocks.reversed() where block.offset < end {
            let has = block.symbols.contains(number) && block.length <= PackedSegment.largestBlock
            guard let begun = found else {
                if has { found = block.offset..<min(end, block.end) }
                continue
            }
            guard has, begun.upperBound - block.offset <= limit else { break }
            found = block.offset..<begun.upperBound
        }
        return found
    }

    /// The last frame that begins at a place of the text or before it.
    private static func frame(with place: Int64, in frames: [PackedSegment.Frame]) -> Int {
        var (low, high) = (0, frames.count)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if frames[middle].textOffset <= place { low = middle } else { high = middle }
        }
        return low
    }

    private func text(of place: Int, in packed: PackedSegment) -> ByteBuffer {
        if let newest, newest.place == place { return newest.text }
        let text = (try? packed.text(of: place)) ?? Self.blank(packed.frames[place].textLength)
        self.newest = (place, text)
        return text
    }

    /// Blank lines, long enough that they are few.
    private static func blank(_ length: Int) -> ByteBuffer {
        let lineBytes = 64 << 10
        var left = min(length, PackedSegment.largestBlock)
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
}
