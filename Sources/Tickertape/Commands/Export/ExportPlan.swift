import Glibc
import Recordings

/// Which of the named files an export reads, and in which order.
struct ExportPlan {
    /// So many bars of a symbol are kept where files overlap, as each brings trades of all of the time.
    static let openBars = 1 << 16

    private struct File {
        var path: String
        var epoch: UInt64?
        var monotonic: Int64?
        /// Wall clock, ns since 1970; `nil` where it is not known.
        var start: Int64?
        var end: Int64?
        var followers: [String]
    }

    /// In the order in which they were named, without those in which another one goes on: they are read behind it, so that
    /// `btc-0002.jsonl btc.jsonl` is in order. For bars by their time, for a bar is written when it is over.
    private(set) var files: [String]
    /// Whether files hold trades of the same time, as halves by symbol do, or it is not known.
    private(set) var overlaps = false

    init(_ files: [String], byTime: Bool) throws(OperatorError) {
        self.files = files
        guard files.count > 1 else { return }
        var found: [File] = []
        do throws(RecordingFailure) {
            for file in files { found.append(try Self.look(at: file, byTime: byTime)) }
        } catch {
            throw OperatorError(error)
        }
        let followers = Set(found.flatMap(\.followers))
        found.removeAll { followers.contains(Self.real($0.path)) }
        if byTime {
            found = Self.sorted(found)
            self.overlaps = zip(found, found.dropFirst()).contains { one, next in
                guard let end = one.end, let start = next.start else { return true }
                return start < end
            }
        }
        self.files = found.map(\.path)
    }

    private static func look(at path: String, byTime: Bool) throws(RecordingFailure) -> File {
        let stream = try RecordingStream(path: path)
        let header = stream.segments[0].header
        var file = File(
            path: path,
            epoch: header.epoch,
            monotonic: header.monotonic,
            start: header.start,
            followers: stream.segments.dropFirst().map { Self.real($0.path) }
        )
        guard byTime else { return file }
        // The length is read at the end, the likely start from the first lines on.
        if let start = file.start, let length = try stream.last(where: { _ in true }) {
            let (end, isOut) = start.addingReportingOverflow(length)
            file.end = isOut ? nil : end
        }
        if file.start == nil { file.start = try stream.likelyStart() }
        return file
    }

    /// The file that a name leads to, whatever way it is written.
    private static func real(_ path: String) -> String {
        let path = SegmentNames.present(path)
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Runs by their starts, and the files of each by the clock that is not set; those of which no time is known last.
    private static func sorted(_ files: [File]) -> [File] {
        let runs = Dictionary(grouping: files, by: \.epoch)
        func key(_ file: File) -> (Int64, UInt64, Int64) {
            let run = runs[file.epoch] ?? []
            let own = file.start ?? .max
            guard let epoch = file.epoch else { return (own, 0, own) }
            let hasClock = run.allSatisfy { $0.monotonic != nil }
            return (run.compactMap(\.start).min() ?? .max, epoch, hasClock ? file.monotonic ?? 0 : own)
        }
        let keyed = files.enumerated().map { (place: $0.offset, key: key($0.element), file: $0.element) }
        return keyed.sorted { $0.key != $1.key ? $0.key < $1.key : $0.place < $1.place }.map(\.file)
    }
}
