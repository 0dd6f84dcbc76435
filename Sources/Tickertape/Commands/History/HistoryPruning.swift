import Glibc
import History
import Market
import Recordings
import Wire

/// The removal of bars and recordings that are older than an age.
struct HistoryPruning {
    /// The path of the database.
    let path: String
    /// The age from which bars and recordings are removed, ns.
    let age: Int64
    let keepsRecordings: Bool
    /// Whether recordings outside the database's folder belong to it, because the settings put the database in another
    /// folder.
    let liesApart: Bool

    /// Removes everything older, and returns the lines that report it.
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
                case .foreign: lines.append("\(path) is not a recording and stays")
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

    /// Returns the path of a recording of the index: beside the database if a file of its name is there, else the
    /// indexed path.
    ///
    /// The index of a copied folder still has the paths of the original. Those recordings must not be deleted with the
    /// copy's.
    private func recording(_ path: String) -> String {
        let beside = SegmentNames.present(FilePath.beside(self.path, FilePath.last(of: path)))
        return access(beside, F_OK) == 0 ? beside : SegmentNames.present(path)
    }

    /// Whether two files are in the same folder, with symbolic links resolved.
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

    /// Deletes a recording without a writer; a writer holds the file's lock.
    private static func delete(_ path: String) -> Deletion {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : .failed(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return .inUse }
        // The path comes from the database, which may be damaged or forged, so a file that is no recording stays.
        guard Self.beginsAsRecording(descriptor) else { return .foreign }
        let size = HistoryReport.size(of: path) ?? 0
        return unlink(path) == 0 ? .deleted(size) : .failed(String(cString: strerror(errno)))
    }

    /// Whether a file begins as recordings do: with the header, or with compressed data.
    private static func beginsAsRecording(_ descriptor: Int32) -> Bool {
        let header = RecordingSyntax.headerStart.withUTF8Buffer { Array($0) }
        let magic = withUnsafeBytes(of: FrameMagic.data.littleEndian) { Array($0) }
        var bytes = [UInt8](repeating: 0, count: header.count)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return (count == bytes.count && bytes == header) || (count >= magic.count && bytes.starts(with: magic))
    }
}
