import Testing
@testable import Ingest

@Suite struct RepetitionDetectorTests {
    @Test("a feed that sends every frame several times is reported once", arguments: [2, 3])
    func systematic(times: Int) {
        var watch = RepetitionDetector()
        var said: [Int] = []
        for frame in 0..<3_000 where watch.take(isRepeat: frame % times != 0, now: Int64(frame) * 1_000_000_000) {
            said.append(frame)
        }
        #expect(said == [RepetitionDetector.frames - 1])
        // Another connection of the same service, within the hour and after it.
        watch = RepetitionDetector(after: watch)
        let again = (0..<3_000).filter { watch.take(isRepeat: $0 % times != 0, now: Int64(3_000 + $0) * 1_000_000_000) }
        #expect(again.isEmpty)
        watch = RepetitionDetector(after: watch)
        #expect((0..<30).count { watch.take(isRepeat: $0 % times != 0, now: Int64(7_000 + $0) * 1_000_000_000) } == 1)
        var market = RepetitionDetector()
        #expect(!(0..<3_000).contains { market.take(isRepeat: $0 % 6 == 0, now: Int64($0)) })
    }
}
