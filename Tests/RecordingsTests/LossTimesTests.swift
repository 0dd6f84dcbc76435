import NIOCore
import Recordings
import Testing
import Wire

@Suite("The times of a loss")
struct LossTimesTests {
    @Test("are the clocks of the lines around it, and never run backwards")
    func around() {
        var losses = RecordingLosses(at: 100)
        func times(_ loss: RecordingLoss?) -> [Int64] { loss.map { [$0.from, $0.to] } ?? [] }
        func take(_ number: UInt64, wall: Int64?) -> [Int64] {
            let line = RecordedLine(number: number, content: .frame(ByteBuffer(), nil, .finnhub))
            return times(losses.take(line, wall: wall))
        }
        _ = losses.take(RecordedLine(content: .damaged(reason: "")), wall: nil)
        #expect(take(1, wall: 200) == [100, 200])
        #expect(take(2, wall: 300) == [])
        #expect(take(4, wall: 400) == [300, 400])
        // A line without a clock.
        #expect(take(6, wall: nil) == [400, 400])
        // The clock was set back.
        #expect(take(8, wall: 350) == [400, 400])
        _ = losses.take(RecordedLine(content: .damaged(reason: "")), wall: nil)
        #expect(times(losses.finish()) == [350, 350])
    }
}
