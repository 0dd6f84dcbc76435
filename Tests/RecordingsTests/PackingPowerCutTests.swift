import Glibc
import Market
import NIOCore
import Platform
import Recordings
import Testing
import TickertapeTesting

@Suite("Compressing and power cuts")
struct PackingPowerCutTests {
    private func text(_ path: String) throws -> ByteBuffer {
        let (text, unreadable) = try RecordingBytes(path: path).rest()
        #expect(unreadable.isEmpty)
        return text
    }

    /// Returns the disk's states before each step of compressing two files.
    private func states(of texts: [ByteBuffer], renames: Bool) throws -> [ForgetfulDisk.State] {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let names = SegmentNames(first: "\(folder.path)/a.jsonl")
        for (index, text) in texts.enumerated() {
            _ = try folder.write(String(buffer: text), to: names.name(index + 1))
        }
        // A disk that renames needs no links.
        let disk = ForgetfulDisk(folder: folder.path, renames: renames, links: !renames)
        #expect(SegmentUpkeep(names, disk: disk).pack() == [])
        disk.end()
        return disk.states
    }

    @Test(
        "no cut costs a byte of the recording, and the next start completes the work",
        arguments: [true, false]
    )
    func cuts(renames: Bool) throws {
        let texts = [MarketText.make(frames: 60), MarketText.make(frames: 40, seed: 2)]
        let states = try self.states(of: texts, renames: renames)
        #expect(states.count >= (renames ? 12 : 14))
        var chance = SeededGenerator(seed: 11)
        var kinds: Set<[String]> = []
        for number in 0..<400 {
            let state = states[number % states.count]
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let survivors = state.survivors(&chance)
            kinds.insert(survivors.keys.sorted())
            for (name, content) in survivors {
                let file = try #require(fopen("\(folder.path)/\(name)", "we"))
                #expect(fwrite(content, 1, content.count, file) == content.count)
                fclose(file)
            }
            let names = SegmentNames(first: "\(folder.path)/a.jsonl")
            // A reader finds everything before the work is repeated.
            let found = names.all()
            try #require(found.map(\.place) == [1, 2], "cut \(number): \(survivors.keys.sorted())")
            for (segment, text) in zip(found, texts) { #expect(try self.text(segment.path) == text, "cut \(number)") }
            #expect(SegmentUpkeep(names).pack() == [], "cut \(number)")
            let left = SegmentNames.names(in: folder.path).filter { !$0.hasPrefix(".") }.sorted()
            #expect(left == ["a-0002.jsonl.zst", "a.jsonl.zst"], "cut \(number)")
            for (segment, text) in zip(names.all(), texts) { #expect(try self.text(segment.path) == text) }
        }
        // With and without drafts, and both forms of a file side by side.
        #expect(kinds.count > 6 && kinds.contains { $0.contains("a.jsonl") && $0.contains("a.jsonl.zst") })
    }

    /// A disk that does not sync files.
    private final class Careless: SegmentDisk {
        private let disk: ForgetfulDisk

        init(_ disk: ForgetfulDisk) { self.disk = disk }

        func sync(_ descriptor: Int32, of path: String) -> Bool { true }
        func rename(_ path: String, to name: String) -> Bool { self.disk.rename(path, to: name) }
        func link(_ path: String, as name: String) -> Bool { self.disk.link(path, as: name) }
        func unlink(_ path: String) -> Bool { self.disk.unlink(path) }
        func syncFolder(_ folder: String) -> Bool { self.disk.syncFolder(folder) }
    }

    @Test("the simulated disk loses a file that was not synced: this test can fail")
    func canFail() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 300)), to: "a.jsonl")
        let disk = ForgetfulDisk(folder: folder.path)
        #expect(SegmentUpkeep(SegmentNames(first: path), disk: Careless(disk)).pack() == [])
        disk.end()
        let whole = ForgetfulDisk.content(of: "\(path).zst")
        var chance = SeededGenerator(seed: 1)
        let last = try #require(disk.states.last)
        let lost = (0..<20).count { _ in
            let left = last.survivors(&chance)
            return left["a.jsonl"] == nil && left["a.jsonl.zst"] != whole
        }
        #expect(lost > 5)
    }
}
