import NIOCore
import Recordings
import Testing

@Suite("The bytes of frames that wait for the disk")
struct WaitingFramesTests {
    @Test("every frame is returned unchanged, in order, of any length, round after round")
    func order() {
        let lengths = [0, 1, 96, 65_000, 600, 65_536, 0, 70_000, 3, 200_000, 64_000, 1_536]
        var waiting = WaitingFrames()
        for round in 0..<3 {
            for (place, length) in lengths.enumerated() {
                waiting.append(ByteBuffer(repeating: UInt8(place + round), count: length))
            }
            for (place, length) in lengths.enumerated() {
                #expect(waiting.next(length) == ByteBuffer(repeating: UInt8(place + round), count: length))
            }
            waiting.clear()
        }
    }

    @Test("a frame is copied: a later change by the caller does not reach the copy")
    func copies() {
        var waiting = WaitingFrames()
        var frame = ByteBuffer(string: "abc")
        waiting.append(frame)
        frame.setString("xyz", at: 0)
        #expect(waiting.next(3) == ByteBuffer(string: "abc"))
    }

    @Test("a cleared buffer keeps at most one chunk of memory for the next round")
    func reuse() {
        func address(_ frame: ByteBuffer) -> UInt { frame.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } }
        var waiting = WaitingFrames()
        waiting.append(ByteBuffer(repeating: 1, count: 100))
        let first = address(waiting.next(100))
        for _ in 0..<3 {
            waiting.clear()
            for _ in 0..<2 { waiting.append(ByteBuffer(repeating: 2, count: 40_000)) }
            #expect(address(waiting.next(40_000)) == first)
            #expect(waiting.next(40_000).readableBytes == 40_000)
        }
    }
}
