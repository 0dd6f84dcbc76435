import Recordings
import Wire

/// The files of one run that were named, and the check that they follow each other without a gap.
struct RecordingRun {
    private struct File {
        var path: String
        var header: RecordingHeader
        var segment: Int
        var lastNumber: UInt64?

        /// The name before compression.
        var name: String { RecordingRun.plain(FilePath.last(of: self.path)) }
    }

    private var files: [UInt64: [File]] = [:]

    /// Adds a file and the findings about it.
    mutating func add(_ path: String, _ findings: RecordingFindings) {
        guard let header = findings.header, let run = header.run, let segment = header.segment else { return }
        self.files[run, default: []].append(
            File(path: path, header: header, segment: segment, lastNumber: findings.lastNumber)
        )
    }

    /// The missing files between those that were named, one line for each gap. A single file has no gap.
    var holes: [String] {
        var holes: [String] = []
        for (_, files) in self.files.sorted(by: { $0.key < $1.key }) where files.count > 1 {
            let first = files.map(\.segment).min() ?? 1
            for file in files.sorted(by: { $0.segment < $1.segment }) where file.segment > first {
                let previous = file.header.previous.map(Self.plain)
                let before =
                    files.first { $0.name == previous } ?? files.first { $0.segment == file.segment - 1 }
                guard let before else {
                    let name = previous ?? "the file before it"
                    holes.append(
                        "\(file.path) goes on from \(name), which is not among the files: what it had is missing"
                    )
                    continue
                }
                guard let last = before.lastNumber, let next = file.header.first, next > last &+ 1 else { continue }
                let lines = SystemErrorText.count(next - last - 1, "line is", "lines are")
                holes.append("\(lines) missing between \(before.path) and \(file.path)")
            }
        }
        return holes
    }

    private static func plain(_ name: String) -> String {
        name.hasSuffix(SegmentNames.packedSuffix) ? String(name.dropLast(SegmentNames.packedSuffix.count)) : name
    }
}
