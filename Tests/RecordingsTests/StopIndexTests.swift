import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Stops in a recording's index and marks")
struct StopIndexTests {
    @Test("the index has the times of a block's trades, their longest distance, and the number of gaps of all symbols")
    func blocks() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 6_000, gapEvery: 1_500)
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        try PackedSegment.pack(path, to: path + ".zst")
        let index = try #require(try RecordingMap(path: path + ".zst").index)
        #expect(index.blocks.count > 2)
        var reader = RecordingParser()
        reader.feed(text)
        reader.finish()
        let lines = Array(sequence(state: reader) { $0.nextLine() })
        for block in index.blocks {
            let inside = lines.filter { block.offset <= $0.offset && $0.offset < block.offset + Int64(block.length) }
            let trades = inside.filter { if case .frame = $0.content { true } else { false } }.compactMap(\.at)
            let breaks = inside.filter { if case .gap = $0.content { true } else { false } }.count
            #expect(block.breaks == breaks && block.gaps == breaks)
            #expect(block.traded == trades[0]...trades[trades.count - 1])
            #expect(block.silence == zip(trades.dropFirst(), trades).map { $0 - $1 }.max())
        }
    }

    @Test("an index of version 1 is ignored, and the file is read from its start")
    func older() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 3_000, gapEvery: 1_000)
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        let target = path + ".zst"
        try PackedSegment.pack(path, to: target)
        try Self.makeOlder(target)
        let map = try RecordingMap(path: target)
        #expect(map.index == nil && map.length == nil)
        var gaps: [Int64] = []
        try map.scan(from: 0, isLineStart: true) { line in
            if case .gap = line.content, let at = line.at { gaps.append(at) }
            return true
        }
        let gap = try #require(gaps.first)
        let search = try RecordingStream(path: target)
        let way = try search.clear(from: gap, lastTrade: gap)
        #expect(way?.at == gap && way?.lastTrade == gap)
        let found = try RecordingCheck.check(target)
        #expect(found.indexFault != nil && found.damagedLines == 0 && found.holeCount == 3)
    }

    /// Turns the index into one of version 1 with the same length.
    private static func makeOlder(_ path: String) throws {
        var file = ForgetfulDisk.content(of: path)
        let begin = Array(#"{"index":2,"#.utf8)
        let start = try #require(
            file.indices.dropLast(begin.count).last { Array(file[$0..<$0 + begin.count]) == begin }
        )
        let end = try #require(file[start...].firstIndex(of: UInt8(ascii: "\n")))
        var line = ByteBuffer(bytes: file[start..<end - 18])
        line.setString("1", at: begin.count - 2)
        var text = String(buffer: line)
        for (key, other) in [("breaks", "eerste"), ("traded", "handel"), ("silence", "stilte.")] {
            text = text.split(separator: "\"\(key)\"", omittingEmptySubsequences: false).joined(
                separator: "\"\(other)\""
            )
        }
        line = ByteBuffer(string: text)
        LineSeal.write(into: &line, from: 0)
        file.replaceSubrange(start...end, with: line.readableBytesView)
        let output = try #require(fopen(path, "we"))
        defer { fclose(output) }
        #expect(fwrite(file, 1, file.count, output) == file.count)
    }

    @Test("an edited file has its own marks, and counts each stop")
    func edited() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 6_000, gapEvery: 700)), to: "a.jsonl")
        var from = path
        for name in ["b.jsonl", "c.jsonl"] {
            let target = "\(folder.path)/\(name)"
            _ = try RecordingEdits.repair(from, to: target, form: .current)
            from = target
        }
        // A second repair does not duplicate the marks.
        #expect(ForgetfulDisk.content(of: from) == ForgetfulDisk.content(of: "\(folder.path)/b.jsonl"))
        let stream = try RecordingStream(path: from)
        var marks: [GapMarkers] = []
        var stops: UInt64 = 0
        var isOpen = false
        while let line = try stream.next() {
            switch line.content {
            case .gap: isOpen = true
            case .frame:
                if isOpen { stops += 1 }
                isOpen = false
            case .note(let note):
                guard let mark = note.stops else { continue }
                #expect(mark.count == stops)
                marks.append(mark)
            default: break
            }
        }
        #expect(marks.count > 5 && stops == 8)
        #expect(try RecordingCheck.check(from).isIntact)
    }

    @Test("marks with a wrong offset are ignored")
    func displaced() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 6_000)), to: "a.jsonl")
        let whole = "\(folder.path)/b.jsonl"
        _ = try RecordingEdits.repair(path, to: whole, form: .current)
        var lines = try folder.read("b.jsonl").split(separator: "\n")
        lines.remove(at: 3)
        let less = try folder.write(lines.joined(separator: "\n") + "\n", to: "c.jsonl")
        for (path, isTrusted) in [(whole, true), (less, false)] {
            let search = try RecordingStream(path: path)
            let way = try #require(try search.clear(from: 1_000_000_000, lastTrade: 1_000_000_000))
            #expect((way.at > 10_000_000_000) == isTrusted && (way.at == 1_000_000_000) == !isTrusted)
        }
    }
}
