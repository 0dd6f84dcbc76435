import Testing
@testable import Ingest

@Suite struct RepetitionWatchTests {
    @Test("a feed that sends every frame several times is told of once", arguments: [2, 3])
    func systematic(times: Int) {
        var watch = RepetitionWatch()
        var said: [Int] = []
        for frame in 0..<3_000 where watch.take(isRepeat: frame % times != 0, now: Int64(frame) * 1_000_000_000) {
            said.append(frame)
        }
        #expect(said == [RepetitionWatch.frames - 1])
        // Another connection of the same service, within the hour and behind it.
        watch = RepetitionWatch(after: watch)
        let again = (0..<3_000).filter { watch.take(isRepeat: $0 % times != 0, now: Int64(3_000 + $0) * 1_000_000_000) }
        #expect(again.isEmpty)
        watch = RepetitionWatch(after: watch)
        #expect((0..<30).count { watch.take(isRepeat: $0 % times != 0, now: Int64(7_000 + $0) * 1_000_000_000) } == 1)
        var market = RepetitionWatch()
        #expect(!(0..<3_000).contains { market.take(isRepeat: $0 % 6 == 0, now: Int64($0)) })
    }
}
