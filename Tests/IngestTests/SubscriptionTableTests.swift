import Ingest
import NIOCore
import Testing
import Wire

@Suite("The table of subscriptions")
struct SubscriptionTableTests {
    private static func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test(
        "only a symbol's first subscriber reaches the upstream, and the end of the last one ten seconds later"
    )
    func firstAndLast() {
        var table = SubscriptionTable(limit: 50, linger: .seconds(10))
        #expect(table.subscribe("A") == .accepted && table.takeChanges() == [.subscribe("A")])
        #expect(table.subscribe("A") == .accepted && !table.hasChanges)
        table.unsubscribe("A", now: Self.at(1))
        #expect(table.deadline == nil)
        table.unsubscribe("A", now: Self.at(2))
        #expect(table.deadline == Self.at(12))
        table.timePassed(now: Self.at(11))
        #expect(table.takeChanges() == [])
        #expect(table.symbols == ["A"])
        table.timePassed(now: Self.at(12))
        #expect(table.takeChanges() == [.unsubscribe("A")])
        #expect(table.takeChanges() == [])
        #expect(table.symbols == [] && table.deadline == nil)
        #expect(table.subscribe("A") == .accepted && table.takeChanges() == [.subscribe("A")])
    }

    @Test("a new subscriber within the linger time changes nothing upstream; the time starts again with the next end")
    func comesBack() {
        var table = SubscriptionTable(limit: 50, linger: .seconds(10))
        #expect(table.subscribe("A") == .accepted && table.takeChanges() == [.subscribe("A")])
        for round in 0..<5 {
            table.unsubscribe("A", now: Self.at(Int64(round) * 9))
            #expect(table.deadline == Self.at(Int64(round) * 9 + 10))
            table.timePassed(now: Self.at(Int64(round) * 9 + 9))
            #expect(table.subscribe("A") == .accepted && !table.hasChanges)
            #expect(table.deadline == nil)
        }
        table.timePassed(now: Self.at(1_000))
        #expect(table.takeChanges() == [])
        table.unsubscribe("A", now: Self.at(1_000))
        table.timePassed(now: Self.at(1_010))
        #expect(table.takeChanges() == [.unsubscribe("A")])
    }

    @Test("a shorter linger time counts at once, also for symbols that linger already; a longer one for later ones")
    func changes() {
        var table = SubscriptionTable(limit: 50, linger: .seconds(10))
        #expect(table.subscribe("A") == .accepted && table.subscribe("B") == .accepted)
        table.unsubscribe("A", now: Self.at(0))
        table.change(linger: .seconds(3), now: Self.at(1))
        #expect(table.deadline == Self.at(4))
        table.change(linger: .seconds(20), now: Self.at(2))
        table.unsubscribe("B", now: Self.at(2))
        #expect(table.deadline == Self.at(4))
        table.timePassed(now: Self.at(4))
        #expect(table.symbols == ["B"] && table.deadline == Self.at(22))
    }

    @Test("if all places are taken a new symbol gets the place of the one that has lingered longest")
    func evicts() {
        var table = SubscriptionTable(limit: 3, retained: ["OWN"], linger: .seconds(10))
        #expect(table.subscribe("A") == .accepted && table.takeChanges() == [.subscribe("A")])
        #expect(table.subscribe("B") == .accepted && table.takeChanges() == [.subscribe("B")])
        #expect(table.subscribe("C") == .full)
        #expect(table.takeChanges() == [])
        table.unsubscribe("B", now: Self.at(0))
        table.unsubscribe("A", now: Self.at(1))
        #expect(table.subscribe("B") == .accepted && !table.hasChanges)
        table.unsubscribe("B", now: Self.at(2))
        // A has lingered longer than B by now.
        #expect(table.subscribe("C") == .accepted && table.takeChanges() == [.unsubscribe("A"), .subscribe("C")])
        #expect(table.subscribe("D") == .accepted && table.takeChanges() == [.unsubscribe("B"), .subscribe("D")])
        #expect(table.subscribe("A") == .full)
        #expect(table.takeChanges() == [])
        #expect(table.deadline == nil)
    }

    @Test("a symbol that the upstream refuses does not linger, whether it loses its client before or after")
    func refused() {
        var table = SubscriptionTable(limit: 2, linger: .seconds(10))
        #expect(table.subscribe("BAD") == .accepted && table.takeChanges() == [.subscribe("BAD")])
        table.refused("BAD")
        table.unsubscribe("BAD", now: Self.at(0))
        #expect(table.takeChanges() == [.unsubscribe("BAD")])
        #expect(table.subscribe("WORSE") == .accepted && table.takeChanges() == [.subscribe("WORSE")])
        table.unsubscribe("WORSE", now: Self.at(1))
        table.refused("WORSE")
        #expect(table.takeChanges() == [.unsubscribe("WORSE")])
        #expect(table.deadline == nil && table.symbols == [])
    }

