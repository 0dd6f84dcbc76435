import Cluster
import NIOCore
import Testing
import Wire

@Suite("WishTable")
struct WishTableTests {
    private var table = WishTable()
    private var now = NIODeadline.uptimeNanoseconds(1)

    private mutating func take(_ member: String, _ symbols: String...) -> [WishTable.Change] {
        self.table.take(ClusterWish(member: member, symbols: symbols), now: self.now)
    }

    @Test("each edge counts, and a wish replaces the one before")
    mutating func counts() {
        #expect(self.take("a", "X", "Y") == [.subscribe("X"), .subscribe("Y")])
        #expect(self.take("b", "X") == [.subscribe("X")])
        #expect(self.take("a", "X", "Z") == [.subscribe("Z"), .unsubscribe("Y")])
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

    @Test("a symbol that was not accepted is asked for again with the next wish")
    mutating func asksAgain() {
        _ = self.take("a", "X", "Y")
        self.table.refused("Y", of: "a")
        #expect(self.take("a", "X", "Y") == [.subscribe("Y")])
        self.table.refused("Y", of: "a")
        #expect(self.take("a") == [.unsubscribe("X")])
    }

    @Test("the number of edges has a limit, and known ones stay")
    mutating func limit() {
        for number in 0..<WishTable.maximumEdges { _ = self.take("e\(number)", "X") }
        #expect(self.take("late", "Y") == [])
        #expect(self.take("e0", "Y") == [.subscribe("Y"), .unsubscribe("X")])
        #expect(self.table.members.count == WishTable.maximumEdges)
    }
}
