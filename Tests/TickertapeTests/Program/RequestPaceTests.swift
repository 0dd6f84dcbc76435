import Testing
@testable import Tickertape

@Suite("The pace of requests for symbols")
struct RequestPaceTests {
    private static let second: Int64 = 1_000_000_000
    private static let start: Int64 = 1_764_000_000_000_000_000

    @Test("is once in the interval for a symbol at most, and those that wait longest come first")
    func pace() {
        var pace = RequestPace(interval: 300 * Self.second)
        let symbols = (0..<60).map { "X:\($0)" }
        var times: [String: [Int64]] = [:]
        for turn in 0..<300 {
            let now = Self.start + Int64(turn) * 6 * Self.second
            for symbol in pace.next(symbols, most: 1, now: now) { times[symbol, default: []].append(now) }
        }
        for symbol in symbols {
            let asked = times[symbol] ?? []
            #expect(asked.count == 5, "\(symbol) was asked for \(asked.count) times")
            #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 >= 300 * Self.second })
        }
    }

    @Test("forgets a symbol that is not needed, and a clock that is set back does not stop it")
    func forgotten() {
        var pace = RequestPace(interval: 300 * Self.second)
        func next(_ symbols: [String], _ seconds: Int64) -> [String] {
            pace.next(symbols, most: 9, now: Self.start + seconds * Self.second)
        }
        #expect(next(["X:A"], 0) == ["X:A"] && next(["X:A", "X:B"], 60) == ["X:B"])
        #expect(next(["X:A"], -36_000) == ["X:A"])
        #expect(next([], 0) == [] && next(["X:A"], 0) == ["X:A"])
    }
}
