import Glibc
import History
import Market
import NIOCore
import Recordings
import Wire

/// The description of a history, as text or JSON.
struct HistoryReport {
    private let path: String
    private let contents: HistoryStore.Contents
    /// The size of the database, in bytes.
    private let size: Int64
    private let recordings: Recordings

    /// The recordings in the index.
    private struct Recordings {
        var present = 0
        /// The indexed files that were moved or deleted. They stay in the index until a program that records checks it.
        var gone = 0
        var bytes: Int64 = 0
        /// The first and the last frame's time, ns since 1970; `nil` without a recording.
        var span: (first: Int64, last: Int64)?
    }

    init(_ path: String) throws {
        let store = try HistoryStore.opening(path)
        defer { try? store.close() }
        self.path = path
        self.contents = try store.contents()
        self.size = (Self.size(of: path) ?? 0) + (Self.size(of: "\(path)-wal") ?? 0)
        var recordings = Recordings()
        for segment in try store.segments() {
            guard let size = Self.size(of: SegmentNames.present(segment.path)) else {
                recordings.gone += 1
                continue
            }
            recordings.present += 1
            recordings.bytes += size
            let span = recordings.span ?? (segment.firstTime, segment.lastTime)
            recordings.span = (min(span.first, segment.firstTime), max(span.last, segment.lastTime))
        }
        self.recordings = recordings
    }

    var lines: [String] {
        var lines = ["\(self.path): \(self.size) bytes, \(self.contents.symbols) symbols, \(self.contents.gaps) gaps"]
        for row in self.contents.bars {
            lines.append("bars of \(row.word): \(row.count), \(Self.words(row.first, row.last))")
        }
        lines.append("incomplete bars: \(self.contents.incomplete)")
        let recordings = self.recordings
        if let span = recordings.span {
            let words = Self.words(span.first, span.last)
            lines.append("recordings: \(recordings.present), \(recordings.bytes) bytes, \(words)")
        } else {
            lines.append("recordings: none")
        }
        if recordings.gone > 0 { lines.append("recordings that are not there any more: \(recordings.gone)") }
        return lines
    }

    private static func words(_ first: Int64, _ last: Int64) -> String {
        "from \(UTCText.secondStamp(first)) to \(UTCText.secondStamp(last))"
    }

    var json: String {
        let object = JSONWriter.object { out in
            out.field("file", self.path)
            out.field("bytes", self.size)
            out.field("symbols", self.contents.symbols)
            out.array("bars") { out in
                for bars in self.contents.bars {
                    out.element { out in
                        out.field("width", bars.word)
                        out.field("count", bars.count)
                        out.field("first", bars.first / 1_000_000)
                        out.field("last", bars.last / 1_000_000)
                    }
                }
            }
            out.field("incomplete", self.contents.incomplete)
            out.field("gaps", self.contents.gaps)
            out.field("recordings", self.recordings.present)
            out.field("recordingsGone", self.recordings.gone)
            out.field("recordingBytes", self.recordings.bytes)
            let span = self.recordings.span.map { "[\($0.first / 1_000),\($0.last / 1_000)]" }
            out.field("recorded", json: ByteBuffer(string: span ?? "null"))
        }
        return String(buffer: object)
    }

    /// Returns a file's size in bytes; `nil` if it does not exist.
    static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }
}

extension HistoryStore {
    /// Opens an existing history.
    static func opening(_ path: String) throws(OperatorError) -> HistoryStore {
        guard access(path, F_OK) == 0 else {
            throw OperatorError("there is no history at \(path); name it with --file", status: .failure)
        }
        do throws(HistoryFailure) {
            return try HistoryStore(path: path)
        } catch {
            throw OperatorError("cannot read the history \(path): \(error)", status: .failure)
        }
    }
}
