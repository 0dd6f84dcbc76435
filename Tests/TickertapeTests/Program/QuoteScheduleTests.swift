import Testing
@testable import Tickertape

@Suite("The requests for previous closes")
struct QuoteScheduleTests {
    private static let minute: Int64 = 60_000_000_000
    private static let start: Int64 = 1_764_000_000_000_000_000

    @Test("come at most once in five minutes for a symbol, and a few at a time, those that wait longest first")
    func pace() {
        var schedule = QuoteSchedule()
        let symbols = (0..<20).map { "X:\($0)" }
        var times: [String: [Int64]] = [:]
        for minute in 0..<30 {
            let now = Self.start + Int64(minute) * Self.minute
            let next = schedule.next(symbols, now: now)
            #expect(next.count <= 9 && Set(next).count == next.count)
            for symbol in next { times[symbol, default: []].append(now) }
        }
        for symbol in symbols {
            let asked = times[symbol] ?? []
            #expect(asked.count >= 5, "\(symbol) was asked for \(asked.count) times")
            #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 >= 5 * Self.minute })
        }
    }

    @Test("are forgotten with their symbol, and a clock that is set back does not stop them")
    func forgotten() {
        var schedule = QuoteSchedule()
        #expect(schedule.next(["X:A"], now: Self.start) == ["X:A"])
        #expect(schedule.next(["X:A"], now: Self.start + Self.minute) == [])
        #expect(schedule.next(["X:A"], now: Self.start - 600 * Self.minute) == ["X:A"])
        #expect(schedule.next([], now: Self.start) == [])
        #expect(schedule.next(["X:A"], now: Self.start) == ["X:A"])
    }
}
