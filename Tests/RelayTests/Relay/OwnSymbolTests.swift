import Ingest
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import Relay

@Suite("The program's own symbols beside those of the relay's clients")
struct OwnSymbolTests {
    @Test("the screen's subscriptions reach the upstream, and so does their end")
    func hub() throws {
        let bench = HubBench(symbolLimit: 2)
        #expect(bench.subscriptions.retain("A") == .accepted)
        let client = try bench.client()
        try client.subscribe("A")
        try client.subscribe("B")
        #expect(bench.subscriptions.retain("C") == .full)
        #expect(bench.calls.all == ["A", "B"])
        bench.subscriptions.release("A")
        #expect(bench.calls.all == ["A", "B"])
        try client.unsubscribe("A")
        bench.loop.advanceTime(by: .seconds(10))
        #expect(bench.calls.all == ["A", "B", "-A"])
        bench.stop()
    }
}
