import Glibc
import Market
import NIOCore
import Platform
import Recordings
import Testing
import TickertapeTesting

@Suite("The naming of compressed files")
struct PackingNamesTests {
    /// A disk on which renaming or linking fails.
    private struct Refusing: SegmentDisk {
        /// The errors of renaming and linking, as `errno`; 0 succeeds.
        var renames: Int32 = 0
        var links: Int32 = 0
        /// Called when the draft is written, before it is named.
        var beforeNaming: @Sendable () -> Void = {}
        private let disk = SystemSegmentDisk()

        init(renames: Int32 = 0, links: Int32 = 0, beforeNaming: @escaping @Sendable () -> Void = {}) {
            self.renames = renames
            self.links = links
            self.beforeNaming = beforeNaming
        }

        func sync(_ descriptor: Int32, of path: String) -> Bool {
            self.beforeNaming()
            return self.disk.sync(descriptor, of: path)
        }
        func rename(_ path: String, to name: String) -> Bool {
            errno = self.renames
            return self.renames == 0 && self.disk.rename(path, to: name)
        }
        func link(_ path: String, as name: String) -> Bool {
            errno = self.links
            return self.links == 0 && self.disk.link(path, as: name)
        }
        func unlink(_ path: String) -> Bool { self.disk.unlink(path) }
        func syncFolder(_ folder: String) -> Bool { self.disk.syncFolder(folder) }
    }

    private func names(_ folder: TemporaryFolder) -> [String] {
        SegmentNames.names(in: folder.path).filter { !$0.hasPrefix(".") }.sorted()
    }

    @Test("needs hard links, or renaming without replacing, and no more", arguments: [ENOSYS, EINVAL, EPERM, 0])
    func either(renames: Int32) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 40)), to: "a.jsonl")
        let disk = Refusing(renames: renames, links: renames == 0 ? EPERM : 0)
        #expect(SegmentUpkeep(SegmentNames(first: path), disk: disk).pack() == [])
        #expect(self.names(folder) == ["a.jsonl.zst"])
        #expect(try RecordingCheck.check("\(path).zst").isIntact)
    }

    @Test("reports an error, and loses nothing, without both")
    func neither() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 40)), to: "a.jsonl")
        let disk = Refusing(renames: EINVAL, links: EPERM)
        #expect(SegmentUpkeep(SegmentNames(first: path), disk: disk).pack().count == 1)
        #expect(self.names(folder) == ["a.jsonl"])
    }

    @Test("never replaces a file that another program has made meanwhile", arguments: [0, EINVAL])
    func taken(renames: Int32) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 40)), to: "a.jsonl")
        let disk = Refusing(renames: renames) { _ = try? folder.write("somebody's", to: "a.jsonl.zst") }
        #expect(SegmentUpkeep(SegmentNames(first: path), disk: disk).pack().count == 1)
        #expect(self.names(folder) == ["a.jsonl", "a.jsonl.zst"])
        #expect(try folder.read("a.jsonl.zst") == "somebody's")
    }
}
