/// The NATS subjects of one cluster (docs/cluster.md).
package struct ClusterSubjects: Sendable, Equatable {
    /// The longest name of a cluster or a member, in bytes.
    package static let longestName = 64

    /// The cluster's name.
    package let name: String

    /// Takes a cluster's name; `nil` unless it can be a part of a subject (``isName(_:)``).
    package init?(_ name: String) {
        guard Self.isName(name) else { return nil }
        self.name = name
    }

    /// Whether a text can name a cluster or a member: 1 to 64 letters of ASCII, digits, `-` and `_`.
    package static func isName(_ text: String) -> Bool {
        guard (1...Self.longestName).contains(text.utf8.count) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// The numbered frames with everything on the ingest's tape (``ClusterFrame``).
    package var tape: String { self.subject("tape") }
    /// The ingest's heartbeats (``ClusterBeat``).
    package var beat: String { self.subject("beat") }
    /// Requests for the ingest's present state.
    package var snapshot: String { self.subject("snapshot") }
    /// Requests for frames that were missed.
    package var history: String { self.subject("history") }

    /// Requests for what each member says of itself (``ClusterReport``).
    package var members: String { self.subject("members") }

    /// The newest prices of a shard's symbols (``ClusterShard``).
    package func prices(shard: Int) -> String { self.subject("prices.\(shard)") }

    /// The symbols that an edge wants (``ClusterWish``).
    package func wanted(by edge: String) -> String { self.subject("wanted.\(edge)") }

    /// Returns the edge of such a subject; `nil` if it names none.
    package func edge(of subject: String) -> String? {
        let start = self.wanted(by: "")
        let name = String(subject.dropFirst(start.count))
        return subject.hasPrefix(start) && Self.isName(name) ? name : nil
    }

    private func subject(_ rest: String) -> String { "tickertape.\(self.name).\(rest)" }
}
