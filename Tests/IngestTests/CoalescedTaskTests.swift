import NIOConcurrencyHelpers
import NIOEmbedded
import Platform
import Testing

@Suite("The coalesced task of a loop")
struct CoalescedTaskTests {
    @Test("runs once for all requests made before it runs, and again for a later one")
    func once() {
        let loop = EmbeddedEventLoop()
        let task = CoalescedTask(on: loop)
        let runs = NIOLockedValueBox(0)
        for _ in 0..<3 { task.request { runs.withLockedValue { $0 += 1 } } }
        #expect(runs.withLockedValue { $0 } == 0)
        loop.run()
        #expect(runs.withLockedValue { $0 } == 1)
        task.request { runs.withLockedValue { $0 += 1 } }
        loop.run()
        #expect(runs.withLockedValue { $0 } == 2)
    }

    @Test("runs again for a request made while it runs")
    func amid() {
        let loop = EmbeddedEventLoop()
        let task = CoalescedTask(on: loop)
        let runs = NIOLockedValueBox(0)
        task.request {
            runs.withLockedValue { $0 += 1 }
            task.request { runs.withLockedValue { $0 += 10 } }
        }
        loop.run()
        #expect(runs.withLockedValue { $0 } == 11)
    }
}
