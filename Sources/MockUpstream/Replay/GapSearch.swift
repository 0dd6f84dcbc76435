import Market
import Recordings
import Wire

/// A walk through a recording to the first trade behind its next gap, or behind five seconds without trades, in steps.
final class GapSearch {
    enum Outcome {
        case more
        case none
        case found(ReplayCursor.Place)
    }

    private static let bytesPerStep = 1 << 20

    let file: RecordingFile
    let answer: (Result<ReplayPosition, ReplayRefusal>) -> Void
    private var cursor: ReplayCursor
    /// By cursors that were given up.
    private var bytesBefore = 0
    private var finder = TradeFinder()
    private var lastTrade: Int64?
    private let end: Int64
    private var hasGap = false
    private let stops: StopSearch
    /// Up to which time it has come, ns since the recording's start.
    private var at: Int64

    init(
        _ recording: RecordingFile,
        from place: ReplayCursor.Place,
        lastTrade: Int64?,
        end: Int64,
        answer: @escaping (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) throws(RecordingFailure) {
        self.file = recording
        self.cursor = try ReplayCursor(recording, at: place)
        self.stops = StopSearch(recording.segments)
        self.at = place.time
        // After a step back the newest trade is behind this place.
        self.lastTrade = lastTrade.flatMap { $0 <= place.time ? $0 : nil }
        self.end = end
        self.answer = answer
    }

    /// What it has read, bytes.
    var bytesRead: Int { self.bytesBefore + self.cursor.bytesRead + Int(self.stops.bytesRead) }

    /// Reads a little on; in a recording that tells where its stops are, what has none is passed over.
    func step() throws(RecordingFailure) -> Outcome {
        guard try self.passOver() else { return .none }
        let before = self.cursor.bytesRead
        while let item = try self.cursor.next() {
            switch item {
            case .gap(let gap):
                if gap.gap.symbol == nil { self.hasGap = true }
            case .signal, .closing, .connected: break
            case .frame(let frame):
                if frame.at > self.end { return .none }
                self.at = frame.at
                if self.finder.hasTrades(frame) {
                    let isSilent = GapMarkers.isSilence(from: self.lastTrade, to: frame.at)
                    if self.hasGap || isSilent { return .found(self.cursor.place) }
                    self.lastTrade = frame.at
                }
            }
            if self.cursor.bytesRead - before >= Self.bytesPerStep { return .more }
        }
        return .none
    }

    /// Goes to where the next stop may be; returns whether there is one.
    private func passOver() throws(RecordingFailure) -> Bool {
        guard !self.hasGap else { return true }
        guard let way = try self.stops.clear(from: self.at, lastTrade: self.lastTrade) else { return false }
        guard way.at > self.at else { return true }
        self.at = way.at
        self.lastTrade = way.lastTrade
        self.bytesBefore += self.cursor.bytesRead
        self.cursor = try ReplayCursor(self.file, at: self.at)
        return true
    }
}
