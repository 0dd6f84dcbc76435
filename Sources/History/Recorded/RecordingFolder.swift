import Glibc
import NIOCore
import Recordings
import Wire

/// The recordings in a folder, for the index: those that an earlier program, or none with a history, has left.
package enum RecordingFolder {
    /// Files that are looked at, at most.
    private static let mostFiles = 10_000

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
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        let known = Dictionary(known.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [HistoryBatch.Segment] = []
        var count = 0
        while count < Self.mostFiles, let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let isPacked = name.hasSuffix(SegmentNames.packedSuffix)
            let plain = isPacked ? String(name.dropLast(SegmentNames.packedSuffix.count)) : name
            guard plain.hasSuffix(".jsonl") else { continue }
            count += 1
            let path = "\(folder)/\(plain)"
            // Between two steps of a compression both are there, and are the same.
            guard !isPacked || access(path, F_OK) != 0 else { continue }
            var status = stat()
            guard stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let changed = SegmentNames.moment(
                seconds: Int(status.st_mtim.tv_sec),
                nanoseconds: Int(status.st_mtim.tv_nsec)
            )
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
