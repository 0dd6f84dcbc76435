import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The screen's lines about the relay, and about the followed program")
struct FooterTests {
    private static func lines(_ relay: DisplayRelay?, via: String? = nil, columns: Int = 100) -> [String] {
        var state = DisplayState(
            rows: [sampleRow(sampleSummary())],
            status: sampleStatus(.live),
            relay: relay,
            clients: 2
        )
        state.status.via = via
        let grid = DisplayView.frame(of: state, size: .init(columns: columns, rows: 24), now: sampleNoon).grid
        return (0..<24).map(grid.line)
    }

    private static func footer(_ relay: DisplayRelay?, columns: Int = 100) -> String {
        Self.lines(relay, columns: columns)[23]
    }

    @Test("The last line names the relay with its clients only where it is this program's and listens")
    func relays() {
        let place = "ws://127.0.0.1:8080"
        #expect(Self.footer(.open(place)).hasPrefix("relay ws://127.0.0.1:8080, 2 clients"))
        let others = Self.footer(.others(place, pid: 4_711))
        #expect(others.hasPrefix("ws://127.0.0.1:8080 is the relay of another tickertape (pid 4711)"), "\(others)")
        #expect(
            Self.footer(.others(place, pid: nil)).hasPrefix("ws://127.0.0.1:8080 is the relay of another tickertape ")
        )
        #expect(Self.footer(.closed(place)).hasPrefix("relay ws://127.0.0.1:8080 is closed"))
        let waiting = Self.footer(.waiting(place, reason: "in use"))
        #expect(waiting.hasPrefix("relay ws://127.0.0.1:8080 is not open: in use"), "\(waiting)")
        #expect(Self.footer(.watched(place)).hasPrefix("from the relay ws://127.0.0.1:8080"))
        for relay in [
            DisplayRelay.others(place, pid: 4_711), .closed(place), .waiting(place, reason: nil), .watched(place),
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
}
