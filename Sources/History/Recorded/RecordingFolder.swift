import Glibc
import NIOCore
import Recordings
import Wire

/// The recordings in a folder, for the index: those of earlier programs, with or without a history.
package enum RecordingFolder {
    /// The most files that are examined.
    private static let maximumFiles = 10_000

    /// Returns the known files of a folder that no longer exist: deleted for their age, or moved. Files of other
    /// folders, or of one that cannot be read, are not among them.
    package static func gone(from folder: String, known: [HistoryBatch.Segment]) -> [String] {
        guard access(folder, R_OK | X_OK) == 0 else { return [] }
        let beginning = folder.hasSuffix("/") ? folder : "\(folder)/"
        return known.map(\.path).filter { path in
            path.hasPrefix(beginning) && !path.dropFirst(beginning.count).contains("/")
                && access(SegmentNames.present(path), F_OK) != 0 && errno == ENOENT
        }
    }

    /// Describes each live recording in a folder by its header and its time of change, without reading its frames. A
    /// compressed file keeps its uncompressed name in the index.
    ///
    /// - Parameters:
    ///   - source: the expected ``RecordingHeader/source``; recordings of other sources do not belong to this history.
    ///   - known: the segments of the index. A file that has not changed since is not opened.
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
            // Between two steps of a compression both files exist, with the same content.
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
