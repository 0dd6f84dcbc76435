import Cluster
import NIOCore
import Testing
import Wire

@Suite("WishTable")
struct WishTableTests {
    private var table = WishTable()
    private var now = NIODeadline.uptimeNanoseconds(1)

    private mutating func take(_ member: String, _ symbols: String..., instance: UInt64 = 1) -> [WishTable.Change] {
        self.table.take(ClusterWish(instance: instance, symbols: symbols), of: member, now: self.now)
    }

    @Test("each edge counts, and a wish replaces the one before")
    mutating func counts() {
        #expect(self.take("a", "X", "Y") == [.subscribe("X"), .subscribe("Y")])
        #expect(self.take("b", "X") == [.subscribe("X")])
        #expect(self.take("a", "X", "Z") == [.unsubscribe("Y"), .subscribe("Z")])
        #expect(self.take("a", "X", "Z") == [])
        #expect(self.take("a") == [.unsubscribe("X"), .unsubscribe("Z")])
        #expect(self.table.members == ["b"])
    }

    @Test("an edge that does not repeat its wishes for 15 s is forgotten")
    mutating func forgets() {
        _ = self.take("a", "X")
        self.now = self.now + .seconds(10)
        _ = self.take("b", "X")
        #expect(self.table.timePassed(now: self.now + .milliseconds(4_999)) == [])
        #expect(self.table.deadline == self.now + .seconds(5))
        #expect(self.table.timePassed(now: self.now + .seconds(5)) == [.unsubscribe("X")])
        #expect(self.table.members == ["b"])
    }

    @Test("a symbol that was not accepted is in the answer, and is asked for again with the next wish")
    mutating func asksAgain() {
        let edge = WishTable.Edge("a", instance: 1)
        _ = self.take("a", "X", "Y", "Z")
        self.table.refused("Z", of: edge, .invalid)
        self.table.refused("Y", of: edge, .full)
        #expect(self.table.answer(to: edge) == ClusterWishAnswer(full: ["Y"], invalid: ["Z"]))
        #expect(self.take("a", "X", "Y") == [.subscribe("Y")])
        #expect(self.table.answer(to: edge) == ClusterWishAnswer())
        self.table.refused("Y", of: edge, .full)
        #expect(self.take("a") == [.unsubscribe("X")])
        #expect(self.table.answer(to: edge) == ClusterWishAnswer())
    }

    @Test("two programs with one name replace nothing of each other's, and are noticed")
    mutating func shares() {
        #expect(self.take("a", "X") == [.subscribe("X")])
        self.now = self.now + .seconds(1)
        #expect(self.take("a", "X", "Y", instance: 2) == [.subscribe("X"), .subscribe("Y")])
        // The first one may have been started again.
        #expect(!self.table.isShared("a"))
        self.now = self.now + .seconds(1)
        #expect(self.take("a", "X") == [])
        #expect(self.table.isShared("a") && !self.table.isShared("b"))
        #expect(self.take("a") == [.unsubscribe("X")])
        #expect(!self.table.isShared("a") && self.table.members == ["a"])
    }

    @Test("invented programs of one name do not keep other edges out")
    mutating func instances() {
        for instance in 1...500 as ClosedRange<UInt64> {
            self.now = self.now + .milliseconds(1)
            _ = self.take("a", "X", instance: instance)
        }
        #expect(self.take("b", "Y") == [.subscribe("Y")])
        #expect(self.take("a", "Z", instance: 501) == [.unsubscribe("X"), .subscribe("Z")])
    }

    @Test("the number of edges has a limit, and known ones stay")
    mutating func limit() {
        for number in 0..<WishTable.maximumEdges { _ = self.take("e\(number)", "X") }
        #expect(self.take("late", "Y") == [])
        #expect(self.take("e0", "Y") == [.unsubscribe("X"), .subscribe("Y")])
        #expect(self.table.members.count == WishTable.maximumEdges)
    }
}
