import Glibc
import Market
import Platform
import Recordings

/// A working disk that records what a power cut would undo: the bytes of files that were not synced, and the names of
/// folders that were not.
///
/// Each step of ``SegmentUpkeep`` is a moment for a cut; ``states`` has the disk's state before each.
///
/// Unchecked, because only the test's thread uses it.
final class ForgetfulDisk: SegmentDisk, @unchecked Sendable {
    /// The files and names, and which of them survive a cut.
    struct State {
        /// A file's content, under any of its names.
        struct File: Equatable {
            var content: [UInt8]
            var isSynced = false
        }

        /// The files by their inode numbers.
        var files: [UInt64: File] = [:]
        var names: [String: UInt64] = [:]
        var syncedNames: [String: UInt64] = [:]
    }

    private let folder: String
    private let renames: Bool
    private let links: Bool
    private var state = State()
    private(set) var states: [State] = []

    /// Begins with the folder's files, all of them synced.
    ///
    /// - Parameters:
    ///   - renames: whether it can rename without replacing.
    ///   - links: whether it supports hard links.
    init(folder: String, renames: Bool = true, links: Bool = true) {
        self.folder = folder
        self.renames = renames
        self.links = links
        self.look()
        for file in self.state.files.keys { self.state.files[file]?.isSynced = true }
        self.state.syncedNames = self.state.names
    }

    /// Finds the files written since.
    private func look() {
        self.state.names = [:]
        for name in SegmentNames.names(in: self.folder) where !name.hasPrefix(".") {
            var status = stat()
            guard stat("\(self.folder)/\(name)", &status) == 0 else { continue }
            let content = Self.content(of: "\(self.folder)/\(name)")
            self.state.names[name] = UInt64(status.st_ino)
            if self.state.files[UInt64(status.st_ino)]?.content != content {
                self.state.files[UInt64(status.st_ino)] = State.File(content: content)
            }
        }
    }

    static func content(of path: String) -> [UInt8] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var content = [UInt8](repeating: 0, count: 1 << 22)
        content.removeLast(content.count - fread(&content, 1, content.count, file))
        return content
    }

    private func step<Answer>(_ body: () -> Answer) -> Answer {
        self.look()
        self.states.append(self.state)
        let answer = body()
        self.look()
        return answer
    }

    func sync(_ descriptor: Int32, of path: String) -> Bool {
        self.step {
            var status = stat()
            fstat(descriptor, &status)
            self.state.files[UInt64(status.st_ino)]?.isSynced = true
            return true
        }
    }

    func rename(_ path: String, to name: String) -> Bool {
        guard self.renames else { return Self.refuse(EINVAL) }
        return self.step { SystemSegmentDisk().rename(path, to: name) }
    }

    func replace(_ path: String, with draft: String) -> Bool {
        self.step { SystemSegmentDisk().replace(path, with: draft) }
    }

    func link(_ path: String, as name: String) -> Bool {
        guard self.links else { return Self.refuse(EPERM) }
        return self.step { Glibc.link(path, name) == 0 }
    }

    private static func refuse(_ code: Int32) -> Bool {
        errno = code
        return false
    }

    func unlink(_ path: String) -> Bool { self.step { Glibc.unlink(path) == 0 } }

    func syncFolder(_ folder: String) -> Bool {
        self.step {}
        self.state.syncedNames = self.state.names
        return true
    }

    /// Records the state after the last step as a moment for a cut.
    func end() { self.step {} }
}

extension ForgetfulDisk.State {
    /// Returns the files after a cut: each name changed since the folder's sync may be old or new, and of unsynced
    /// bytes any part remains, or zeros in their place.
    func survivors(_ chance: inout SeededGenerator) -> [String: [UInt8]] {
        var left: [String: [UInt8]] = [:]
        for name in Set(self.names.keys).union(self.syncedNames.keys).sorted() {
            let choice = chance.next() % 2 == 0 ? self.names[name] : self.syncedNames[name]
            guard let choice, let file = self.files[choice] else { continue }
            var content = file.content
            if !file.isSynced {
                let length = Int.random(in: 0...content.count, using: &chance)
                if chance.next() % 2 == 0 {
                    content.removeLast(content.count - length)
                } else {
                    for place in length..<content.count { content[place] = 0 }
                }
            }
            left[name] = content
        }
        return left
    }
}
