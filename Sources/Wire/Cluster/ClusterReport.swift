package import NIOCore

/// What a member of a cluster says of itself, to `tickertape cluster`, in `/readyz` and in `/v1/status`.
package struct ClusterReport: Sendable, Equatable {
    package var state: ClusterState
    /// The age of its tape (``ClusterState/lag(now:)``), ns.
    package var lag: Int64?
    /// The version of its program.
    package var version: String?
    /// The number of its relay's clients; `nil` without a relay.
    package var clients: Int?

    package init(state: ClusterState, lag: Int64?, version: String?, clients: Int?) {
        self.state = state
        self.lag = lag
        self.version = version
        self.clients = clients
    }

    /// Writes where this program's tape comes from, the first members of ``write(to:)``.
    package func writePlace(to out: inout JSONWriter) {
        let state = self.state
        out.field("cluster", state.cluster)
        out.field("member", state.member)
        out.field("role", state.role.rawValue)
        out.field("publishing", state.isPublishing)
        out.field("ingest", state.followed)
        out.field("hops", state.hops)
        out.field("epoch", state.position?.epoch)
        out.field("lag", seconds: self.lag)
        out.field("clockOffset", state.clockOffset.map { $0 / 1_000 })
    }

    /// Writes the members of the JSON object (docs/cluster.md).
    package func write(to out: inout JSONWriter) {
        let state = self.state
        self.writePlace(to: &out)
        if let lease = state.lease {
            out.object("lease") { out in
                out.field("held", lease.isHeld)
                out.field("words", lease.words)
                out.field("epoch", lease.epoch)
            }
        } else {
            out.field("lease", nil as String?)
        }
        out.field("frame", state.position?.frame)
        out.field("seq", state.position?.sequence)
        out.object("losses") { out in
            out.field("requests", state.losses.requests)
            out.field("frames", state.losses.frames)
            out.field("gaps", state.losses.gaps)
            out.field("refused", state.losses.refused)
        }
        out.field("edges", state.edges)
        out.field("clients", self.clients)
        out.field("server", state.server)
        out.field("reconnects", state.reconnects)
        out.field("version", self.version)
    }

    /// The answer to a request for the members, one line without a line feed.
    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "member")
        self.write(to: &out)
        return out.finish()
    }
}
