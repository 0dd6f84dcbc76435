import Market
import Recordings
import Wire

/// A reader that reports its place, so that the place can be found again.
struct ReplayCursor {
    /// The place of a frame, given by its time and the number of frames before it with the same time.
    struct Place: Sendable, Equatable {
        var time: Int64
        var ties = 0
    }

    private enum Source {
        case file(RecordingFile.Reader)
        case market(SimulatedRun)
    }

    private var source: Source
    /// The place of the frame that ``next()`` returned last.
    private(set) var place = Place(time: .min)

    /// Reads a recording from its start, or from the first frame at or after a time.
    init(_ recording: RecordingFile, at time: Int64?) throws(RecordingFailure) {
        let reader = try recording.makeReader()
        if let time { try reader.seek(to: time) }
        self.source = .file(reader)
    }

    /// Reads a simulated market from its start.
    init(_ market: SimulatedRun) { self.source = .market(market) }

    /// Reads a recording from a frame on.
    init(_ recording: RecordingFile, at place: Place) throws(RecordingFailure) {
        try self.init(recording, at: place.time)
        var left = place.ties
        while left > 0, let item = try self.next() {
            if case .frame = item { left -= 1 }
        }
    }

    /// The place after the frame that ``next()`` returned last.
    var following: Place {
        self.place.time == .min ? self.place : Place(time: self.place.time, ties: self.place.ties + 1)
    }

    /// The bytes of the file's text read so far.
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

/// The search for the place that a user means by a time.
enum ReplaySearch {
    /// Returns the newest message with trades at or before a time, which holds the prices of that time; without one,
    /// the recording's first message.
    static func landing(
        _ recording: RecordingFile,
        at time: Int64,
        in bounds: ClosedRange<Int64>
    ) throws(RecordingFailure) -> ReplayCursor.Place {
        let end = ReplayCursor.Place(time: time, ties: .max)
        return try Self.before(end, messages: 1, recording, in: bounds).last
            ?? ReplayCursor.Place(time: bounds.lowerBound)
    }

    /// Returns the message with trades that precedes a place by a number of messages.
    static func back(
        _ recording: RecordingFile,
        messages: Int,
        from place: ReplayCursor.Place,
        in bounds: ClosedRange<Int64>
    ) throws(RecordingFailure) -> ReplayCursor.Place {
        try Self.before(place, messages: messages + 1, recording, in: bounds).first
            ?? ReplayCursor.Place(time: bounds.lowerBound)
    }

    /// Returns the last messages with trades before a place, as many as there are up to a number.
    private static func before(
        _ end: ReplayCursor.Place,
        messages: Int,
        _ recording: RecordingFile,
        in bounds: ClosedRange<Int64>
    ) throws(RecordingFailure) -> [ReplayCursor.Place] {
        // The window grows backwards until it holds enough messages.
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
                // At most twice as many as needed are kept.
                if found.count >= 2 * messages { found.removeFirst(messages) }
            }
            if found.count >= messages { return Array(found.suffix(messages)) }
            if from == bounds.lowerBound { return found }
            window = window.multipliedReportingOverflow(by: 8).overflow ? .max : window * 8
        }
    }
}
