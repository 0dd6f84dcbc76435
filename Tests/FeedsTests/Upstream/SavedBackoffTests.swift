import Feeds
import Market
import Testing

@Suite("The saved state of a backoff")
struct SavedBackoffTests {
    private let second: Int64 = 1_000_000_000
    private let sample = SavedBackoff(
        failures: 3,
        refusals: 1,
        briefLives: 2,
        kind: .rateLimited,
        at: 1_800_000_000_000_000_000,
        wait: 60_000_000_000,
        reason: "too many connections (HTTP 429)"
    )

    @Test("is written and read unchanged")
    func roundTrip() {
        #expect(SavedBackoff(text: self.sample.text) == self.sample)
        var other = self.sample
        other.reason = nil
        #expect(SavedBackoff(text: other.text) == other)
    }

    @Test("is rejected when it is truncated anywhere, damaged at any byte, or of another version")
    func damage() {
        let text = self.sample.text
        for end in text.indices { #expect(SavedBackoff(text: String(text[..<end])) != self.sample) }
        for bad in [
            "", "\n", "tickertape-attempts 2\n", text.replacing("attempts 1", with: "attempts 2"),
            text.replacing("failures=3", with: "failures=-3"),
            text.replacing("failures=3", with: "failures=99999999999"),
            text.replacing("kind=rate-limited", with: "kind=other"), text.replacing("wait-ns=6", with: "wait-ns=-6"),
            text.replacing("at-ns=1", with: "at-ns=999999999999999999991"), text.replacing("refusals=1\n", with: ""),
        ] { #expect(SavedBackoff(text: bad) == nil, "\(bad)") }
    }

    @Test("keeps a reason to one short line")
    func reasons() {
        var memory = self.sample
        memory.reason = "two\nlines\u{7}" + String(repeating: "x", count: 10_000)
        let read = SavedBackoff(text: memory.text)
        #expect(read?.reason?.hasPrefix("two␊lines␇xxx") == true)
        #expect(memory.text.utf8.count < 1_000)
    }

    @Test("counts for the rest of its wait, then for five minutes as history, then not at all")
    func ageing() {
        let settings = ReconnectBackoff.Settings()
        let at = self.sample.at
        #expect(self.sample.remaining(at: at, settings: settings) == 60 * second)
        #expect(self.sample.remaining(at: at + 20 * second, settings: settings) == 40 * second)
        #expect(self.sample.remaining(at: at + 60 * second, settings: settings) == 0)
        #expect(self.sample.remaining(at: at + 360 * second, settings: settings) == 0)
        #expect(self.sample.remaining(at: at + 360 * second + 1, settings: settings) == nil)
    }

    @Test("locks no program out when the clock is set back or forward, or the wait is absurd")
    func clocks() {
        let settings = ReconnectBackoff.Settings()
        #expect(self.sample.remaining(at: self.sample.at - 86_400 * second, settings: settings) == 60 * second)
        #expect(self.sample.remaining(at: 0, settings: settings) == 60 * second)
        #expect(self.sample.remaining(at: .max, settings: settings) == nil)
        var absurd = self.sample
        absurd.wait = .max / 4
        #expect(absurd.remaining(at: absurd.at, settings: settings) == 3_600 * second)
        #expect(absurd.remaining(at: absurd.at + 4_000 * second, settings: settings) == nil)
    }

    /// Counts the attempts that the runs of a program with one attempt store make within 20 s. Each run makes as many
    /// attempts as its backoff permits, until the test kills it.
    private func attempts(restartingAt times: [Int64], generator: inout SeededGenerator) -> Int {
        let settings = ReconnectBackoff.Settings()
        var saved: SavedBackoff?
        var count = 0
        for (index, start) in times.enumerated() {
            let end = index + 1 < times.count ? times[index + 1] : 20 * self.second
            var backoff = ReconnectBackoff(settings: settings)
            var now = start
            if let memory = saved, let wait = memory.remaining(at: now, settings: settings) {
                backoff = ReconnectBackoff(settings: settings, memory: memory)
                now += wait
            }
            while now < end {
                count += 1
                saved = backoff.memory(ofAttemptAt: now)
                let pause = backoff.connectionEnded(
                    tradedFor: 0,
                    chance: Double.random(in: 0...1, using: &generator)
                )
                // The run is killed before or after the end could be saved.
                if Bool.random(using: &generator) { saved = backoff.memory(of: pause, at: now, reason: "x") }
                now += pause.wait
            }
        }
        return count
    }

    @Test("lets 20 restarts within 20 s make at most 6 attempts, whenever they come and whatever the jitter")
    func budget() {
        var generator = SeededGenerator(seed: 1)
        let evenly = (0..<20).map { Int64($0) * self.second }
        var most = 0
        for _ in 0..<2_000 { most = max(most, self.attempts(restartingAt: evenly, generator: &generator)) }
        for _ in 0..<2_000 {
            let times = [0] + (1..<20).map { Int64($0) * second - Int64.random(in: 0..<self.second, using: &generator) }
            most = max(most, self.attempts(restartingAt: times, generator: &generator))
        }
        #expect(most <= 6, "\(most)")
        #expect(most >= 5)
    }
}
