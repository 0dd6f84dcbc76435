import NIOCore
import Wire

/// The members of a cluster, as a table or JSON.
struct ClusterOverview {
    let cluster: String
    let server: String
    /// The publishing ingest first, then the other ingests, then the edges, by name.
    let members: [ClusterReport]

    /// Takes the answers; those that are no member's are left out.
    init(_ cluster: String, _ answers: ClusterQuestion.Answers) {
        self.cluster = cluster
        self.server = answers.server
        self.members = answers.texts.compactMap { JSONTree($0).flatMap { ClusterReport($0) } }.sorted {
            (Self.rank($0.state), $0.state.member) < (Self.rank($1.state), $1.state.member)
        }
    }

    private static func rank(_ state: ClusterState) -> Int {
        state.isPublishing ? 0 : state.role == .ingest ? 1 : 2
    }

    /// What an operator must do; `nil` while an ingest publishes.
    var complaint: String? {
        if self.members.contains(where: \.state.isPublishing) { return nil }
        if self.members.contains(where: { $0.state.role == .ingest }) {
            return "no ingest of the cluster \(self.cluster) publishes: look at its lease above, and at the log of each"
        }
        return
            "no ingest of the cluster \(self.cluster) answers at \(self.server): start one (cluster.role: ingest), or "
            + "name another cluster (cluster.name)"
    }

    // MARK: For people

    var lines: [String] {
        guard !self.members.isEmpty else { return [] }
        let columns = [
            "MEMBER", "ROLE", "PART", "EPOCH", "FRAME", "LAG", "LOSSES", "CLOCK", "EDGES", "CLIENTS", "VERSION",
            "LEASE",
        ]
        var list = PrintedList(columns: columns, rows: [columns.map { .text($0) }])
        for member in self.members { list.rows.append(Self.row(member).map { .text($0) }) }
        let count = self.members.count
        return ["cluster \(self.cluster) at \(self.server), \(count) \(count == 1 ? "member" : "members")"]
            + list.lines(.plain)
    }

    private static func row(_ report: ClusterReport) -> [String] {
        let state = report.state
        let clock = state.clockOffset.map { "\($0 < 0 ? "-" : "+")\(ClusterState.span($0))" }
        return [
            state.member, state.role.rawValue, state.part, state.position.map { "\($0.epoch)" } ?? "-",
            state.position.map { "\($0.frame)" } ?? "-", report.lag.map(ClusterState.span) ?? "-", state.losses.words,
            clock ?? "-", state.edges.map { "\($0)" } ?? "-", report.clients.map { "\($0)" } ?? "-",
            report.version ?? "-", state.lease?.words ?? "-",
        ]
    }

    // MARK: For programs

    var json: String {
        String(
            buffer: JSONWriter.object { out in
                out.field("cluster", self.cluster)
                out.field("server", self.server)
                out.array("members") { out in
                    for member in self.members { out.element { member.write(to: &$0) } }
                }
            }
        )
    }
}

extension ClusterState.Losses {
    /// The counts that are not 0: `2 requests, 1 frame, 1 gap`; `0` if all are.
    var words: String {
        let counts = [
            (self.requests, "request", "requests"), (self.frames, "frame", "frames"), (self.gaps, "gap", "gaps"),
            (self.refused, "refused", "refused"),
        ].filter { $0.0 > 0 }
        return counts.isEmpty ? "0" : counts.map { "\($0) \($0 == 1 ? $1 : $2)" }.joined(separator: ", ")
    }
}
