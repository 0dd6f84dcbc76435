import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Retention of repaired and plain recordings")
struct EditedRetentionTests {
    @Test(
        "a repaired recording is compressed and removed like the original; one of the plain form never is"
    )
    func repaired() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var plain = ByteBuffer()
        for number in 0..<20 { RecordingSyntax.plainFrame(ByteBuffer(string: "x"), at: Int64(number), into: &plain) }
        let origins = [
            try folder.write(String(buffer: MarketText.make(frames: 20)), to: "whole.txt"),
            try folder.write(String(buffer: plain), to: "plain.txt"),
        ]
        for (number, origin) in origins.enumerated() {
            let stem = "\(folder.path)/\(number)"
            _ = try RecordingEdits.repair(origin, to: "\(stem).jsonl", form: .current)
            let care = SegmentUpkeep(
                SegmentNames(first: "\(stem).jsonl"),
                source: number == 0 ? .some("live") : .some(nil)
            )
            #expect(care.strangers() == (number == 0 ? [] : ["\(stem).jsonl"]))
            #expect(care.pack() == [])
            let left = SegmentNames(first: "\(stem).jsonl").all().map(\.isPacked)
            #expect(left == [number == 0])
            let removed = care.removeOld(now: .max / 2, age: 1, bytes: nil, newest: "")
            #expect(removed == (number == 0 ? ["\(stem).jsonl.zst"] : []))
        }
    }
}
