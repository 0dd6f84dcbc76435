package import NIOCore
package import Wire

/// What the edges of a cluster want: each edge counts as one client of each of its symbols. An edge that does not repeat
/// its wishes is forgotten. Time is an argument.
package struct WishTable {
    package enum Change: Sendable, Equatable {
        case subscribe(String)
        case unsubscribe(String)
    }

    private struct Edge {
        var symbols: Set<String>
        var until: NIODeadline
    }

    /// The most edges; further ones are not heard.
    package static let maximumEdges = 256

    private var edges: [String: Edge] = [:]

    package init() {}

    /// The names of the edges, sorted.
    package var members: [String] { self.edges.keys.sorted() }

    /// When ``timePassed(now:)`` is due.
    package var deadline: NIODeadline? { self.edges.values.map(\.until).min() }

    /// Takes an edge's wishes, which replace those before; returns the changes, those of each kind in order.
    package mutating func take(_ wish: ClusterWish, now: NIODeadline) -> [Change] {
        guard self.edges[wish.member] != nil || self.edges.count < Self.maximumEdges else { return [] }
        let before = self.edges[wish.member]?.symbols ?? []
        let wanted = Set(wish.symbols)
        let until = now + .milliseconds(Int64(ClusterWish.lifetime))
        self.edges[wish.member] = wanted.isEmpty ? nil : Edge(symbols: wanted, until: until)
        // First what is new: a symbol that moves from one edge to another stays subscribed.
        return wanted.subtracting(before).sorted().map { .subscribe($0) }
            + before.subtracting(wanted).sorted().map { .unsubscribe($0) }
    }

    /// Notes that a symbol of an edge was not accepted, so that it is asked for again with the next wish.
    package mutating func refused(_ symbol: String, of member: String) { self.edges[member]?.symbols.remove(symbol) }

    /// Forgets the edges that have not repeated their wishes.
    package mutating func timePassed(now: NIODeadline) -> [Change] {
        var changes: [Change] = []
        for (member, edge) in self.edges.sorted(by: { $0.key < $1.key }) where edge.until <= now {
            self.edges[member] = nil
            changes += edge.symbols.sorted().map { .unsubscribe($0) }
        }
        return changes
    }
}
