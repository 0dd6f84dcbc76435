import Glibc
import Platform
package import Wire

/// The recordings of earlier runs in a folder. Their newest trades are read, so that a client that reconnects after a
/// restart can get the trades it missed.
///
/// Each file is read from its end, in a bounded time, whatever its length. A recording that another program still
/// writes is not an earlier one.
package struct EarlierRecordings {
    /// The limits of a search.
    package struct Limits: Sendable {
        /// Trades, in all files together.
        package var trades = 100_000
        /// The age of a trade, ns.
        package var age: Int64 = 600_000_000_000
        /// Bytes read, in all files together.
        package var bytes = 64 << 20
        /// The duration of the whole search, ns.
        package var time: Int64 = 2_000_000_000
        /// Files opened, the newest first.
        package var files = 16

        package init() {}
    }

    private let folder: String
    private let limits: Limits
    private let deadline: Int64

    package init(folder: String, limits: Limits = Limits()) {
        self.folder = folder
        self.limits = limits
        self.deadline = SystemClock.monotonic() + limits.time
    }

    /// Returns the newest trades recorded from the market, one value for each run, the oldest first.
    ///
    /// Files that cannot be read are passed over: a restart must not fail because of an earlier recording.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    package func trades(now: Int64) -> [RecordedTrades] {
        var runs: [RecordedTrades] = []
        var bytes = self.limits.bytes
        for path in self.candidates(now: now).prefix(self.limits.files) {
            guard bytes > 0, SystemClock.monotonic() < self.deadline else { break }
            let missing = self.limits.trades - runs.reduce(0) { $0 + $1.trades.count }
            guard missing > 0 else {
                // The trades read came from a cut-out part, if another file of the run has newer ones; those replace
                // them.
                guard let last = self.tail(of: path, limit: 1, now: now, bytes: &bytes),
                    let known = runs.firstIndex(where: { $0.epoch == last.epoch }),
                    last.sequences.upperBound > runs[known].sequences.upperBound
                else { continue }
                let limit = runs[known].trades.count
                if let found = self.tail(of: path, limit: limit, now: now, bytes: &bytes) { runs[known] = found }
                continue
            }
            guard let found = self.tail(of: path, limit: missing, now: now, bytes: &bytes) else { continue }
            guard let known = runs.firstIndex(where: { $0.epoch == found.epoch }) else {
                runs.append(found)
                continue
            }
            if found.sequences.upperBound == runs[known].first {
                // The file precedes one that was read.
                runs[known].prepend(found)
            } else if found.sequences.upperBound == runs[known].sequences.upperBound
                ? found.trades.count > runs[known].trades.count
                : found.sequences.upperBound > runs[known].sequences.upperBound
            {
                // A part or a copy may have a newer file time than the recording that it comes from.
                var furthest = found
                if runs[known].sequences.upperBound == furthest.first { furthest.prepend(runs[known]) }
                runs[known] = furthest
            }
        }
        return runs.sorted { $0.epoch < $1.epoch }
    }

    /// Returns the files that may hold recent trades, the newest first.
    private func candidates(now: Int64) -> [String] {
        var found: [(path: String, changed: Int64, first: String, place: Int)] = []
        for name in SegmentNames.names(in: self.folder)
        where name.hasSuffix(".jsonl") || name.hasSuffix(".jsonl\(SegmentNames.packedSuffix)") {
            let path = "\(self.folder)/\(name)"
            let first = SegmentNames.first(of: path) ?? SegmentNames(first: path).path(1)
            let (place, isPacked) = SegmentNames(first: first).place(of: name) ?? (1, false)
            guard let segment = SegmentNames.Segment(path, place: place, isPacked: isPacked),
                segment.changed >= now - self.limits.age
            else { continue }
            found.append((path, segment.changed, first, place))
        }
        // Files of equal times, such as copies, are ordered by their numbers: in the alphabet `a-0002` stands before
        // `a`.
        return found.sorted { ($0.changed, $0.first, $0.place) > ($1.changed, $1.first, $1.place) }.map(\.path)
    }

    private func tail(of path: String, limit: Int, now: Int64, bytes: inout Int) -> RecordedTrades? {
        // Without a table, a compressed file cannot be read backwards.
        guard let file = try? RecordingMap(path: path), !file.isBeingWritten, let header = file.header,
            header.source == "live", let end = file.length
        else { return nil }
        var tail = RecordedTail(header: header, limit: limit, notBefore: now - self.limits.age)
        let reader = BackwardReader(file, before: end, atMost: bytes)
        while !tail.isComplete, SystemClock.monotonic() < self.deadline, let line = try? reader.next() {
            tail.take(line)
        }
        bytes -= reader.bytesRead
        return tail.found()
    }
}
