import Measurements
import NIOCore
import Testing
import Wire

@Suite("The metrics of a cluster")
struct ClusterMetricsTests {
    private func lines(_ state: ClusterState, now: Int64 = 0) -> [String] {
        var out = PrometheusText()
        state.write(to: &out, now: now)
        return String(buffer: out.buffer).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test("an edge has its ingest, epoch, hops, the clocks' offset, the lag and what was lost")
    func edge() {
        var state = ClusterState(cluster: "main", member: "edge-1", role: .edge)
        #expect(
            self.lines(state) == [
                #"tickertape_cluster_info{cluster="main",member="edge-1",role="edge"} 1"#,
                "tickertape_cluster_connected 0", "tickertape_cluster_reconnects_total 0",
                "tickertape_cluster_history_requests_total 0", "tickertape_cluster_lost_frames_total 0",
                "tickertape_cluster_gaps_total 0", "tickertape_cluster_refused_frames_total 0",
            ]
        )
        state.server = "nats://127.0.0.1:4222"
        state.reconnects = 2
        state.followed = "host-a"
        state.position = ClusterPosition(epoch: 7, frame: 17, sequence: 12)
        state.clockOffset = 1_500_000
        state.complete = 1_000_000_000
        state.losses.requests = 3
        state.losses.frames = 4
        state.losses.gaps = 5
        state.losses.refused = 6
        #expect(
            self.lines(state, now: 1_250_000_000).dropFirst() == [
                "tickertape_cluster_connected 1", "tickertape_cluster_reconnects_total 2",
                "tickertape_cluster_epoch 7", "tickertape_cluster_frame 17",
                #"tickertape_cluster_hops{ingest="host-a"} 1"#, "tickertape_cluster_clock_offset_seconds 0.0015",
                "tickertape_cluster_lag_seconds 0.25", "tickertape_cluster_history_requests_total 3",
                "tickertape_cluster_lost_frames_total 4", "tickertape_cluster_gaps_total 5",
                "tickertape_cluster_refused_frames_total 6",
            ]
        )
    }

    @Test("an ingest has whether it publishes, its lease and its edges, and with a lease what it lost as a standby")
    func ingest() {
        var state = ClusterState(cluster: "main", member: "host-a", role: .ingest)
        #expect(self.lines(state).contains("tickertape_cluster_publishing 0"))
        #expect(!self.lines(state).contains { $0.contains("_hops") || $0.contains("_lease") || $0.contains("lost") })
        state.lease = ClusterState.Lease(isHeld: false, words: "host-b holds the lease", epoch: 6)
        state.losses.frames = 4
        #expect(self.lines(state).contains("tickertape_cluster_lease_held 0"))
        #expect(self.lines(state).contains("tickertape_cluster_lost_frames_total 4"))
        state.isPublishing = true
        state.edges = 3
        state.lease = ClusterState.Lease(isHeld: true, words: "holding the lease, epoch 7", epoch: 7)
        let lines = self.lines(state)
        for line in [
            "tickertape_cluster_publishing 1", "tickertape_cluster_lease_held 1", "tickertape_cluster_edges 3",
            #"tickertape_cluster_hops{ingest="host-a"} 0"#,
        ] {
            #expect(lines.contains(line))
        }
        #expect(lines.contains("tickertape_cluster_lost_frames_total 4"))
    }
}
