import NIOCore
import Testing
import Wire

@Suite("ClusterFrame and its companions")
struct ClusterFrameTests {
    private static let frame = ClusterFrame(
        position: ClusterPosition(epoch: 1_795_000_000_000, frame: 17, sequence: 42),
        trades: 2,
        sent: 1_795_000_000_123_456_000,
        lines: ByteBuffer(string: "{\"type\":\"trade\",\"a\":1}\n{\"type\":\"trade\",\"a\":2}\n")
    )
    private static let beat = ClusterBeat(
        position: ClusterPosition(epoch: 7, frame: 0, sequence: 0),
        sent: 1_000_000,
        member: "host-a"
    )
    private static let snapshot = ClusterSnapshot(
        position: ClusterPosition(epoch: 7, frame: 3, sequence: 9),
        sent: 5_000,
        member: "host-a",
        lines: ByteBuffer(string: "{\"type\":\"status\"}\n")
    )

    @Test("a frame is text: a head with its position, then the messages")
    func text() {
        #expect(
            String(buffer: Self.frame.text())
                == #"{"type":"frame","epoch":1795000000000,"frame":17,"seq":42,"trades":2,"sent":1795000000123456}"#
                + "\n{\"type\":\"trade\",\"a\":1}\n{\"type\":\"trade\",\"a\":2}\n"
        )
        #expect(Self.frame.sequenceBefore == 40)
    }

    @Test("what is written is read back")
    func roundTrip() {
        #expect(ClusterFrame.parse(Self.frame.text()) == Self.frame)
        #expect(ClusterBeat.parse(Self.beat.text()) == Self.beat)
        #expect(ClusterSnapshot.parse(Self.snapshot.text()) == Self.snapshot)
        var part = Self.snapshot
        (part.after, part.upTo) = ("A\"", "B")
        #expect(ClusterSnapshot.parse(part.text()) == part)
        #expect(["A\"", "B\"", "AA", "C"].filter(part.covers) == ["AA"])
        let next = ClusterSnapshotRequest(epoch: 7, after: "B")
        #expect(ClusterSnapshotRequest.parse(next.text()) == next)
        let wish = ClusterWish(instance: 9, symbols: ["BINANCE:BTCUSDT", "KRAKEN:XXBTZ\"USD"])
        #expect(ClusterWish.parse(wish.text()) == wish)
        let refused = ClusterWishAnswer(full: ["A"], invalid: ["B", "C"])
        #expect(ClusterWishAnswer.parse(refused.text()) == refused)
        var renewed = Self.beat
        renewed.predecessor = ClusterPosition(epoch: 6, frame: 1, sequence: 2)
        #expect(ClusterBeat.parse(renewed.text()) == renewed)
        let request = ClusterHistoryRequest(after: Self.frame.position)
        #expect(ClusterHistoryRequest.parse(request.text()) == request)
        for count in 0...3 {
            let frames = (0..<count).map { index in
                var frame = Self.frame
                frame.position.frame += UInt64(index)
                if index == 1 {
                    frame.trades = 0
                    frame.lines = ByteBuffer()
                }
                return frame
            }
            let answer = ClusterHistoryAnswer(isComplete: count != 1, frames: frames)
            #expect(ClusterHistoryAnswer.parse(answer.text()) == answer)
        }
    }

    @Test("unknown members and another order are accepted")
    func tolerates() {
        let text = #"{"new":[1],"sent":5,"seq":2,"trades":1,"frame":3,"epoch":4,"type":"frame"}"#
        #expect(ClusterFrame.parse(ByteBuffer(string: text))?.position.frame == 3)
    }

    @Test(
        "a head without a position, with an impossible one, or of another type is refused",
        arguments: [
            "", "\n", "{", "{}", "[]",
            #"{"type":"beat","epoch":1,"frame":1,"seq":1,"trades":0,"sent":1}"#,
            #"{"type":"frame","epoch":1,"frame":0,"seq":1,"trades":0,"sent":1}"#,
            #"{"type":"frame","epoch":1,"frame":1,"seq":1,"trades":2,"sent":1}"#,
            #"{"type":"frame","epoch":1,"frame":1,"seq":1,"trades":-1,"sent":1}"#,
            #"{"type":"frame","epoch":-1,"frame":1,"seq":1,"trades":0,"sent":1}"#,
            #"{"type":"frame","epoch":1,"frame":18446744073709551615,"seq":1,"trades":0,"sent":1}"#,
            #"{"type":"frame","epoch":1,"frame":1,"seq":18446744073709551615,"trades":0,"sent":1}"#,
            #"{"type":"frame","epoch":1,"frame":1,"seq":1,"trades":0,"sent":9223372036854775807}"#,
            #"{"type":"frame","epoch":1,"frame":1,"seq":1,"trades":0,"sent":-1}"#,
            #"{"type":"frame","epoch":1.5,"frame":1,"seq":1,"trades":0,"sent":1}"#,
            #"{"type":"frame","epoch":1,"frame":1,"seq":1,"sent":1}"#,
            #"{"type":"frame","epoch":9007199254740992,"frame":1,"seq":1,"trades":0,"sent":1}"#,
        ]
    )
    func refuses(text: String) {
        #expect(ClusterFrame.parse(ByteBuffer(string: text)) == nil)
    }

    @Test("a part of a head is no message, and behind it the lines are as many as came")
    func prefixes() {
        func read<Message>(_ text: ByteBuffer, _ parse: (ByteBuffer) -> Message?) -> [Bool] {
            (0..<text.readableBytes).map { length in
                text.getSlice(at: text.readerIndex, length: length).flatMap(parse) != nil
            }
        }
        let head = Self.frame.text().readableBytesView.firstIndex(of: UInt8(ascii: "\n")) ?? 0
        #expect(read(Self.frame.text(), ClusterFrame.parse).firstIndex(of: true) == head)
        // A frame that was cut at a line has fewer trades than its head says, which the reader's count shows.
        let cut = Self.frame.text().getSlice(at: 0, length: Self.frame.text().readableBytes - 23)
        #expect(cut.flatMap(ClusterFrame.parse)?.trades == 2)
        #expect(cut.flatMap(ClusterFrame.parse).map { String(buffer: $0.lines) } == "{\"type\":\"trade\",\"a\":1}\n")
        #expect(!read(Self.beat.text(), ClusterBeat.parse).contains(true))
        #expect(read(Self.snapshot.text(), ClusterSnapshot.parse).contains(true))
        let answer = ClusterHistoryAnswer(isComplete: true, frames: [Self.frame, Self.frame])
        #expect(read(answer.text(), ClusterHistoryAnswer.parse).contains(true))
        for text in [Self.frame.text(), Self.snapshot.text(), answer.text()] {
            #expect(!read(text, ClusterBeat.parse).contains(true))
        }
    }

    @Test("a name of a cluster or a member is a part of a subject")
    func names() {
        #expect(ClusterSubjects("main")?.tape == "tickertape.main.tape")
        #expect(ClusterSubjects("main")?.wanted(by: "edge_1") == "tickertape.main.wanted.edge_1")
        #expect(ClusterSubjects("main")?.edge(of: "tickertape.main.wanted.edge_1") == "edge_1")
        for subject in [
            "tickertape.main.wanted.", "tickertape.main.wanted.a.b", "tickertape.other.wanted.a", "wanted.a",
        ] {
            #expect(ClusterSubjects("main")?.edge(of: subject) == nil, "\(subject)")
        }
        for name in ["", "a.b", "a*", ">", "a b", "ä", String(repeating: "a", count: 65)] {
            #expect(ClusterSubjects(name) == nil, "\(name)")
        }
    }

    @Test("of a wish with too many symbols the first ones count")
    func manySymbols() {
        let wish = ClusterWish(instance: 1, symbols: (0..<1_030).map { "S\($0)" })
        #expect(ClusterWish.parse(wish.text())?.symbols == Array(wish.symbols.prefix(1_024)))
    }
}
