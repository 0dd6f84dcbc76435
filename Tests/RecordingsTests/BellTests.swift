import NIOCore
import Platform
import Recordings
import Testing

@Suite("The bell of a thread that writes")
struct BellTests {
    private var monotonic: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    @Test("rings for who waits later, once however often it was rung, and for nobody else")
    func rings() {
        let bell = Bell()
        #expect(!bell.wait(atMost: 0) && !bell.wait(atMost: -5))
        bell.ring()
        bell.ring()
        #expect(bell.wait(atMost: 60_000_000_000))
        #expect(!bell.wait(atMost: 1_000))
    }

    @Test("wakes who waits")
    func wakes() async {
        let bell = Bell()
        async let rang = Task.detached { bell.wait(atMost: 60_000_000_000) }.value
        bell.ring()
        #expect(await rang)
    }

    @Test("is waited for as long as was said, over a second's end too, and not less")
    func time() {
        let bell = Bell()
        for wait: Int64 in [1_000_000, 1_100_000_000] {
            let start = self.monotonic
            #expect(!bell.wait(atMost: wait))
            #expect(self.monotonic - start >= wait)
        }
    }
}
