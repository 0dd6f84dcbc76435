import Market
import Recordings
import Wire

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
            let cursor = try recording.makeReader(at: ReplayCursor.Place(time: from))
            var parser = TradeFinder()
            while let frame = try cursor.next() {
                if (cursor.place.time, cursor.place.ties) >= (end.time, end.ties) { break }
                // The trades of an exchange with a REST service are no prices.
                if frame.dialect.answering == nil, parser.hasTrades(frame) { found.append(cursor.place) }
                // At most twice as many as needed are kept.
                if found.count >= 2 * messages { found.removeFirst(messages) }
            }
            if found.count >= messages { return Array(found.suffix(messages)) }
            if from == bounds.lowerBound { return found }
            window = window.multipliedReportingOverflow(by: 8).overflow ? .max : window * 8
        }
    }
}