    @Test("without a linger time a symbol is unsubscribed at once, and never twice")
    func noGrace() {
        var table = SubscriptionTable(limit: 2)
        #expect(table.subscribe("A") == .accepted && table.takeChanges() == [.subscribe("A")])
        table.unsubscribe("A", now: Self.at(0))
        table.unsubscribe("A", now: Self.at(0))
        table.unsubscribe("NEVER", now: Self.at(0))
        #expect(table.takeChanges() == [.unsubscribe("A")])
    }

    @Test("many lingering symbols end one after the other, each at its time")
    func severalDeadlines() {
        var table = SubscriptionTable(limit: 50, linger: .seconds(10))
        for number in 0..<50 {
            #expect(table.subscribe("S\(number)") == .accepted && table.takeChanges() == [.subscribe("S\(number)")])
        }
        for number in 0..<50 { table.unsubscribe("S\(number)", now: Self.at(Int64(number))) }
        for number in 0..<50 {
            #expect(table.deadline == Self.at(Int64(number) + 10))
            table.timePassed(now: Self.at(Int64(number) + 10))
            #expect(table.takeChanges() == [.unsubscribe("S\(number)")])
        }
        #expect(table.deadline == nil)
    }

    @Test("a retained symbol is subscribed once, and ends when neither the program nor a client wants it")
    func adopts() {
        var table = SubscriptionTable(limit: 3, retained: ["OWN"])
        #expect(table.retain("OWN") == .accepted && !table.hasChanges)
        #expect(table.retain("A") == .accepted && table.takeChanges() == [.subscribe("A")])
        #expect(table.retain("A") == .accepted && !table.hasChanges)
        #expect(table.subscribe("A") == .accepted && !table.hasChanges)
        table.release("A")
        #expect(table.takeChanges() == [])
        table.unsubscribe("A", now: Self.at(0))
        #expect(table.takeChanges() == [.unsubscribe("A")])
        #expect(table.subscribe("B") == .accepted && table.takeChanges() == [.subscribe("B")])
        #expect(table.retain("B") == .accepted && !table.hasChanges)
        table.unsubscribe("B", now: Self.at(0))
        #expect(table.takeChanges() == [] && table.holds("B"))
        table.release("B")
        #expect(table.takeChanges() == [.unsubscribe("B")])
        // A second call has no effect, and neither has one for a symbol that was never retained.
        table.release("B")
        table.release("C")
        #expect(table.takeChanges() == [])
    }

    @Test("a released symbol of the settings stays for its client, and can be subscribed again afterwards")
    func disowns() {
        var table = SubscriptionTable(limit: 3, retained: ["OWN"], linger: .seconds(10))
        #expect(table.subscribe("OWN") == .accepted && !table.hasChanges)
        table.release("OWN")
        #expect(table.takeChanges() == [] && table.symbols == ["OWN"])
        table.unsubscribe("OWN", now: Self.at(0))
        table.timePassed(now: Self.at(10))
        #expect(table.takeChanges() == [.unsubscribe("OWN")] && table.symbols == [])
        #expect(table.retain("OWN") == .accepted && table.takeChanges() == [.subscribe("OWN")])
    }

    @Test(
        "retained symbols share the places with clients; a lingering one yields, and one that is both takes one place"
    )
    func shares() {
        var table = SubscriptionTable(limit: 2, retained: ["OWN"], linger: .seconds(10))
        #expect(table.subscribe("OWN") == .accepted && !table.hasChanges)
        #expect(table.subscribe("A") == .accepted && table.takeChanges() == [.subscribe("A")])
        #expect(table.retain("B") == .full)
        #expect(table.retain("") == .invalid)
        table.unsubscribe("A", now: Self.at(0))
        #expect(table.retain("B") == .accepted && table.takeChanges() == [.unsubscribe("A"), .subscribe("B")])
        #expect(table.subscribe("C") == .full)
        table.release("B")
        #expect(table.subscribe("C") == .accepted && table.takeChanges() == [.unsubscribe("B"), .subscribe("C")])
        // A symbol that is retained while it lingers no longer lingers.
        table.unsubscribe("C", now: Self.at(0))
        #expect(table.retain("C") == .accepted && table.deadline == nil)
    }
}
