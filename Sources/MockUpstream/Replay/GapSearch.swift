import Market
import Recordings
import Wire

/// The search for the first trade after a recording's next gap, or after five seconds without trades, in steps.
final class GapSearch {
    enum Outcome {
        case more
        case none
        case found(ReplayCursor.Place)
    }

    private static let bytesPerStep = 1 << 20

    let file: RecordingFile
    let answer: (Result<ReplayPosition, ReplayRefusal>) -> Void
    private let cursor: ReplayCursor
    private var finder = TradeFinder()
    private var lastTrade: Int64?
    private let end: Int64
    private var hasGap = false
    /// The time that the search has reached, ns since the recording's start.
    private var at: Int64

    init(
        _ recording: RecordingFile,
        from place: ReplayCursor.Place,
        lastTrade: Int64?,
        end: Int64,
        answer: @escaping (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) throws(RecordingFailure) {
        self.file = recording
        self.cursor = try recording.makeReader(at: place)
        self.at = place.time
        // After a step back, the newest trade played may be later than this place.
        self.lastTrade = lastTrade.flatMap { $0 <= place.time ? $0 : nil }
        self.end = end
        self.answer = answer
    }

    /// The bytes read from the disk so far.
    var bytesRead: Int { self.cursor.bytesRead }

    /// Reads the next part. In a recording with an index of its gap markers, the parts without one are skipped.
    func step() throws(RecordingFailure) -> Outcome {
        guard try self.passOver() else { return .none }
        let before = self.cursor.textBytesRead
        while let item = try self.cursor.nextItem() {
            switch item {
            case .gap(let gap):
                if gap.gap.symbol == nil { self.hasGap = true }
            case .signal, .closing, .connected, .settled: break
            case .frame(let frame):
                if frame.at > self.end { return .none }
                self.at = frame.at
                if self.finder.hasTrades(frame) {
                    let isSilent = GapMarkers.isSilence(from: self.lastTrade, to: frame.at)
                    if self.hasGap || isSilent {
                        if frame.dialect.answering == nil { return .found(self.cursor.place) }
                        // The trades of an exchange with a REST service are no prices, which the place is to show.
                        self.hasGap = true
                    }
                    self.lastTrade = frame.at
                }
            }
            if self.cursor.textBytesRead - before >= Self.bytesPerStep { return .more }
        }
        return .none
    }

    /// Moves the cursor to where the next gap or silence may be; returns whether there may be one.
    private func passOver() throws(RecordingFailure) -> Bool {
        guard !self.hasGap else { return true }
        guard let way = try self.cursor.clear(from: self.at, lastTrade: self.lastTrade) else { return false }
        guard way.at > self.at else { return true }
        self.at = way.at
        self.lastTrade = way.lastTrade
        try self.cursor.seek(to: self.at)
        return true
    }
}
