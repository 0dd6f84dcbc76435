import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire

@Suite struct RecordingTests {
    /// Reads a recording in chunks of `chunk` bytes.
    private func read(
        _ text: String,
        chunk: Int = .max,
        limit: Int = RecordingParser.maximumLineBytes
    ) -> [RecordingEvent] {
        var reader = RecordingParser(maximumLineBytes: limit)
        var rest = ByteBuffer(string: text)
        var events: [RecordingEvent] = []
        while let slice = rest.readSlice(length: min(chunk, rest.readableBytes)), slice.readableBytes > 0 {
            reader.feed(slice)
            while let event = reader.nextEvent() { events.append(event) }
        }
        reader.finish()
        while let event = reader.nextEvent() { events.append(event) }
        return events
    }

    private func frame(_ line: Int, _ at: Int64, _ text: String) -> RecordingEvent {
        .frame(RecordedFrame(line: line, at: at, frame: ByteBuffer(string: text)))
    }

    private static let sample =
        #"{"at":0,"frame":"{\"type\":\"ping\"}"}"# + "\n\n" + #" { "x":1, "frame" : "\u00e9\n" , "at" : 12 } "#
        + "\r\n"
        + #"{"event":"connected"}"# + "\n" + #"{"at":9223372036854775807,"frame":""}"# + "\n"

    private var expected: [RecordingEvent] {
        [
            self.frame(1, 0, #"{"type":"ping"}"#), self.frame(3, 12, "é\n"), self.frame(5, .max, ""),
        ]
    }

    @Test("the plain form is read in chunks of any size")
    func chunks() {
        for chunk in 1...Self.sample.utf8.count { #expect(self.read(Self.sample, chunk: chunk) == self.expected) }
    }

    @Test("a file that ends inside a line is torn there, and whole before")
    func torn() {
        let whole = #"{"at":1,"frame":"a"}"# + "\n"
        let cut = #"{"at":2,"frame":"b"}"#
        #expect(self.read(whole + cut) == [self.frame(1, 1, "a"), self.frame(2, 2, "b")])
        for length in 1..<cut.utf8.count {
            #expect(
                self.read(whole + cut.prefix(length))
                    == [self.frame(1, 1, "a"), .torn(line: 2, offset: Int64(whole.utf8.count))]
            )
        }
        #expect(self.read("").isEmpty)
        #expect(self.read("\n\n").isEmpty)
    }

    @Test(
        "a damaged line is named, and the next one is read",
        arguments: [
            "garbage", "[1]", #"{"at":1,"frame":"\q"}"#, #"{"frame":"x"}"#, #"{"at":-1,"frame":"x"}"#,
            #"{"at":1.5,"frame":"x"}"#, #"{"at":9223372036854775808,"frame":"x"}"#, #"{"at":"1","frame":"x"}"#,
            #"{"at":1,"frame":"x"}}"#, #"{"at":1,"frame":"x""#,
            "{\"program\":\"\t}", "\u{0}\u{0}\u{0}",
        ]
    )
    func damaged(line: String) {
        let events = self.read(line + "\n" + #"{"at":3,"frame":"ok"}"# + "\n")
        #expect(events.count == 2)
        guard case .damaged(1, _) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(events.last == self.frame(2, 3, "ok"))
    }

    @Test("a line beyond the limit is skipped without being held", arguments: [1, 7, 1_000])
    func tooLong(chunk: Int) {
        let long = #"{"at":1,"frame":""# + String(repeating: "x", count: 500) + #""}"#
        let events = self.read(long + "\n" + #"{"at":3,"frame":"ok"}"# + "\n" + long, chunk: chunk, limit: 64)
        let reason = "longer than 64 bytes"
        #expect(
            events == [.damaged(line: 1, reason: reason), self.frame(2, 3, "ok"), .damaged(line: 3, reason: reason)]
        )
    }

    @Test("a line beyond the limit has its place in the file, also when it comes in chunks", arguments: [1, 7, 1_000])
    func placeOfTooLong(chunk: Int) {
        let long = String(repeating: "x", count: 500)
        let text = Array("\n\(long)\n{\"at\":3,\"frame\":\"ok\"}\n\(long)".utf8)
        var reader = RecordingParser(maximumLineBytes: 64)
        var places: [[Int64]] = []
        for start in stride(from: 0, to: text.count, by: chunk) {
            reader.feed(ByteBuffer(bytes: text[start..<min(start + chunk, text.count)]))
            while let line = reader.nextLine() { places.append([line.offset, Int64(line.length)]) }
        }
        reader.finish()
        while let line = reader.nextLine() { places.append([line.offset, Int64(line.length)]) }
        #expect(places == [[1, 500], [502, 21], [524, 500]])
    }

    @Test("what is written of the plain form is read back")
    func roundTrip() {
        let frames = [#"{"data":[{"c":null,"s":"A\\B"}]}"#, "", "\u{1}\n\"\\é😀"]
        var buffer = ByteBuffer()
        for (index, text) in frames.enumerated() {
            RecordingSyntax.plainFrame(ByteBuffer(string: text), at: Int64(index) * 1_000_000_007, into: &buffer)
        }
        let expected = frames.enumerated().map { self.frame($0 + 1, Int64($0) * 1_000_000_007, $1) }
        #expect(self.read(String(buffer: buffer)) == expected)
    }

    @Test("kinds of lines that a later version writes are no damage")
    func later() {
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: "{\"event\":\"connected\"}\n{}\n"))
        reader.finish()
        for _ in 0..<2 {
            let line = reader.nextLine()
            #expect(line?.content == .unknown)
        }
        let line = reader.nextLine()
        #expect(line == nil)
    }

    @Test("a header of another version is damage that says which, and is named", arguments: [-1, 0, 1, 4])
    func otherVersions(version: Int) {
        let header = "{\"tickertape\":\(version),\"symbols\":[],\"start\":1}\n"
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: version > 2 ? header.sealed : header))
        let line = reader.nextLine()
        #expect(line?.content == .damaged(reason: "a header of version \(version)"))
        #expect(reader.refusedVersion == version)
    }

    @Test("a gap's line may hold keys of a later version, and one that is broken is damage")
    func gaps() {
        let events = self.read(
            #"{"why":[1],"reason":"r","from":1,"to":2,"nextSeq":3,"epoch":4,"overlap":null,"event":"gap","mono":5}"#
                + "\n" + #"{"mono":6,"event":"gap","from":"x"#
        )
        guard case .gap(let recorded)? = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(recorded.line == 1 && recorded.at == 5)
        #expect(recorded.gap == Gap(from: 1_000, to: 2_000, reason: "r", nextSequence: 3, epoch: 4))
        #expect(events.count == 2)
        for broken in [
            #"{"event":"gap"}"#, #"{"mono":-1,"event":"gap","from":1,"to":2}"#, #"{"mono":1,"event":"gap","from":1}"#,
            #"{"mono":1,"event":"gap","from":1.5,"to":2}"#,
        ] {
            guard case .damaged? = self.read(broken + "\n").first else {
                Issue.record("\(broken)")
                continue
            }
        }
    }
}
