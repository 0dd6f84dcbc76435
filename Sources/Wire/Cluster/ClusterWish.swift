package import NIOCore

/// The symbols that an edge wants: `{"type":"wanted","member":…,"symbols":[…]}`. Each message replaces the one before.
///
/// An edge repeats it (``interval``), and an ingest forgets an edge that does not (``lifetime``).
package struct ClusterWish: Sendable, Equatable {
    /// The time between two messages of an edge whose wishes do not change, ms.
    package static let interval = 5_000
    /// The time after the last message for which an edge's symbols stay wanted, ms.
    package static let lifetime = 15_000
    /// The most symbols of one edge.
    package static let maximumSymbols = 1_024

    /// The edge's name.
    package var member: String
    package var symbols: [String]

    package init(member: String, symbols: [String]) {
        self.member = member
        self.symbols = symbols
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "wanted")
        out.field("member", self.member)
        out.field("symbols", self.symbols)
        return out.finish()
    }

    /// Reads a text; `nil` if it is no message of an edge.
    package static func parse(_ text: ByteBuffer) -> ClusterWish? {
        guard let head = ClusterHead(text), head.type == "wanted", let member = head.member,
            ClusterSubjects.isName(member), let symbols = head.symbols, symbols.count <= Self.maximumSymbols
        else { return nil }
        return ClusterWish(member: member, symbols: symbols)
    }
}
