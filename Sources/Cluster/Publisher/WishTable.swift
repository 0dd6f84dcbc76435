package import NIOCore
package import Wire

/// What the edges of a cluster want: each edge counts as one client of each of its symbols. An edge that does not
/// repeat its wishes is forgotten. Time is an argument.
package struct WishTable {
    package enum Change: Sendable, Equatable {
        case subscribe(String)
        case unsubscribe(String)
    }

    /// Why a symbol was not accepted.
    package enum Refusal: Sendable, Equatable {
        case full
        case invalid
    }

    /// One program. Two with one name replace nothing of each other's.
    package struct Edge: Sendable, Hashable {
        package var member: String
        package var instance: UInt64

        package init(_ member: String, instance: UInt64) {
            self.member = member
            self.instance = instance
        }
    }

    private struct Wanted {
        var symbols: Set<String>
        var refused: [String: Refusal] = [:]
        /// When its first and its newest wish came.
        var since: NIODeadline
        var newest: NIODeadline

        var until: NIODeadline { self.newest + ClusterWish.lifetime }
    }

    /// The most edges; further ones are not heard.
    package static let maximumEdges = 256
    /// The most programs with one name. A further one takes the place of the one that was heard the longest ago.
    private static let maximumInstances = 4

    private var edges: [Edge: Wanted] = [:]

    package init() {}

    /// The names of the edges, sorted.
    package var members: [String] { Set(self.edges.keys.map(\.member)).sorted() }

    /// The symbols of each edge, sorted.
    package var all: [(edge: Edge, symbol: String)] {
        let edges = self.edges.sorted { ($0.key.member, $0.key.instance) < ($1.key.member, $1.key.instance) }
        return edges.flatMap { edge in edge.value.symbols.sorted().map { (edge.key, $0) } }
    }

    /// When ``timePassed(now:)`` is due.
    package var deadline: NIODeadline? { self.edges.values.map(\.until).min() }

    /// Whether two programs with one name are there. One that was started again is not: the earlier one is silent.
    package func isShared(_ member: String) -> Bool {
        let all = self.edges.filter { $0.key.member == member }.values
        return all.contains { one in all.contains { $0.since > one.since && $0.since <= one.newest } }
    }

    /// Takes an edge's wishes, which replace those before; returns the changes, those of each kind in order.
    package mutating func take(_ wish: ClusterWish, of member: String, now: NIODeadline) -> [Change] {
        let edge = Edge(member, instance: wish.instance)
        var changes: [Change] = []
        if self.edges[edge] == nil {
            let others = self.edges.filter { $0.key.member == member }
            if others.count >= Self.maximumInstances, let oldest = others.min(by: { $0.value.newest < $1.value.newest })
            {
                changes += self.forget(oldest.key)
            }
            guard self.edges.count < Self.maximumEdges else { return changes }
        }
        let before = self.edges[edge]?.symbols ?? []
        let since = self.edges[edge]?.since ?? now
        let wanted = Set(wish.symbols)
        self.edges[edge] = wanted.isEmpty ? nil : Wanted(symbols: wanted, since: since, newest: now)
        // First what is no longer wanted: its place may be needed.
        changes += before.subtracting(wanted).sorted().map { .unsubscribe($0) }
        return changes + wanted.subtracting(before).sorted().map { .subscribe($0) }
    }

    /// Notes that a symbol of an edge was not accepted, so that it is asked for again with the next wish.
    package mutating func refused(_ symbol: String, of edge: Edge, _ refusal: Refusal) {
        guard self.edges[edge]?.symbols.remove(symbol) != nil else { return }
        self.edges[edge]?.refused[symbol] = refusal
    }

    /// Returns the answer to an edge's newest wish.
    package func answer(to edge: Edge) -> ClusterWishAnswer {
        let refused = (self.edges[edge]?.refused ?? [:]).sorted { $0.key < $1.key }
        return ClusterWishAnswer(
            full: refused.filter { $0.value == .full }.map(\.key),
            invalid: refused.filter { $0.value == .invalid }.map(\.key)
        )
    }

    /// Forgets the edges that have not repeated their wishes.
    package mutating func timePassed(now: NIODeadline) -> [Change] {
        let late = self.edges.filter { $0.value.until <= now }.keys
        return late.sorted { ($0.member, $0.instance) < ($1.member, $1.instance) }.flatMap { self.forget($0) }
    }

    private mutating func forget(_ edge: Edge) -> [Change] {
        (self.edges.removeValue(forKey: edge)?.symbols.sorted() ?? []).map { .unsubscribe($0) }
    }
}
