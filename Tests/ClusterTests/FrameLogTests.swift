import NIOCore
import Testing
import Wire

@testable import Cluster

@Suite("FrameLog")
struct FrameLogTests {
    @Test("the bound is that of the memory, not of the text in it")
    func memory() {
        var log = FrameLog(maximumBytes: 10_000)
        for number in 1...20 as ClosedRange<UInt64> {
            var lines = ByteBuffer()
            lines.reserveCapacity(2_048)
            lines.writeString("x\n")
            let position = ClusterPosition(epoch: 1, frame: number, sequence: number)
            log.append(ClusterFrame(position: position, trades: 1, sent: 0, lines: lines), now: .now())
        }
        #expect(log.bytes <= 10_000)
        let newest = ClusterPosition(epoch: 1, frame: 20, sequence: 20)
        func isThere(_ frame: UInt64) -> Bool {
            let position = ClusterPosition(epoch: 1, frame: frame, sequence: frame)
            return log.answer(after: position, newest: newest, about: .max).isComplete
        }
        #expect(isThere(16) && !isThere(12))
    }
}
