import Market
import Recordings
import Wire

/// A reader that knows where it is, so that a place can be found again.
struct ReplayCursor {
    /// A frame of a recording, found again by its time and the number of frames before it with the same time.
    struct Place: Sendable, Equatable {
        var time: Int64
        var ties = 0
    }

    private enum Source {
        case file(RecordingFile.Reader)
        case market(SimulatedRun)
    }

    private var source: Source
    /// The place of the frame that ``next()`` answered with last.
    private(set) var place = Place(time: .min)

    /// The recording from its start, or from the first frame of that time or later.
    init(_ recording: RecordingFile, at time: Int64?) throws(RecordingFailure) {
        let reader = try recording.makeReader()
        if let time { try reader.seek(to: time) }
        self.source = .file(reader)
    }

    /// A market from its start.
    init(_ market: SimulatedRun) { self.source = .market(market) }

    /// The recording from that frame on.
    init(_ recording: RecordingFile, at place: Place) throws(RecordingFailure) {
        try self.init(recording, at: place.time)
        var left = place.ties
        while left > 0, let item = try self.next() {
            if case .frame = item { left -= 1 }
        }
    }

    /// The place behind the frame that ``next()`` answered with last.
    var following: Place {
        self.place.time == .min ? self.place : Place(time: self.place.time, ties: self.place.ties + 1)
    }

    /// Of the file's text.
    var bytesRead: Int {
        switch self.source {
        case .file(let reader): reader.textBytesRead
        case .market: 0
        }
    }

    mutating func next() throws(RecordingFailure) -> RecordingFile.Item? {
        let item: RecordingFile.Item?
        switch self.source {
        case .file(let reader):
            item = try reader.nextItem()
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
}

/// The looking for places that a person means by a time.
enum ReplaySearch {
    /// The newest message with trades that was recorded at that time or earlier: what was true then. The first of the
    /// recording where there is none.
    static func landing(
        _ recording: RecordingFile,
        at time: Int64,
        in bounds: ClosedRange<Int64>
    ) throws(RecordingFailure) -> ReplayCursor.Place {
        let end = ReplayCursor.Place(time: time, ties: .max)
        return try Self.before(end, messages: 1, recording, in: bounds).last
            ?? ReplayCursor.Place(time: bounds.lowerBound)
    }

    /// The message that was newest before so many of the newest ones came.
    static func back(
        _ recording: RecordingFile,
        messages: Int,
        from place: ReplayCursor.Place,
        in bounds: ClosedRange<Int64>
    ) throws(RecordingFailure) -> ReplayCursor.Place {
        try Self.before(place, messages: messages + 1, recording, in: bounds).first
            ?? ReplayCursor.Place(time: bounds.lowerBound)
    }

    /// The last so many messages with trades before a place, or as many as there are.
    private static func before(
        _ end: ReplayCursor.Place,
        messages: Int,
        _ recording: RecordingFile,
        in bounds: ClosedRange<Int64>
    ) throws(RecordingFailure) -> [ReplayCursor.Place] {
        // Ever farther back, until enough are between there and the place.
        var window: Int64 = 1_000_000_000
        while true {
            let from = max(end.time.subtractingCapped(window), bounds.lowerBound)
            var found: [ReplayCursor.Place] = []
            var cursor = try ReplayCursor(recording, at: from)
            var parser = TradeFinder()
            while let item = try cursor.next() {
                guard case .frame(let frame) = item else { continue }
                if (cursor.place.time, cursor.place.ties) >= (end.time, end.ties) { break }
                if parser.hasTrades(frame) { found.append(cursor.place) }
                // Twice as many as needed are kept at most.
                if found.count >= 2 * messages { found.removeFirst(messages) }
            }
            if found.count >= messages { return Array(found.suffix(messages)) }
            if from == bounds.lowerBound { return found }
            window = window.multipliedReportingOverflow(by: 8).overflow ? .max : window * 8
        }
    }
}
