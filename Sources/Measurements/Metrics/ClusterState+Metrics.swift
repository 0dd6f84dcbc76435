package import Wire

extension ClusterState {
    /// Writes the metrics of this program's part in a cluster.
    ///
    /// - Parameter now: monotonic, ns.
    package func write(to out: inout PrometheusText, now: Int64) {
        out.family("tickertape_cluster_info", .gauge, "1, with the cluster, this program's name in it, and its role.")
        let names = [("cluster", self.cluster), ("member", self.member), ("role", self.role.rawValue)]
        out.sample("tickertape_cluster_info", names, 1)
        out.single(
            "tickertape_cluster_connected",
            .gauge,
            "1 while this program is connected to NATS.",
            self.server == nil ? 0 : 1
        )
        out.single(
            "tickertape_cluster_reconnects_total",
            .counter,
            "Connections to NATS after the first one.",
            Double(self.reconnects)
        )
        if let position {
            let help = "The epoch of the newest frame; it is higher after a takeover."
            out.single("tickertape_cluster_epoch", .gauge, help, Double(position.epoch))
            out.single(
                "tickertape_cluster_frame",
                .gauge,
                "The number of the newest frame in its epoch.",
                Double(position.frame)
            )
        }
        if let hops {
            out.family("tickertape_cluster_hops", .gauge, "Ways over NATS from the ingest, whose name it has, to here.")
            out.sample("tickertape_cluster_hops", [("ingest", self.followed ?? self.member)], Double(hops))
        }
        if self.role == .ingest { self.writeIngest(to: &out) }
        self.writeFollower(to: &out, now: now)
    }

    private func writeIngest(to out: inout PrometheusText) {
        out.single(
            "tickertape_cluster_publishing",
            .gauge,
            "1 while this ingest publishes, 0 while it is a standby.",
            self.isPublishing ? 1 : 0
        )
        if let lease {
            let help = "1 while this ingest holds the lease."
            out.single("tickertape_cluster_lease_held", .gauge, help, lease.isHeld ? 1 : 0)
        }
        let help = "Edges that want symbols of this ingest."
        out.single("tickertape_cluster_edges", .gauge, help, Double(self.edges ?? 0))
    }

    /// Writes what only a program that follows an ingest knows.
    private func writeFollower(to out: inout PrometheusText, now: Int64) {
        if let clockOffset {
            out.single(
                "tickertape_cluster_clock_offset_seconds",
                .gauge,
                "How far the ingest's clock is ahead of this machine's; an estimate.",
                Double(clockOffset) / 1e9
            )
        }
        if let lag = self.lag(now: now) {
            out.single(
                "tickertape_cluster_lag_seconds",
                .gauge,
                "Age of the newest frame or heartbeat up to which nothing is missing.",
                Double(lag) / 1e9
            )
        }
        // An ingest with a lease is an edge while it is a standby. Its counts stay when it publishes.
        guard self.role == .edge || self.lease != nil else { return }
        let counts = [
            ("tickertape_cluster_history_requests_total", "Requests for missed frames.", self.losses.requests),
            ("tickertape_cluster_lost_frames_total", "Frames that did not come at all.", self.losses.frames),
            ("tickertape_cluster_gaps_total", "Gaps by lost frames and by takeovers.", self.losses.gaps),
            ("tickertape_cluster_refused_frames_total", "Frames of a replaced ingest.", self.losses.refused),
        ]
        for (name, help, count) in counts { out.single(name, .counter, help, Double(count)) }
    }
}
