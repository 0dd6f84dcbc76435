import NIOCore
import Platform
import Recordings
import Testing

@Suite("What wakes a thread")
struct WakeSignalTests {
    private var monotonic: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    @Test("rings for who waits later, once however often it was rung, and for nobody else")
    func rings() throws {
        let wake = try WakeSignal()
        #expect(!wake.wait(atMost: 0) && !wake.wait(atMost: -5))
        wake.ring()
        wake.ring()
        #expect(wake.wait(atMost: 60_000_000_000))
        #expect(!wake.wait(atMost: 1_000))
    }

    @Test("wakes who waits")
    func wakes() async throws {
        let wake = try WakeSignal()
        async let rang = Task.detached { wake.wait(atMost: 60_000_000_000) }.value
        wake.ring()
        #expect(await rang)
    }

    @Test("is waited for as long as was said, over a second's end too, and not less")
    func time() throws {
        let wake = try WakeSignal()
        for wait: Int64 in [1_000_000, 1_100_000_000] {
            let start = self.monotonic
            #expect(!wake.wait(atMost: wait))
            #expect(self.monotonic - start >= wait)
        }
    }
}
