import Glibc
import Market
import NIOConcurrencyHelpers
import Platform
import Recordings
import Testing
import TickertapeTesting

@Suite("A small file that is replaced as a whole")
struct DurableFileTests {
    /// A disk that records the operations, and fails one of them.
    private final class Notes: SegmentDisk {
        private let disk = SystemSegmentDisk()
        private let steps = NIOLockedValueBox<[String]>([])
        private let failing: String

        init(failing: String = "") { self.failing = failing }

        var order: [String] { self.steps.withLockedValue { $0 } }

        private func note(_ step: String, _ body: () -> Bool) -> Bool {
            self.steps.withLockedValue { $0.append(step) }
            guard step == self.failing else { return body() }
            errno = EIO
            return false
        }

        func sync(_ descriptor: Int32, of path: String) -> Bool {
            self.note("fsync") { self.disk.sync(descriptor, of: path) }
        }
        func rename(_ path: String, to name: String) -> Bool { self.note("rename to new") { false } }
        func replace(_ path: String, with draft: String) -> Bool {
            self.note("rename") { self.disk.replace(path, with: draft) }
        }
        func link(_ path: String, as name: String) -> Bool { self.note("link") { self.disk.link(path, as: name) } }
        func unlink(_ path: String) -> Bool { self.note("unlink") { self.disk.unlink(path) } }
        func syncFolder(_ folder: String) -> Bool { self.note("fsync folder") { self.disk.syncFolder(folder) } }
    }

    /// A disk that does not sync files.
    private final class Careless: SegmentDisk {
        private let disk: ForgetfulDisk

        init(_ disk: ForgetfulDisk) { self.disk = disk }

        func sync(_ descriptor: Int32, of path: String) -> Bool { true }
        func rename(_ path: String, to name: String) -> Bool { self.disk.rename(path, to: name) }
        func replace(_ path: String, with draft: String) -> Bool { self.disk.replace(path, with: draft) }
        func link(_ path: String, as name: String) -> Bool { self.disk.link(path, as: name) }
        func unlink(_ path: String) -> Bool { self.disk.unlink(path) }
        func syncFolder(_ folder: String) -> Bool { self.disk.syncFolder(folder) }
    }

    /// Returns the texts after a power cut at each step while `new` replaces `old`, and the texts after the last step.
    private func texts(careless: Bool) throws -> (cut: Set<String>, done: Set<String>) {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write("old", to: "a")
        let disk = ForgetfulDisk(folder: folder.path)
        try DurableFile.write("new", to: path, disk: careless ? Careless(disk) : disk)
        disk.end()
        var chance = SeededGenerator(seed: 3)
        func text(_ state: ForgetfulDisk.State) -> String {
            state.survivors(&chance)["a"].map { String(decoding: $0, as: UTF8.self) } ?? "missing"
        }
        var (cut, done) = (Set<String>(), Set<String>())
        for number in 0..<400 {
            cut.insert(text(disk.states[number % disk.states.count]))
            done.insert(text(try #require(disk.states.last)))
        }
        return (cut, done)
    }

    @Test("has the old text or the new after a power cut at any step, and the new one at the end")
    func cuts() throws {
        let texts = try self.texts(careless: false)
        #expect(texts.cut == ["old", "new"])
        #expect(texts.done == ["new"])
        // Proof that the disk detects a missing sync: without the file's sync the text can be empty.
        #expect(try self.texts(careless: true).cut.contains { $0 != "old" && $0 != "new" })
    }

    @Test("is synced before it takes the name, and the folder after that")
    func order() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let notes = Notes()
        try DurableFile.write("new", to: "\(folder.path)/a", disk: notes)
        #expect(notes.order == ["fsync", "rename", "fsync folder"])
        DurableFile.remove("\(folder.path)/a", disk: notes)
        #expect(notes.order.dropFirst(3) == ["unlink", "fsync folder"])
        #expect(SegmentNames.names(in: folder.path).filter { !$0.hasPrefix(".") } == [])
    }

    @Test("keeps its old text and leaves no draft behind where a step fails", arguments: ["fsync", "rename"])
    func failures(step: String) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write("old", to: "a")
        #expect(throws: DurableFile.Failure(code: EIO)) {
            try DurableFile.write("new", to: path, disk: Notes(failing: step))
        }
        #expect(try folder.read("a") == "old")
        #expect(SegmentNames.names(in: folder.path).filter { !$0.hasPrefix(".") } == ["a"])
    }

    @Test("replaces no file where it must not, and has the permissions it is given")
    func isNew() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write("old", to: "a")
        #expect(throws: DurableFile.Failure(code: EEXIST)) {
            try DurableFile.write("new", to: path, replaces: false)
        }
        #expect(try folder.read("a") == "old")
        try DurableFile.write("new", to: "\(folder.path)/b", mode: 0o644, replaces: false)
        var status = stat()
        #expect(stat("\(folder.path)/b", &status) == 0 && status.st_mode & 0o777 == 0o644 && status.st_nlink == 1)
    }
}
