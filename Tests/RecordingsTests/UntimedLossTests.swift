import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("A loss before a line without a time")
struct UntimedLossTests {
    @Test("is reported by cut and by repair, before the next line with a time")
    func reported() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(
            """
            {"tickertape":2,"program":"x","symbols":["A"],"wall":1767225600000000}
            {"mono":0,"frame":"{}"}
            nonsense
            {"x":1}
            {"y":1}
            {"mono":2000000000,"frame":"{}"}
            {"mono":4000000000,"frame":"{}"}

            """.sealed,
            to: "a.jsonl"
        )
        let start: Int64 = 1_767_225_600_000_000_000
        func gaps(_ path: String) throws -> [(gap: Gap, dropped: UInt64?)] {
            let stream = try RecordingStream(path: path)
            var gaps: [(gap: Gap, dropped: UInt64?)] = []
            while let line = try stream.next() {
                if case .gap(let gap, let dropped) = line.content { gaps.append((gap, dropped)) }
            }
            return gaps
        }
        let repaired = try RecordingEdits.repair(path, to: "\(path)-r", form: .current)
        #expect(try repaired.losses == 1 && gaps("\(path)-r").map(\.dropped) == [1])
        // From the start, from within the loss, and up to within it; behind the loss no line is missing.
        let second: Int64 = 1_000_000_000
        let ranges: [(from: Int64?, to: Int64?, isReported: Bool)] = [
            (nil, nil, true), (start, nil, true), (start + second, nil, true), (nil, start + second, true),
            (start + 3 * second, nil, false),
        ]
        for (place, range) in ranges.enumerated() {
            var cut = RecordingEdits.Cut()
            (cut.from, cut.to) = (range.from, range.to)
            let result = try RecordingEdits.cut(path, cut, to: "\(path)-\(place)", form: .current)
            let reported = try gaps("\(path)-\(place)")
            #expect(
                result.losses == reported.count && reported.map(\.dropped) == (range.isReported ? [1] : []),
                "\(range)"
            )
            guard range.isReported else { continue }
            #expect(reported[0].gap.from == start && reported[0].gap.to == start + 2 * second, "\(range): \(reported)")
        }
    }

    @Test("is reported at the end of a recording, too")
    func atEnd() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(
            """
            {"tickertape":2,"program":"x","symbols":["A"],"wall":1767225600000000}
            {"mono":0,"frame":"{}"}
            nonsense
            {"x":1}

            """.sealed,
            to: "a.jsonl"
        )
        #expect(try RecordingEdits.repair(path, to: "\(path)-r", form: .current).losses == 1)
        #expect(try RecordingEdits.cut(path, RecordingEdits.Cut(), to: "\(path)-c", form: .current).losses == 1)
    }
}
