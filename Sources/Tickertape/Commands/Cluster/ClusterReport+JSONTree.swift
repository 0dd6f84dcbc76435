import Wire

extension ClusterReport {
    /// Reads the object that ``ClusterReport/write(to:)`` writes; `nil` for anything else.
    init?(_ tree: JSONTree) {
        guard let cluster = tree["cluster"]?.text, let member = tree["member"]?.text,
            let role = (tree["role"]?.text).flatMap(ClusterState.Role.init)
        else { return nil }
        var state = ClusterState(cluster: cluster, member: member, role: role)
        state.isPublishing = tree["publishing"] == .bool(true)
        if let lease = tree["lease"], let words = lease["words"]?.text {
            state.lease = ClusterState.Lease(
                isHeld: lease["held"] == .bool(true),
                words: words,
                epoch: lease["epoch"]?.count
            )
        }
        state.followed = tree["ingest"]?.text
        state.clockOffset = tree["clockOffset"]?.nanoseconds(per: 1e3)
        if let epoch = tree["epoch"]?.count {
            state.position = ClusterPosition(
                epoch: epoch,
                frame: tree["frame"]?.count ?? 0,
                sequence: tree["seq"]?.count ?? 0
            )
        }
        if let losses = tree["losses"] {
            state.losses.requests = losses["requests"]?.count ?? 0
            state.losses.frames = losses["frames"]?.count ?? 0
            state.losses.gaps = losses["gaps"]?.count ?? 0
            state.losses.refused = losses["refused"]?.count ?? 0
        }
        state.edges = (tree["edges"]?.count).flatMap(Int.init(exactly:))
        state.server = tree["server"]?.text
        state.reconnects = tree["reconnects"]?.count ?? 0
        self.init(
            state: state,
            lag: tree["lag"]?.nanoseconds(per: 1e9),
            version: tree["version"]?.text,
            clients: (tree["clients"]?.count).flatMap(Int.init(exactly:))
        )
    }
}

extension JSONTree {
    /// A whole number from 0.
    fileprivate var count: UInt64? { self.number.flatMap { UInt64(exactly: $0.rounded()) } }

    /// A time as ns.
    fileprivate func nanoseconds(per unit: Double) -> Int64? {
        self.number.flatMap { Int64(exactly: ($0 * unit).rounded()) }
    }
}
