import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import Relay

@Suite("The program's own symbols beside those of the relay's clients")
struct OwnSymbolTests {
    private static let start = NIODeadline.uptimeNanoseconds(0)

    @Test("one that is taken up is asked for once, whoever wants it first, and ends with the last who wants it")
    func adopts() {
        var ledger = SymbolLedger(limit: 3, own: ["OWN"])
        #expect(ledger.adopted("OWN") == .known)
        #expect(ledger.adopted("A") == .demand)
        #expect(ledger.adopted("A") == .known)
        #expect(ledger.wanted("A") == .known)
        ledger.disowned("A")
        #expect(ledger.takeReleases() == [])
        ledger.unwanted("A", now: Self.start)
        #expect(ledger.takeReleases() == ["A"])
        #expect(ledger.wanted("B") == .demand)
        #expect(ledger.adopted("B") == .known)
        ledger.unwanted("B", now: Self.start)
        #expect(ledger.takeReleases() == [] && ledger.holds("B"))
        ledger.disowned("B")
        #expect(ledger.takeReleases() == ["B"])
        // Twice is once, and what was never the program's own is left alone.
        ledger.disowned("B")
        ledger.disowned("C")
        #expect(ledger.takeReleases() == [])
    }

    @Test("one of the settings that is given up stays for a client who has it, and is asked for again afterwards")
    func disowns() {
        var ledger = SymbolLedger(limit: 3, own: ["OWN"], grace: .seconds(10))
        #expect(ledger.wanted("OWN") == .known)
        ledger.disowned("OWN")
        #expect(ledger.takeReleases() == [] && ledger.symbols == ["OWN"])
        ledger.unwanted("OWN", now: Self.start)
        ledger.timePassed(now: Self.start + .seconds(10))
        #expect(ledger.takeReleases() == ["OWN"] && ledger.symbols == [])
        #expect(ledger.adopted("OWN") == .demand)
    }

    @Test("they share the places with the clients; one in grace makes room, and one that is both takes one place")
    func shares() {
        var ledger = SymbolLedger(limit: 2, own: ["OWN"], grace: .seconds(10))
        #expect(ledger.wanted("OWN") == .known)
        #expect(ledger.wanted("A") == .demand)
        #expect(ledger.adopted("B") == .full)
        #expect(ledger.adopted("") == .invalid)
        ledger.unwanted("A", now: Self.start)
        #expect(ledger.adopted("B") == .demand)
        #expect(ledger.takeReleases() == ["A"])
        #expect(ledger.wanted("C") == .full)
        ledger.disowned("B")
        #expect(ledger.wanted("C") == .demand)
        // In grace and taken up meanwhile, it is no more in grace.
        ledger.unwanted("C", now: Self.start)
        #expect(ledger.adopted("C") == .known && ledger.deadline == nil)
    }

    @Test("what the screen wants is heard upstream, and that it is over")
    func hub() throws {
        let bench = HubBench(symbolLimit: 2)
        #expect(bench.hub.adopt("A") == .demand)
        let client = try bench.client()
        try client.subscribe("A")
        try client.subscribe("B")
        #expect(bench.hub.adopt("C") == .full)
        #expect(bench.calls.all == ["A", "B"])
        bench.hub.disown("A")
        #expect(bench.calls.all == ["A", "B"])
        try client.unsubscribe("A")
        bench.loop.advanceTime(by: .seconds(10))
        #expect(bench.calls.all == ["A", "B", "-A"])
        bench.stop()
    }
}
