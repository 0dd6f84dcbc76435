import Glibc
import History
import Market
import Recordings

/// The removal of bars and recordings that are older than an age.
struct HistoryPruning {
    /// The database.
    let path: String
    /// Ns.
    let age: Int64
    let keepsRecordings: Bool
    /// Whether recordings in other folders than the database's are its own: where the settings say that it lies apart.
    let liesApart: Bool

    /// Removes what is older, and says what that was.
    func run(now: Int64) throws -> [String] {
        let store = try HistoryStore.opening(self.path)
        defer { try? store.close() }
        var lines: [String] = []
        var deleted = 0
        var bytes: Int64 = 0
        var gone: [String] = []
        if !self.keepsRecordings {
            for segment in try store.segments() where segment.lastTime < now - self.age {
                let path =
                    self.liesApart ? SegmentNames.present(segment.path) : self.recording(segment.path)
                guard self.liesApart || Self.isBeside(path, self.path) || access(path, F_OK) != 0 else {
                    lines.append(
                        "\(path) is in another folder than this history and stays; history.file names one that lies apart"
                    )
                    continue
                }
                switch Self.delete(path) {
                case .deleted(let size):
                    deleted += 1
                    bytes += size
                    gone.append(segment.path)
                case .missing: gone.append(segment.path)
                case .foreign: lines.append("\(path) is no recording and stays")
                case .inUse: lines.append("\(path) is still written and stays")
                case .failed(let reason): lines.append("\(path) cannot be deleted: \(reason)")
                }
            }
            try store.forget(gone)
        }
        let pruned = try store.prune(before: now - self.age)
        lines.append("removed \(pruned.bars) bars and \(deleted) recordings (\(bytes) bytes)")
        return lines
    }

    /// Where a recording of the index is: beside the database, if one of its name is there. A folder that was copied has an
    /// index with the paths of the one it was copied from, whose recordings must not be deleted with the copy's.
    private func recording(_ path: String) -> String {
        let beside = SegmentNames.present(FilePath.beside(self.path, FilePath.last(of: path)))
        return access(beside, F_OK) == 0 ? beside : SegmentNames.present(path)
    }

    /// Whether two files are in one folder, however it is called.
    private static func isBeside(_ path: String, _ other: String) -> Bool {
        func folder(_ path: String) -> String? {
            guard let real = realpath(FilePath.folder(of: path), nil) else { return nil }
            defer { free(real) }
            return String(cString: real)
        }
        return folder(path) != nil && folder(path) == folder(other)
    }

    private enum Deletion {
        case deleted(Int64), missing, inUse, foreign, failed(String)
    }

    /// Deletes a recording that nobody writes: a writer holds its lock for as long as it lives.
    private static func delete(_ path: String) -> Deletion {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : .failed(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return .inUse }
        // A database can say anything, and what it says must not delete somebody's letters.
        guard Self.beginsAsRecording(descriptor) else { return .foreign }
        let size = HistoryReport.size(of: path) ?? 0
        return unlink(path) == 0 ? .deleted(size) : .failed(String(cString: strerror(errno)))
    }

    /// Whether a file begins as recordings do: with the header's key, or as zstd (RFC 8878, 3.1.1).
    private static func beginsAsRecording(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 14)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
        return (count == bytes.count && bytes == Array("{\"tickertape\":".utf8))
            || (count >= 4 && bytes.starts(with: magic))
    }
}
