import Glibc
import NIOCore
import Recordings
import Wire

/// The recordings in a folder, for the index: those that an earlier program, or none with a history, has left.
package enum RecordingFolder {
    /// Files that are looked at, at most.
    private static let maximumFiles = 10_000

    /// The files of a folder that are not there any more: deleted for their age, or moved away. Of other folders, and of one
    /// that cannot be read, nothing is known.
    package static func gone(from folder: String, known: [HistoryBatch.Segment]) -> [String] {
        guard access(folder, R_OK | X_OK) == 0 else { return [] }
        let beginning = folder.hasSuffix("/") ? folder : "\(folder)/"
        return known.map(\.path).filter { path in
            path.hasPrefix(beginning) && !path.dropFirst(beginning.count).contains("/")
                && access(SegmentNames.present(path), F_OK) != 0 && errno == ENOENT
        }
    }

    /// What can be said of each recording of the market there without reading it: its header, and when it was last changed.
    /// One that is compressed has the name in the index that it had before.
    ///
    /// - Parameters:
    ///   - source: as in the header (``RecordingHeader/source``); others are not of this history.
    ///   - known: of the index; a file that has not changed since is not opened.
    package static func scan(
        _ folder: String,
        source: String,
        known: [HistoryBatch.Segment]
    ) -> [HistoryBatch.Segment] {
        let known = Dictionary(known.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [HistoryBatch.Segment] = []
        var count = 0
        for name in SegmentNames.names(in: folder) {
            let isPacked = name.hasSuffix(SegmentNames.packedSuffix)
            let plain = isPacked ? String(name.dropLast(SegmentNames.packedSuffix.count)) : name
            guard plain.hasSuffix(".jsonl") else { continue }
            count += 1
            guard count <= Self.maximumFiles else { break }
            let path = "\(folder)/\(plain)"
            // Between two steps of a compression both are there, and are the same.
            guard !isPacked || access(path, F_OK) != 0 else { continue }
            guard
                let changed = SegmentNames.Segment("\(folder)/\(name)", place: 1, isPacked: isPacked)?.changed
            else { continue }
            if let segment = known[path], segment.lastTime >= changed { continue }
            guard let header = RecordingMap.ofHistory(path)?.header, header.source == source,
                let start = header.start
            else { continue }
            found.append(
                HistoryBatch.Segment(
                    path: path,
                    epoch: header.epoch,
                    sequences: nil,
                    firstTime: start,
                    lastTime: max(start, changed)
                )
            )
        }
        return found.sorted { ($0.firstTime, $0.path) < ($1.firstTime, $1.path) }
    }
}
