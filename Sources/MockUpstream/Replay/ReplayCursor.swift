package import Market
package import Recordings
package import Wire

/// The reader of what a mock server plays: a recording or a simulated market, item by item.
///
/// It reports its place, so that the place can be found again. Reading blocks while the disk works; the loop that uses
/// it has nothing else to do.
package final class ReplayCursor {
    /// The place of a frame, given by its time and the number of frames before it with the same time.
    package struct Place: Sendable, Equatable {
        package var time: Int64
        package var ties = 0

        package init(time: Int64, ties: Int = 0) {
            self.time = time
            self.ties = ties
        }
    }

    /// One item, in order.
    package enum Item {
        case frame(RecordedFrame)
        /// Trades may be missing between the frames before and after it.
        case gap(RecordedGap)
        /// A control frame of the connection.
        case signal(RecordedSignal)
        /// The service closed the connection.
        case closing(RecordedClosing)
        /// All trades of a gap had come here, or the rest was lost; ns since the recording's start.
        case settled(at: Int64, GapOutcome)
        /// A connection was opened; ns since the recording's start.
        case connected(at: Int64)
    }

    private enum Source {
        case recording(RecordingStream, RecordingDamage)
        case market(SimulatedRun)
    }

    private var source: Source
    private let beforeRead: (@Sendable () -> Void)?
    /// The time before which items are skipped, after a seek.
    private var earliest: Int64?
    /// The place of the frame that was returned last.
    private(set) var place = Place(time: .min)
    /// Called with each note of a recording, before the items that are made of it.
    var noteRead: (RecordedNote) -> Void = { _ in }
    /// The first header of a recording.
    package private(set) var header: RecordingHeader?

    /// Reads a recording from its start.
    ///
    /// - Parameter beforeRead: called before each read.
    init(_ stream: RecordingStream, damage: RecordingDamage, beforeRead: (@Sendable () -> Void)? = nil) {
        self.source = .recording(stream, damage)
        self.beforeRead = beforeRead
    }

    /// Reads a simulated market from its start.
    init(_ market: SimulatedRun) {
        self.source = .market(market)
        self.beforeRead = nil
    }

    /// The place after the frame that was returned last.
    var following: Place {
        self.place.time == .min ? self.place : Place(time: self.place.time, ties: self.place.ties + 1)
    }

    private var stream: RecordingStream? {
        switch self.source {
        case .recording(let stream, _): stream
        case .market: nil
        }
    }

    /// The bytes read from the disk.
    package var bytesRead: Int { Int(self.stream?.diskBytesRead ?? 0) }
    /// The bytes of the text, which is read line by line.
    package var textBytesRead: Int { Int(self.stream?.bytesRead ?? 0) }

    /// Returns the next frame, or `nil` at the end.
    package func next() throws(RecordingFailure) -> RecordedFrame? {
        while let item = try self.nextItem() {
            if case .frame(let frame) = item { return frame }
        }
        return nil
    }

    /// Returns the next item, or `nil` at the end.
    package func nextItem() throws(RecordingFailure) -> Item? {
        let item: Item?
        switch self.source {
        case .recording(let stream, let damage): item = try self.nextItem(of: stream, damage)
        case .market(var market):
            item = market.next()
            self.source = .market(market)
        }
        if case .frame(let frame) = item {
            let isTie = frame.at == self.place.time
            self.place = Place(time: frame.at, ties: isTie ? self.place.ties + 1 : 0)
        }
        return item
    }

    private func nextItem(of stream: RecordingStream, _ damage: RecordingDamage) throws(RecordingFailure) -> Item? {
        self.beforeRead?()
        while let line = try stream.next() {
            if let earliest, let at = line.at, at < earliest { continue }
            let segment = stream.segment
            let at = line.at ?? 0
            switch line.content {
            case .frame:
                guard let frame = line.frame else { continue }
                self.earliest = nil
                return .frame(frame)
            case .gap(let gap, let dropped):
                return .gap(RecordedGap(line: line.line, at: at, gap: gap, dropped: dropped, wall: line.wall))
            case .header(let header): self.header = self.header ?? header
            case .note(let note):
                self.noteRead(note)
                if let signal = RecordedSignal(note, at: at) { return .signal(signal) }
                if let closing = RecordedClosing(note, at: at, wall: line.wall) { return .closing(closing) }
                if let outcome = note.outcome { return .settled(at: at, outcome) }
                if note.kind == .connect { return .connected(at: at) }
            case .damaged(let reason):
                damage.found(line: line.offset, reason: reason, in: segment, path: stream.segments[segment].path)
            case .unreadable(let part):
                let path = stream.segments[segment].path
                damage.found(part: part.bytes, isTail: part.isTail, in: segment, path: path)
            case .unknown, .torn: break
            }
        }
        return nil
    }

    // MARK: Places in a recording

    /// Seeks the first frame at or after a time. ``nextItem()`` then returns it, or an item before it that is not
    /// earlier than the time.
    ///
    /// A compressed file is searched by its index, another one by bisection, so little of it is read.
    package func seek(to time: Int64) throws(RecordingFailure) {
        try self.stream?.seek(at: time)
        self.earliest = time
        self.place = Place(time: .min)
    }

    /// Seeks a frame; ``nextItem()`` then returns it, or an item before it.
    func seek(to place: Place) throws(RecordingFailure) {
        try self.seek(to: place.time)
        var left = place.ties
        while left > 0, try self.next() != nil { left -= 1 }
    }

    /// Passes over stretches without a stop, from a time on, without a change of the place
    /// (``RecordingStream/clear(from:lastTrade:)``).
    func clear(
        from at: Int64,
        lastTrade: Int64?
    ) throws(RecordingFailure) -> (at: Int64, lastTrade: Int64?)? {
        guard let stream else { return (at, lastTrade) }
        return try stream.clear(from: at, lastTrade: lastTrade)
    }
}
