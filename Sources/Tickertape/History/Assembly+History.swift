import Glibc
import History
import Market
import NIOCore
import Recordings
import Wire

extension Assembly {
    private static func open(_ path: String) throws -> HistoryStore {
        guard access(path, F_OK) == 0 else {
            throw OperatorError("there is no history at \(path); name it with --file", status: .failure)
        }
        do throws(HistoryFailure) {
            return try HistoryStore(path: path)
        } catch {
            throw OperatorError("cannot read the history \(path): \(error)", status: .failure)
        }
    }

    /// What is kept, in lines for people or as one JSON object.
    static func historyInfo(_ path: String, isJSON: Bool) throws -> [String] {
        let store = try Self.open(path)
        defer { try? store.close() }
        let contents = try store.contents()
        let segments = try store.segments()
        // Files that somebody moved away or deleted stay in the index until a program that records looks.
        let sizes = segments.map { Self.size(of: SegmentNames.present($0.path)) }
        let bytes = sizes.reduce(Int64(0)) { $0 + ($1 ?? 0) }
        let present = sizes.count { $0 != nil }
        let gone = sizes.count - present
        let there = zip(segments, sizes).filter { $0.1 != nil }.map(\.0)
        let first = there.map(\.firstTime).min()
        let last = there.map(\.lastTime).max()
        let database = (Self.size(of: path) ?? 0) + (Self.size(of: "\(path)-wal") ?? 0)
        guard isJSON else {
            var lines = ["\(path): \(database) bytes, \(contents.symbols) symbols, \(contents.gaps) gaps"]
            for row in contents.bars {
                lines.append(
                    "bars of \(row.word): \(row.count), from \(UTCMoment.text(row.first)) to \(UTCMoment.text(row.last))"
                )
            }
            lines.append("incomplete bars: \(contents.incomplete)")
            if let first, let last {
                lines.append(
                    "recordings: \(present), \(bytes) bytes, from \(UTCMoment.text(first)) to \(UTCMoment.text(last))"
                )
            } else {
                lines.append("recordings: none")
            }
            if gone > 0 { lines.append("recordings that are not there any more: \(gone)") }
            return lines
        }
        let object = JSONWriter.object { out in
            out.field("file", path)
            out.field("bytes", database)
            out.field("symbols", contents.symbols)
            out.array("bars") { out in
                for bars in contents.bars {
                    out.element { out in
                        out.field("width", bars.word)
                        out.field("count", bars.count)
                        out.field("first", bars.first / 1_000_000)
                        out.field("last", bars.last / 1_000_000)
                    }
                }
            }
            out.field("incomplete", contents.incomplete)
            out.field("gaps", contents.gaps)
            out.field("recordings", present)
            out.field("recordingsGone", gone)
            out.field("recordingBytes", bytes)
            let span = first.flatMap { first in last.map { "[\(first / 1_000),\($0 / 1_000)]" } }
            out.field("recorded", json: ByteBuffer(string: span ?? "null"))
        }
        return [String(buffer: object)]
    }

    private static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Removes what is older, and says what that was.
    static func pruneHistory(_ order: HistoryPruning, now: Int64) throws -> [String] {
        let store = try Self.open(order.path)
        defer { try? store.close() }
        var lines: [String] = []
        var deleted = 0
        var bytes: Int64 = 0
        var gone: [String] = []
        if !order.keepsRecordings {
            for segment in try store.segments() where segment.lastTime < now - order.age {
                let path =
                    order.liesApart ? SegmentNames.present(segment.path) : Self.recording(segment.path, of: order.path)
                guard order.liesApart || Self.isBeside(path, order.path) || access(path, F_OK) != 0 else {
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
        let pruned = try store.prune(before: now - order.age)
        lines.append("removed \(pruned.bars) bars and \(deleted) recordings (\(bytes) bytes)")
        return lines
    }

    /// Where a recording of the index is: beside the database, if one of its name is there. A folder that was copied has an
    /// index with the paths of the one it was copied from, whose recordings must not be deleted with the copy's.
    private static func recording(_ path: String, of database: String) -> String {
        let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        let beside = SegmentNames.present(HistoryPlace.beside(database, name))
        return access(beside, F_OK) == 0 ? beside : SegmentNames.present(path)
    }

    /// Whether two files are in one folder, however it is called.
    private static func isBeside(_ path: String, _ other: String) -> Bool {
        func folder(_ path: String) -> String? {
            guard let real = realpath(HistoryPlace.folder(of: path), nil) else { return nil }
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
        let size = Self.size(of: path) ?? 0
        return unlink(path) == 0 ? .deleted(size) : .failed(String(cString: strerror(errno)))
    }
}

extension Assembly {
    /// Whether a file begins as recordings do: with the header's key, or as zstd (RFC 8878, 3.1.1).
    private static func beginsAsRecording(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 14)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
        return (count == bytes.count && bytes == Array("{\"tickertape\":".utf8))
            || (count >= 4 && bytes.starts(with: magic))
    }
}

/// Moments in words.
enum UTCMoment {
    /// `2026-11-21T05:31:02Z` for ns since 1970.
    static func text(_ time: Int64) -> String {
        var seconds = time_t(time / 1_000_000_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
