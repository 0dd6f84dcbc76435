import NIOCore
import Platform
import Recordings
import Testing

@Suite("The wake-up of a thread")
struct WakeSignalTests {
    private var monotonic: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    @Test("is kept for the next wait, and several rings end only one wait")
    func rings() throws {
        let wake = try WakeSignal()
        #expect(!wake.wait(atMost: 0) && !wake.wait(atMost: -5))
        wake.ring()
        wake.ring()
        #expect(wake.wait(atMost: 60_000_000_000))
        #expect(!wake.wait(atMost: 1_000))
    }

    @Test("ends a wait")
    func wakes() async throws {
        let wake = try WakeSignal()
        async let rang = Task.detached { wake.wait(atMost: 60_000_000_000) }.value
        wake.ring()
        #expect(await rang)
    }

    @Test("a wait lasts as long as requested, longer than a second too, and not less")
    func time() throws {
        let wake = try WakeSignal()
        for wait: Int64 in [1_000_000, 1_100_000_000] {
            let start = self.monotonic
            #expect(!wake.wait(atMost: wait))
            #expect(self.monotonic - start >= wait)
        }
    }
}
