import Glibc
import Recordings

/// The files that an export reads, and their order.
struct ExportPlan {
    /// The number of open bars per symbol when files overlap, since each file has trades of the whole time.
    static let openBars = 1 << 16

    private struct File {
        var path: String
        var run: UInt64?
        var monotonic: Int64?
        /// Wall clock, ns since 1970; `nil` if unknown.
        var start: Int64?
        var end: Int64?
        var followers: [String]
    }

    /// The files without those that continue another one, which are read after it; `btc-0002.jsonl btc.jsonl` is
    /// therefore in order.
    ///
    /// The order is that of the arguments. For bars it is the order of time, since a bar is written when it ends.
    private(set) var files: [String]
    /// Whether files hold trades of the same time, as two recordings of different symbols do; also `true` if a time is
    /// unknown.
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
            run: header.run,
            monotonic: header.monotonic,
            start: header.start,
            followers: stream.segments.dropFirst().map { Self.real($0.path) }
        )
        guard byTime else { return file }
        // The end is the likely start plus the length, which needs a read to the end of the file.
        if let start = file.start, let length = try stream.last(where: { _ in true }) {
            let (end, isOut) = start.addingReportingOverflow(length)
            file.end = isOut ? nil : end
        }
        if file.start == nil { file.start = try stream.likelyStart() }
        return file
    }

    /// Returns the absolute path of the file behind a name, with symbolic links resolved.
    private static func real(_ path: String) -> String {
        let path = SegmentNames.present(path)
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Sorts runs by their starts and the files of a run by the monotonic clock; files of unknown time come last.
    private static func sorted(_ files: [File]) -> [File] {
        let runs = Dictionary(grouping: files, by: \.run)
        func key(_ file: File) -> (Int64, UInt64, Int64) {
            let files = runs[file.run] ?? []
            let own = file.start ?? .max
            guard let run = file.run else { return (own, 0, own) }
            let hasClock = files.allSatisfy { $0.monotonic != nil }
            return (files.compactMap(\.start).min() ?? .max, run, hasClock ? file.monotonic ?? 0 : own)
        }
        let keyed = files.enumerated().map { (place: $0.offset, key: key($0.element), file: $0.element) }
        return keyed.sorted { $0.key != $1.key ? $0.key < $1.key : $0.place < $1.place }.map(\.file)
    }
}
