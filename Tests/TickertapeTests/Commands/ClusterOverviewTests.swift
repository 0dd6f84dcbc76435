import NIOCore
import Testing
import Wire

@testable import Tickertape

@Suite("The overview of a cluster")
struct ClusterOverviewTests {
    private static let server = "nats://127.0.0.1:4222"

    private func overview(_ reports: [ClusterReport], more: [String] = []) -> ClusterOverview {
        let texts = reports.map { $0.text() } + more.map { ByteBuffer(string: $0) }
        return ClusterOverview("main", ClusterQuestion.Answers(server: Self.server, texts: texts))
    }

    private static let edge: ClusterReport = {
        var state = ClusterState(cluster: "main", member: "edge-1", role: .edge)
        state.followed = "host-a"
        state.position = ClusterPosition(epoch: 1_795_915_810_128, frame: 17, sequence: 1_234)
        state.clockOffset = -1_240_000
        state.losses.requests = 2
        state.losses.gaps = 1
        state.server = Self.server
        state.reconnects = 4
        return ClusterReport(state: state, lag: 102_000_000, version: "0.2.0", clients: 12)
    }()

    private static let ingest: ClusterReport = {
        var state = ClusterState(cluster: "main", member: "host-a", role: .ingest)
        state.isPublishing = true
        state.edges = 1
        state.position = ClusterPosition(epoch: 1_795_915_810_128, frame: 18, sequence: 1_240)
        state.lease = ClusterState.Lease(isHeld: true, words: "holding the lease, epoch 3", epoch: 3)
        return ClusterReport(state: state, lag: nil, version: "0.2.0", clients: nil)
    }()

    private static let standby: ClusterReport = {
        var state = ClusterState(cluster: "main", member: "host-b", role: .ingest)
        state.lease = ClusterState.Lease(isHeld: false, words: "waiting for the lease: host-a holds it", epoch: nil)
        return ClusterReport(state: state, lag: nil, version: "0.1.0", clients: 0)
    }()

    @Test("the table has one line a member, the publishing ingest first")
    func table() {
        let overview = self.overview([Self.edge, Self.standby, Self.ingest])
        let words = overview.lines.map { line in
            line.split(separator: /\s\s+/).map { String($0) }
        }
        #expect(overview.lines.first == "cluster main at \(Self.server), 3 members")
        #expect(
            words.dropFirst() == [
                [
                    "MEMBER", "ROLE", "PART", "EPOCH", "FRAME", "LAG", "LOSSES", "CLOCK", "EDGES", "CLIENTS", "VERSION",
                    "LEASE",
                ],
                [
                    "host-a", "ingest", "publishing", "1795915810128", "18", "-", "0", "-", "1", "-", "0.2.0",
                    "holding the lease, epoch 3",
                ],
                [
                    "host-b", "ingest", "standby", "-", "-", "-", "0", "-", "0", "0", "0.1.0",
                    "waiting for the lease: host-a holds it",
                ],
                [
                    "edge-1", "edge", "following host-a", "1795915810128", "17", "102.0 ms", "2 requests, 1 gap",
                    "-1.2 ms", "-", "12", "0.2.0", "-",
                ],
            ]
        )
        #expect(overview.complaint == nil)
    }

    @Test("what a member says is the same after its text has been read", arguments: [edge, ingest, standby])
    func roundTrip(report: ClusterReport) throws {
        let tree = try #require(JSONTree(report.text()))
        #expect(ClusterReport(tree) == report)
    }

    @Test("without a publishing ingest the complaint says what to do")
    func complaints() {
        #expect(
            self.overview([Self.edge]).complaint
                == "no ingest of the cluster main answers at \(Self.server): start one (cluster.role: ingest), or name "
                + "another cluster (cluster.name)"
        )
        #expect(self.overview([]).complaint == self.overview([Self.edge]).complaint)
        #expect(self.overview([]).lines.isEmpty)
        #expect(self.overview([Self.standby]).complaint?.hasPrefix("no ingest of the cluster main publishes: ") == true)
    }

    @Test("foreign answers are left out, and foreign text cannot change the terminal")
    func foreign() throws {
        var evil = Self.edge
        evil.version = "\u{1B}[2J\n"
        let overview = self.overview(
            [evil, Self.ingest],
            more: [
                "", "{", "[]", #"{"type":"member"}"#, #"{"type":"member","cluster":"a","member":"b","role":"king"}"#,
            ]
        )
        #expect(overview.members.count == 2 && overview.lines.count == 4)
        #expect(!overview.lines.joined().unicodeScalars.contains { $0.value < 0x20 })
        let numbers =
            #"{"cluster":"a","member":"b","role":"edge","epoch":-1,"lag":1e300,"clockOffset":1e300,"edges":1e30}"#
        let report = try #require(JSONTree(ByteBuffer(string: numbers)).flatMap { ClusterReport($0) })
        #expect(report.state.position == nil && report.lag == nil && report.state.edges == nil)
    }
}
