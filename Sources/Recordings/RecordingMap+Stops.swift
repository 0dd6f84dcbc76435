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
    private func knowsStops() throws(RecordingFailure) -> Bool {
        guard self.index == nil else { return true }
        // A compressed file without an index allows no binary search.
        guard self.length != nil, !self.isPacked else { return false }
        if let knownStops { return knownStops }
        var hasMarks = false
        try self.scan(from: 0, to: 2 * Self.markWindow, isLineStart: true) { line in
            hasMarks = line.mark?.stops != nil
            return !hasMarks
        }
        self.knownStops = hasMarks
        return hasMarks
    }

    /// Passes over stretches without a stop, from a time on (ns since the file's start).
    ///
    /// - Parameter lastTrade: the time of the newest message with trades before that.
    /// - Returns: the same time, where a stop may be near; `nil` where the file does not record its stops.
    func clear(from at: Int64, lastTrade: Int64?) throws(RecordingFailure) -> SearchedRange? {
        guard try self.knowsStops() else { return nil }
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
