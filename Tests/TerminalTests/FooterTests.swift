import Market
import Testing
import TickertapeTesting
import Wire
@testable import Terminal

@Suite("The screen's lines about the relay, and about the followed program")
struct FooterTests {
    private static func lines(
        _ relay: DisplayRelay?,
        via: String? = nil,
        cluster: ClusterState? = nil,
        columns: Int = 100
    ) -> [String] {
        var state = DisplayState(
            rows: [sampleRow(sampleSummary())],
            status: sampleStatus(.live),
            relay: relay,
            clients: 2
        )
        state.status.via = via
        state.cluster = cluster
        let grid = DisplayView.frame(of: state, size: .init(columns: columns, rows: 24), now: sampleNoon).grid
        return (0..<24).map(grid.line)
    }

    private static func footer(_ relay: DisplayRelay?, columns: Int = 100) -> String {
        Self.lines(relay, columns: columns)[23]
    }

    @Test("The last line names the relay with its clients only where it is this program's and listens")
    func relays() {
        let place = "ws://127.0.0.1:8080"
        #expect(Self.footer(.open(place)).hasPrefix("page http://127.0.0.1:8080/, 2 clients"))
        let others = Self.footer(.others(place, pid: 4_711))
        #expect(others.hasPrefix("ws://127.0.0.1:8080 is the relay of another tickertape (pid 4711)"), "\(others)")
        #expect(
            Self.footer(.others(place, pid: nil)).hasPrefix("ws://127.0.0.1:8080 is the relay of another tickertape ")
        )
        #expect(Self.footer(.closed).hasPrefix("relay closed"))
        let waiting = Self.footer(.waiting(reason: "in use"))
        #expect(waiting.hasPrefix("relay not open: in use"), "\(waiting)")
        #expect(Self.footer(.watched(place)).hasPrefix("from the relay ws://127.0.0.1:8080"))
        for relay in [
            DisplayRelay.others(place, pid: 4_711), .closed, .waiting(reason: nil), .watched(place),
        ] {
            #expect(!Self.footer(relay).contains("client"))
            // On a narrow screen it shows less, but nothing untrue.
            #expect(Self.footer(relay, columns: 40).contains("relay"), "\(Self.footer(relay, columns: 40))")
            #expect(!Self.footer(relay, columns: 40).contains("client"))
        }
    }

    @Test("A program that follows another says so in the first line", arguments: [40, 80, 200])
    func follows(columns: Int) {
        let header = Self.lines(nil, via: "127.0.0.1:8080", columns: columns)[0]
        #expect(header.contains("● LIVE") && header.contains("follows"), "\(header)")
        #expect(header.contains("127.0.0.1:8080"), "\(header)")
        #expect(!Self.lines(nil, columns: columns)[0].contains("follows"))
    }

    @Test(
        "A member of a cluster shows its part: the ingest, the epoch, the hops and the clock, as far as there is room"
    )
    func cluster() {
        var edge = ClusterState(cluster: "main", member: "edge-1", role: .edge)
        #expect(Self.lines(nil, cluster: edge)[0].contains("no ingest of the cluster main"))
        edge.followed = "host-a"
        edge.position = ClusterPosition(epoch: 1_795_915_810_128, frame: 17, sequence: 12)
        edge.clockOffset = -1_240_000
        let wide = Self.lines(nil, via: "host-a", cluster: edge, columns: 160)[0]
        #expect(
            wide.contains("follows the ingest host-a, epoch 1795915810128, 1 hop, its clock 1.2 ms behind"),
            "\(wide)"
        )
        for (columns, words) in [
            (80, "follows the ingest host-a, 1 hop, its clock 1.2 ms behind"), (45, "follows the ingest host-a, 1 hop"),
            (30, "follows host-a"),
        ] {
            let narrow = Self.lines(nil, cluster: edge, columns: columns)[0]
            #expect(narrow.contains("● LIVE") && narrow.contains(words), "\(narrow)")
        }

        var ingest = ClusterState(cluster: "main", member: "host-a", role: .ingest)
        #expect(Self.lines(nil, cluster: ingest)[0].contains("standby of the cluster main"))
        ingest.isPublishing = true
        ingest.edges = 2
        #expect(Self.lines(nil, cluster: ingest)[0].contains("publishes to the cluster main, 0 hops, 2 edges"))
    }

    private static func screen(_ recording: DisplayRecording?, columns: Int, rows: Int) -> [String] {
        var state = DisplayState(rows: [sampleRow(sampleSummary())], status: sampleStatus(.live))
        state.relay = .open("ws://127.0.0.1:8080")
        state.recording = recording
        let grid = DisplayView.frame(of: state, size: .init(columns: columns, rows: rows), now: sampleNoon).grid
        return (0..<rows).map(grid.line)
    }

    @Test(
        "The last line has the recorded file and its size, or says that nothing is recorded",
        arguments: [
            (812, "0 KiB"), (830_000, "810 KiB"), (1_048_576, "1.0 MiB"), (13_000_000, "12.3 MiB"),
            (1 << 40, "1024.0 GiB"), (.max, "17179869183.9 GiB"),
        ] as [(UInt64, String)]
    )
    func recording(_ bytes: UInt64, _ size: String) {
        var recording = DisplayRecording(file: "btc.jsonl", bytes: bytes, isTaken: true)
        #expect(Self.screen(recording, columns: 100, rows: 24)[23].hasPrefix("REC btc.jsonl \(size)   page http://"))
        recording.isTaken = false
        let failing = Self.screen(recording, columns: 100, rows: 24).joined(separator: "\n")
        #expect(failing.contains("NOT RECORDED: btc.jsonl") && !failing.contains("REC btc"))
        #expect(!Self.screen(nil, columns: 100, rows: 24).joined().contains("REC"))
    }

    @Test("A narrow or low screen says REC as long as the price has room")
    func narrowRecording() {
        let recording = DisplayRecording(file: "btc.jsonl", bytes: 13_000_000, isTaken: true)
        for (columns, rows) in [(20, 24), (12, 10), (40, 4), (30, 3), (40, 1), (30, 1)] {
            let lines = Self.screen(recording, columns: columns, rows: rows)
            #expect(lines.joined().contains("REC"), "\(columns)x\(rows) \(lines)")
        }
        let price = sampleSummary().price
        for rows in 1...8 {
            for columns in 1...60 {
                let lines = Self.screen(recording, columns: columns, rows: rows)
                let bare = Self.screen(nil, columns: columns, rows: rows)
                let hasPrice = lines.contains { $0.contains("\(price)") }
                #expect(hasPrice == bare.contains { $0.contains("\(price)") }, "\(columns)x\(rows) \(lines)")
            }
        }
    }
}
