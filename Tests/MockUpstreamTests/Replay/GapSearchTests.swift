import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import Feeds
@testable import MockUpstream

/// A recording of several files with gaps and silences, generated from a seed.
private struct StoppingRecording {
    /// The form of a file.
    enum Form: CaseIterable { case unmarked, marked, packed }

    /// The messages with trades, in order: their times, and whether each follows a gap or silence.
    private(set) var trades: [(at: Int64, isStop: Bool)] = []
    let path: String

    /// - Parameters:
    ///   - seed: decides the contents.
    ///   - frames: the number of messages in a file.
    ///   - stopsOnce: the approximate number of messages from one gap or silence to the next.
    ///   - padding: the bytes of text without trades added to every tenth message.
    init(
        _ folder: TemporaryFolder,
        _ forms: [Form],
        seed: UInt64,
        frames: Int,
        stopsOnce: UInt64,
        padding: Int = 0
    ) throws {
        var chance = SeededGenerator(seed: seed)
        let names = SegmentNames(first: "\(folder.path)/a.jsonl")
        self.path = names.path(1)
        var stops = GapMarkers()
        var last: Int64?
        var isOpen = false
        var at: Int64 = 0
        var number: UInt64 = 0
        for (place, form) in forms.enumerated() {
            let origin = at
            var header = RecordingHeader(program: "test", symbols: ["A"], epoch: 5, source: "live")
            header.start = ReplayRecording.start + origin
            header.monotonic = 1_000 + origin
            header.segment = place + 1
            header.first = number + 1
            var text = ByteBuffer()
            RecordingSyntax.header(header, into: &text)
            var nextMark = GapMarkers.interval
            func stamp() -> RecordingSyntax.Stamp {
                number += 1
                return RecordingSyntax.Stamp(number: number, wall: ReplayRecording.start + at, at: at - origin)
            }
            for _ in 0..<frames {
                // Some messages have the same time, like those of one batch.
                at += chance.next() % 3 == 0 ? 0 : Int64(chance.next() % 100_000_000)
                if form == .marked, text.readableBytes >= nextMark {
                    var note = RecordedNote(.mark)
                    note.stops = stops
                    note.offset = Int64(text.readableBytes)
                    RecordingSyntax.note(note, stamp(), into: &text)
                    nextMark = text.readableBytes + GapMarkers.interval
                }
                switch chance.next() % (4 * stopsOnce) {
                case 0, 1:
                    let gap = Gap(from: 0, to: 1, reason: "lost", nextSequence: 0)
                    RecordingSyntax.gap(gap, dropped: chance.next() % 2 == 0 ? 3 : nil, stamp(), into: &text)
                    isOpen = true
                    stops.gapped()
                case 2: at += GapMarkers.silence
                case 3, 4:
                    // A gap of one symbol is not a gap of the recording.
                    let gap = Gap(from: 0, to: 1, reason: "lost", nextSequence: 0, symbol: "A")
                    RecordingSyntax.gap(gap, stamp(), into: &text)
                case 5: RecordingSyntax.frame(ByteBuffer(string: #"{"type":"ping"}"#), stamp(), into: &text)
                default: break
                }
                if padding > 0, chance.next() % 10 == 0 {
                    RecordingSyntax.frame(ByteBuffer(repeating: 0x78, count: padding), stamp(), into: &text)
                }
                let frame = ReplayRecording.frame(at: Int(at / 1_000_000), number: self.trades.count)
                RecordingSyntax.frame(ByteBuffer(string: frame), stamp(), into: &text)
                stops.traded(at: at - origin)
                self.trades.append((at, isOpen || last.map { at - $0 >= GapMarkers.silence } ?? false))
                isOpen = false
                last = at
            }
            // A silence may also lie between two files.
            at += chance.next() % 2 == 0 ? GapMarkers.silence : 0
            stops.beganFile(later: at - origin)
            let file = try folder.write(String(buffer: text), to: names.name(place + 1))
            guard form == .packed else { continue }
            try PackedSegment.pack(file, to: "\(file).zst")
            try folder.delete(names.name(place + 1))
        }
    }

    /// Returns the index of the next trade after a gap or silence.
    func next(behind place: Int) -> Int? { self.trades.indices.dropFirst(place + 1).first { self.trades[$0].isStop } }

    func cursorPlace(_ place: Int) -> ReplayCursor.Place {
        let at = self.trades[place].at
        return ReplayCursor.Place(time: at, ties: self.trades[..<place].reversed().prefix { $0.at == at }.count)
    }
}

@Suite("The search for a recording's next gap")
struct GapSearchTests {
    private func search(
        _ file: RecordingFile,
        _ recording: StoppingRecording,
        behind place: Int
    ) throws -> (
        ReplayCursor.Place?, bytes: Int
    ) {
        let here = recording.cursorPlace(place)
        let search = try GapSearch(
            file,
            from: ReplayCursor.Place(time: here.time, ties: here.ties + 1),
            lastTrade: here.time,
            end: .max,
            answer: { _ in }
        )
        while true {
            switch try search.step() {
            case .more: continue
            case .none: return (nil, search.bytesRead)
            case .found(let found): return (found, search.bytesRead)
            }
        }
    }

    @Test("finds what reading on would find, in files with an index, with marks and with neither", arguments: 1...6)
    func equal(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var chance = SeededGenerator(seed: seed)
        let forms = (0..<4).map { _ in StoppingRecording.Form.allCases[Int(chance.next() % 3)] }
        let recording = try StoppingRecording(folder, forms, seed: seed, frames: 5_000, stopsOnce: 3_000)
        let file = try RecordingFile(path: recording.path)
        #expect(file.segments.count == 4)
        for _ in 0..<20 {
            let place = Int.random(in: 0..<recording.trades.count, using: &chance)
            let expected = recording.next(behind: place).map(recording.cursorPlace)
            #expect(try self.search(file, recording, behind: place).0 == expected, "\(forms), behind \(place)")
        }
    }

    @Test("reads little of what it passes over", arguments: [StoppingRecording.Form.marked, .packed])
    private func little(form: StoppingRecording.Form) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // 30 MB in two files.
        let recording = try StoppingRecording(
            folder,
            [form, form],
            seed: 3,
            frames: 10_000,
            stopsOnce: 1_000_000,
            padding: 12 << 10
        )
        let file = try RecordingFile(path: recording.path)
        let found = try self.search(file, recording, behind: 10)
        #expect(found.0 == recording.next(behind: 10).map(recording.cursorPlace))
        #expect(found.bytes < 8 << 20, "\(found.bytes) bytes")
    }
}
