import Market
import Wire

/// Where a recording may be searched on for its next stop (``GapMarkers``).
struct SearchedRange: Equatable {
    /// ns since the file's start; `nil` where no stop is in the rest of the file.
    var at: Int64?
    /// The newest message with trades before that, ns since the file's start.
    var lastTrade: Int64?
}

/// How much of a file has no stop, known without reading it.
extension RecordingMap {
    /// Whether the file says where trades are missing or come late: by its index, or by marks among its lines.
    func knowsStops() throws(RecordingFailure) -> Bool {
        guard self.index == nil else { return true }
        // What is compressed cannot be halved without an index.
        guard self.length != nil, !self.isPacked else { return false }
        var hasMarks = false
        try self.scan(from: 0, to: 2 * Self.markWindow, isLineStart: true) { line in
            hasMarks = line.mark?.stops != nil
            return !hasMarks
        }
        return hasMarks
    }

    /// Passes over what has no stop, from a time on (ns since the file's start).
    ///
    /// - Parameter lastTrade: the newest message with trades before that time.
    /// - Returns: that time again, where nothing is known or a stop may be next to it.
    func clear(from at: Int64, lastTrade: Int64?) throws(RecordingFailure) -> SearchedRange {
        if let index { return Self.clear(index, from: at, lastTrade: lastTrade) }
        let here = SearchedRange(at: at, lastTrade: lastTrade)
        guard let place = try self.place(at: at) else { return SearchedRange(lastTrade: lastTrade) }
        guard let before = try self.mark(before: place.offset),
            let last = try self.lastMark(behind: place.offset, count: before.count),
            // From that trade on: a gap may stand between it and the mark.
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

    /// The newest mark before a place; none were needed where the file begins close before it.
    private func mark(before offset: Int64) throws(RecordingFailure) -> GapMarkers? {
        let from = max(0, offset - Self.markWindow)
        var mark = from == 0 ? GapMarkers() : nil
        try self.scan(from: from, to: offset, isLineStart: from == 0) { line in
            if let found = line.mark?.stops { mark = found }
            return true
        }
        return mark
    }

    /// The last mark behind a place that counts no more stops than so many.
    private func lastMark(behind offset: Int64, count: UInt64) throws(RecordingFailure) -> GapMarkers? {
        var low = offset
        var high = self.length ?? offset
        var last: GapMarkers?
        while high - low > Self.markWindow {
            let middle = low + (high - low) / 2
            var found: (mark: GapMarkers, end: Int64)?
            // Where marks are, one is within the window; where none is, no more than that is read for it.
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
    /// Bytes that were read from the disk.
    package private(set) var bytesRead: Int64 = 0

    package init(_ segments: [RecordingStream.Segment]) { self.segments = segments }

    /// Passes over what has no stop, from a time on (ns since the recording's start).
    ///
    /// - Parameter lastTrade: the newest message with trades before that time.
    /// - Returns: where to read on, and the newest message with trades before that; `nil` where no stop comes any more. The
    ///   same time, where the file tells nothing or a stop may be next to it.
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

    /// The map of a file; `nil` where that says nothing of stops.
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
