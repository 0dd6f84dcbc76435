import NIOConcurrencyHelpers

/// What a member of a cluster knows of its part in it.
package struct ClusterState: Sendable, Equatable {
    package enum Role: String, Sendable, CaseIterable {
        case ingest, edge
    }

    /// The part of an ingest in the lease of its cluster.
    package struct Lease: Sendable, Equatable {
        package var isHeld: Bool
        /// One line for people.
        package var words: String
        /// The epoch of the lease; `nil` while this program knows none.
        package var epoch: UInt64?

        package init(isHeld: Bool, words: String, epoch: UInt64?) {
            self.isHeld = isHeld
            self.words = words
            self.epoch = epoch
        }
    }

    /// The counts of what did not come at once, since the start of the program.
    package struct Losses: Sendable, Equatable {
        /// The requests for frames that were missed.
        package var requests: UInt64 = 0
        /// The frames that did not come at all. Those between two ingests are not known.
        package var frames: UInt64 = 0
        /// The gaps on the tape that the loss of frames has caused, and that of a takeover.
        package var gaps: UInt64 = 0
        /// The frames of an ingest that another one had replaced.
        package var refused: UInt64 = 0

        package init() {}
    }

    /// The cluster's name.
    package let cluster: String
    /// This program's name in it.
    package let member: String
    package let role: Role
    /// Whether this program's tape is that of the cluster. An ingest that does not publish is a standby.
    package var isPublishing = false
    /// `nil` for an ingest without a lease, and for an edge.
    package var lease: Lease?
    /// The ingest whose tape this program has; `nil` while it has none, and for the ingest that publishes.
    package var followed: String?
    /// How far the wall clock of that ingest is ahead of this program's, ns; an estimate, `nil` before the first one.
    package var clockOffset: Int64?
    /// The newest frame that was sent, or that is on the tape; `nil` before the first one.
    package var position: ClusterPosition?
    /// Up to when the tape has everything of the ingest's, monotonic, ns; `nil` before it has joined one, and for the
    /// ingest that publishes.
    package var complete: Int64?
    package var losses = Losses()
    /// The number of edges that want symbols of this ingest; `nil` for an edge.
    package var edges: Int?
    /// The NATS server; `nil` without a connection.
    package var server: String?
    /// The connections to NATS after the first one.
    package var reconnects: UInt64 = 0

    package init(cluster: String, member: String, role: Role) {
        self.cluster = cluster
        self.member = member
        self.role = role
        self.edges = role == .ingest ? 0 : nil
    }

    /// The number of NATS' ways between the upstream and this program's tape; `nil` while this program has none.
    package var hops: Int? { self.isPublishing ? 0 : self.followed == nil ? nil : 1 }

    /// Returns how old the tape is: the age of the newest frame or heartbeat up to which nothing is missing, ns.
    ///
    /// - Parameter now: monotonic, ns.
    package func lag(now: Int64) -> Int64? { self.complete.map { max(0, now - $0) } }
}

/// The state of this program in a cluster, written by the parts that know it, and read for people and programs. It has
/// no value in a program that is in no cluster.
package final class ClusterStateBox: Sendable {
    private let state = NIOLockedValueBox<ClusterState?>(nil)
    private let countClients = NIOLockedValueBox<(@Sendable () -> Int)?>(nil)

    package init() {}

    package var value: ClusterState? { self.state.withLockedValue { $0 } }

    /// Makes this program a member.
    package func begin(_ state: ClusterState) { self.state.withLockedValue { $0 = state } }

    /// Changes the state, if this program is a member.
    package func change(_ body: (inout ClusterState) -> Void) {
        self.state.withLockedValue {
            guard $0 != nil else { return }
            body(&$0!)
        }
    }

    /// Sets the function that returns the number of the relay's clients.
    package func clients(_ count: @escaping @Sendable () -> Int) { self.countClients.withLockedValue { $0 = count } }

    /// Returns what this member says of itself; `nil` in a program that is in no cluster.
    ///
    /// - Parameter now: monotonic, ns.
    package func report(version: String, now: Int64) -> ClusterReport? {
        self.value.map { state in
            ClusterReport(
                state: state,
                lag: state.lag(now: now),
                version: version,
                clients: self.countClients.withLockedValue { $0 }?()
            )
        }
    }
}
