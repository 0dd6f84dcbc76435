import Market
import Wire

/// The position from which a search for a recording's next stop must read on (``GapMarkers``).
struct SearchedRange: Equatable {
    /// ns since the file's start; `nil` where the rest of the file has no stop.
    var at: Int64?
    /// The time of the newest message with trades before that, ns since the file's start.
    var lastTrade: Int64?
}

/// The stretches of a file without a stop, known without reading them.
extension RecordingMap {
    /// Whether the file records where trades are missing or late: in its index, or in marks among its lines.
    func knowsStops() throws(RecordingFailure) -> Bool {
        guard self.index == nil else { return true }
        // A compressed file without an index allows no binary search.
        guard self.length != nil, !self.isPacked else { return false }
        var hasMarks = false
        try self.scan(from: 0, to: 2 * Self.markWindow, isLineStart: true) { line in
            hasMarks = line.mark?.stops != nil
            return !hasMarks
        }
        return hasMarks
    }

    /// Passes over stretches without a stop, from a time on (ns since the file's start).
    ///
    /// - Parameter lastTrade: the time of the newest message with trades before that.
    /// - Returns: the same time, where nothing is known or a stop may be near.
    func clear(from at: Int64, lastTrade: Int64?) throws(RecordingFailure) -> SearchedRange {
        if let index { return Self.clear(index, from: at, lastTrade: lastTrade) }
        let here = SearchedRange(at: at, lastTrade: lastTrade)
        guard let place = try self.place(at: at) else { return SearchedRange(lastTrade: lastTrade) }
        guard let before = try self.mark(before: place.offset),
            let last = try self.lastMark(behind: place.offset, count: before.count),
            // From that trade on: a gap may stand between the trade and the mark.
            let trade = last.lastTrade, trade > at
        else { return here }
        return SearchedRange(at: trade, lastTrade: trade)
    }

    private static func clear(_ index: RecordingIndex, from at: Int64, lastTrade: Int64?) -> SearchedRange {
        var last = lastTrade
        for block in index.blocks {
            guard let times = block.at, times.upperBound >= at else { continue }
            let isSilent = GapMarkers.isSilence(from: last, to: block.traded?.lowerBound ?? .min)
            guard block.breaks == 0, block.silence < GapMarkers.silence, !isSilent else {
                return SearchedRange(at: max(at, times.lowerBound), lastTrade: last)
            }
            if let traded = block.traded { last = max(last ?? .min, traded.upperBound) }
        }
        return SearchedRange(lastTrade: last)
    }

    /// Returns the newest mark before an offset; an empty one near the file's beginning, where no mark is due yet.
    private func mark(before offset: Int64) throws(RecordingFailure) -> GapMarkers? {
        let from = max(0, offset - Self.markWindow)
        var mark = from == 0 ? GapMarkers() : nil
        try self.scan(from: from, to: offset, isLineStart: from == 0) { line in
            if let found = line.mark?.stops { mark = found }
            return true
        }
        return mark
    }

    /// Returns the last mark behind an offset that counts at most `count` stops.
    private func lastMark(behind offset: Int64, count: UInt64) throws(RecordingFailure) -> GapMarkers? {
        var low = offset
        var high = self.length ?? offset
        var last: GapMarkers?
        while high - low > Self.markWindow {
            let middle = low + (high - low) / 2
            var found: (mark: GapMarkers, end: Int64)?
            // In a file with marks, one is within the window; in one without, no more than the window is read for it.
            try self.scan(from: middle, to: min(high, middle + Self.markWindow), isLineStart: false) { line in
                found = line.mark?.stops.map { ($0, line.offset + Int64(line.length) + 1) }
                return found == nil
            }
            if let found, found.mark.count <= count {
                last = found.mark
                low = found.end
            } else {
                high = middle
            }
        }
        try self.scan(from: low, to: high, isLineStart: true) { line in
            guard let mark = line.mark?.stops else { return true }
            guard mark.count <= count else { return false }
            last = mark
            return true
        }
        return last
    }
}

/// The search for a recording's next stop, over all of its files.
package final class StopSearch {
    private let segments: [RecordingStream.Segment]
    private var place = 0
    private var map: RecordingMap?
    private var knows = false
    /// The bytes read from the disk.
    package private(set) var bytesRead: Int64 = 0

    package init(_ segments: [RecordingStream.Segment]) { self.segments = segments }

    /// Passes over stretches without a stop, from a time on (ns since the recording's start).
    ///
    /// - Parameter lastTrade: the time of the newest message with trades before that.
    /// - Returns: where to read on, and the time of the newest message with trades before that; `nil` where no stop
    ///   follows. The same time, where the file records no stops or one may be near.
    package func clear(
        from at: Int64,
        lastTrade: Int64?
    ) throws(RecordingFailure) -> (at: Int64, lastTrade: Int64?)? {
        var at = at
        var last = lastTrade
        for place in (self.segments.lastIndex { $0.shift <= at } ?? 0)..<self.segments.count {
            let shift = self.segments[place].shift
            at = max(at, shift)
            guard let map = try self.open(place) else { return (at, last) }
            let before = map.bytesRead
            defer { self.bytesRead += map.bytesRead - before }
            let way = try map.clear(
                from: at.subtractingCapped(shift),
                lastTrade: last.map { $0.subtractingCapped(shift) }
            )
            last = way.lastTrade.map { $0.addingCapped(shift) }
            if let found = way.at { return (max(at, found.addingCapped(shift)), last) }
        }
        return nil
    }

    /// Opens the map of a file; `nil` where the file does not record its stops.
    private func open(_ place: Int) throws(RecordingFailure) -> RecordingMap? {
        if self.map == nil || place != self.place {
            let map = try RecordingMap(path: SegmentNames.present(self.segments[place].path))
            self.map = map
            self.place = place
            self.knows = try map.knowsStops()
            self.bytesRead += map.bytesRead
        }
        return self.knows ? self.map : nil
    }
}
