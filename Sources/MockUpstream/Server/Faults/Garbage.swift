import Market
import NIOCore

/// The output of a broken service.
enum Garbage {
    /// Returns an invalid message: words, a frame cut short, wrong members, another type, or an empty text.
    static func text(of frame: ByteBuffer, using generator: inout SeededGenerator) -> ByteBuffer {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            return ByteBuffer(string: "upstream connect error or disconnect/reset before headers")
        case 1:
            // The cut must leave valid UTF-8: Finnhub's frames are ASCII, and others become empty.
            let length = Int.random(in: 0..<max(frame.readableBytes, 1), using: &generator)
            let start = frame.getSlice(at: frame.readerIndex, length: length) ?? ByteBuffer()
            return start.readableBytesView.allSatisfy { $0 < 0x80 } ? start : ByteBuffer()
        case 2:
            return ByteBuffer(string: #"{"data":[{"p":"no number","s":7,"t":[],"v":{}}],"type":"trade"}"#)
        case 3:
            return ByteBuffer(string: #"{"data":{"p":1},"type":"quote"}"#)
        case 4:
            let length = Int.random(in: 1...200, using: &generator)
            return ByteBuffer(bytes: (0..<length).map { _ in UInt8.random(in: 0x20...0x7e, using: &generator) })
        default:
            return ByteBuffer()
        }
    }

    /// Returns bytes that are not a WebSocket frame: the first one has all reserved bits set.
    static func bytes(using generator: inout SeededGenerator) -> ByteBuffer {
        ByteBuffer(bytes: [0xff] + (0..<63).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// Returns a message of an unknown type with an exact size in bytes, at least 64.
    static func message(bytes count: Int) -> ByteBuffer {
        let head = #"{"padding":""#
        let tail = #"","type":"padding"}"#
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        buffer.writeString(head)
        buffer.writeRepeatingByte(UInt8(ascii: "."), count: count - head.utf8.count - tail.utf8.count)
        buffer.writeString(tail)
        return buffer
    }
}
