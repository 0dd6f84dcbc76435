import NIOCore
import Testing
@testable import Relay

@Suite("The symbols of all readers together")
struct SymbolLedgerTests {
    private static func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test("only the first wish asks the upstream, and only the end of the last one, ten seconds later, tells it again")
    func firstAndLast() {
        var ledger = SymbolLedger(limit: 50, grace: .seconds(10))
        #expect(ledger.wanted("A") == .demand)
        #expect(ledger.wanted("A") == .known)
        ledger.unwanted("A", now: Self.at(1))
        #expect(ledger.deadline == nil)
        ledger.unwanted("A", now: Self.at(2))
        #expect(ledger.deadline == Self.at(12))
        ledger.timePassed(now: Self.at(11))
        #expect(ledger.takeReleases() == [])
        #expect(ledger.symbols == ["A"])
        ledger.timePassed(now: Self.at(12))
        #expect(ledger.takeReleases() == ["A"])
        #expect(ledger.takeReleases() == [])
        #expect(ledger.symbols == [] && ledger.deadline == nil)
        #expect(ledger.wanted("A") == .demand)
    }

    @Test("a new wish within the grace is nothing to the upstream, and the grace begins anew with the next end")
    func comesBack() {
        var ledger = SymbolLedger(limit: 50, grace: .seconds(10))
        #expect(ledger.wanted("A") == .demand)
        for round in 0..<5 {
            ledger.unwanted("A", now: Self.at(Int64(round) * 9))
            #expect(ledger.deadline == Self.at(Int64(round) * 9 + 10))
            ledger.timePassed(now: Self.at(Int64(round) * 9 + 9))
            #expect(ledger.wanted("A") == .known)
            #expect(ledger.deadline == nil)
        }
        ledger.timePassed(now: Self.at(1_000))
        #expect(ledger.takeReleases() == [])
        ledger.unwanted("A", now: Self.at(1_000))
        ledger.timePassed(now: Self.at(1_010))
        #expect(ledger.takeReleases() == ["A"])
    }

    @Test("where all places are taken a new wish gets that of the symbol in grace longest, which goes first")
    func evicts() {
        var ledger = SymbolLedger(limit: 3, own: ["OWN"], grace: .seconds(10))
        #expect(ledger.wanted("A") == .demand)
        #expect(ledger.wanted("B") == .demand)
        #expect(ledger.wanted("C") == .full)
        #expect(ledger.takeReleases() == [])
        ledger.unwanted("B", now: Self.at(0))
        ledger.unwanted("A", now: Self.at(1))
        #expect(ledger.wanted("B") == .known)
        ledger.unwanted("B", now: Self.at(2))
        // A has waited longer than B by now.
        #expect(ledger.wanted("C") == .demand)
        #expect(ledger.takeReleases() == ["A"])
        #expect(ledger.wanted("D") == .demand)
        #expect(ledger.takeReleases() == ["B"])
        #expect(ledger.wanted("A") == .full)
        #expect(ledger.takeReleases() == [])
        #expect(ledger.deadline == nil)
    }

    @Test("a symbol that the upstream refuses has no grace, whether it is given up before or after")
    func refused() {
        var ledger = SymbolLedger(limit: 2, grace: .seconds(10))
        #expect(ledger.wanted("BAD") == .demand)
        ledger.refused("BAD")
        ledger.unwanted("BAD", now: Self.at(0))
        #expect(ledger.takeReleases() == ["BAD"])
        #expect(ledger.wanted("WORSE") == .demand)
        ledger.unwanted("WORSE", now: Self.at(1))
        ledger.refused("WORSE")
        #expect(ledger.takeReleases() == ["WORSE"])
        #expect(ledger.deadline == nil && ledger.symbols == [])
    }

    @Test("without a grace a symbol is given up at once; what nobody wants is not given up twice")
    func noGrace() {
        var ledger = SymbolLedger(limit: 2)
        #expect(ledger.wanted("A") == .demand)
        ledger.unwanted("A", now: Self.at(0))
        ledger.unwanted("A", now: Self.at(0))
        ledger.unwanted("NEVER", now: Self.at(0))
        #expect(ledger.takeReleases() == ["A"])
    }

    @Test("many symbols given up end one after the other, each at its time")
    func severalDeadlines() {
        var ledger = SymbolLedger(limit: 50, grace: .seconds(10))
        for number in 0..<50 { #expect(ledger.wanted("S\(number)") == .demand) }
        for number in 0..<50 { ledger.unwanted("S\(number)", now: Self.at(Int64(number))) }
        for number in 0..<50 {
            #expect(ledger.deadline == Self.at(Int64(number) + 10))
            ledger.timePassed(now: Self.at(Int64(number) + 10))
            #expect(ledger.takeReleases() == ["S\(number)"])
        }
        #expect(ledger.deadline == nil)
    }
}
