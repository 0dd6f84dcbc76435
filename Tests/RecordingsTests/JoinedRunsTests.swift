import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Recordings of several runs in one file")
struct JoinedRunsTests {
    private static let start: Int64 = 1_767_225_600_000_000_000

    /// Returns a run with trades one second apart; `numbers` are those of its trades and of its lines.
    private func run(epoch: UInt64, from second: Int64, numbers: ClosedRange<Int64>) -> String {
        var header = MarketText.header()
        header.start = Self.start + second * 1_000_000_000
        header.monotonic = second * 1_000_000_000
        header.epoch = epoch
        header.symbols = ["A"]
        header.first = UInt64(numbers.lowerBound)
        var text = ByteBuffer()
        RecordingSyntax.header(header, into: &text)
        for number in numbers {
            let at = (number - numbers.lowerBound) * 1_000_000_000
            let time = Self.start + second * 1_000_000_000 + at
            let trade = #"{"c":null,"p":\#(number),"s":"A","t":\#(time / 1_000_000),"v":1}"#
            RecordingSyntax.frame(
                ByteBuffer(string: #"{"data":[\#(trade)],"type":"trade"}"#),
                RecordingSyntax.Stamp(number: UInt64(number), wall: time, at: at),
                numbers: RecordedNumbers(first: UInt64(number), count: 1),
                into: &text
            )
        }
        return String(buffer: text)
    }

    private func lines(_ path: String) throws -> [RecordedLine] {
        let stream = try RecordingStream(path: path, followsSegments: false)
        var lines: [RecordedLine] = []
        while let line = try stream.next() { lines.append(line) }
        return lines
    }

    @Test("lose no trade when they are merged, repaired or cut, and only the numbers of the first run are kept")
    func joined() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let first = self.run(epoch: 1, from: 0, numbers: 1...30)
        let joined = try folder.write(first + self.run(epoch: 2, from: 100, numbers: 1...30), to: "joined.jsonl")
        let alone = try folder.write(first, to: "a.jsonl")
        let second = try folder.write(self.run(epoch: 1, from: 30, numbers: 31...60), to: "b.jsonl")
        func target(_ name: String) -> String { "\(folder.path)/\(name)" }

        for (number, order) in [[joined, second], [second, joined]].enumerated() {
            let merged = try RecordingEdits.merge(order, to: target("merged\(number)"), form: .current)
            #expect(merged.frames == 90 && merged.duplicates == 0 && merged.losses == 1, "\(merged)")
        }
        let copies = try RecordingEdits.merge([joined, alone], to: target("copies"), form: .current)
        #expect(copies.frames == 60 && copies.duplicates == 30 && copies.losses == 1, "\(copies)")

        let repaired = try RecordingEdits.repair(joined, to: target("repaired"), form: .current)
        let cut = try RecordingEdits.cut(joined, RecordingEdits.Cut(), to: target("cut"), form: .current)
        for (name, result) in [("repaired", repaired), ("cut", cut)] {
            #expect(result.frames == 60 && result.losses == 1, "\(name): \(result)")
            let numbers = try self.lines(target(name)).compactMap { line -> UInt64? in
                guard case .frame(_, let numbers, _) = line.content else { return nil }
                return numbers?.first ?? 0
            }
            #expect(numbers == Array(1...30) + [UInt64](repeating: 0, count: 30), "\(name)")
        }
    }

    @Test("files of one run between which the clock was set back are merged in the order of their trades")
    func setBack() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let one = try folder.write(self.run(epoch: 1, from: 40, numbers: 1...30), to: "a.jsonl")
        let two = try folder.write(self.run(epoch: 1, from: 50, numbers: 31...60), to: "b.jsonl")
        for (number, order) in [[one, two], [two, one]].enumerated() {
            let target = "\(folder.path)/\(number)"
            let merged = try RecordingEdits.merge(order, to: target, form: .current)
            #expect(merged.frames == 60 && merged.losses == 0 && merged.duplicates == 0, "\(merged)")
            let numbers = try self.lines(target).compactMap { line -> UInt64? in
                if case .frame(_, let numbers, _) = line.content { numbers?.first } else { nil }
            }
            #expect(numbers == Array(1...60))
        }
    }

    @Test("a loss within a run is reported with the number of the next expected trade")
    func numbered() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let lines = self.run(epoch: 7, from: 0, numbers: 1...30).split(separator: "\n")
        let text = (lines[..<11] + lines[16...]).joined(separator: "\n") + "\n"
        let path = try folder.write(text, to: "a.jsonl")
        _ = try RecordingEdits.repair(path, to: "\(folder.path)/repaired", form: .current)
        let gaps = try self.lines("\(folder.path)/repaired").compactMap { line -> Gap? in
            if case .gap(let gap, 5?) = line.content { gap } else { nil }
        }
        #expect(gaps.map(\.nextSequence) == [11] && gaps.map(\.epoch) == [7], "\(gaps)")
    }
}
