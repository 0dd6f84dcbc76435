package import Market
import NIOCore
package import Wire

/// A client of a replay, to which a ``ReplayPlayer`` plays. All methods are called on the player's loop.
package protocol ReplayOutput: AnyObject {
    /// The dialect of the frames that it takes; `nil` for one that takes all.
    var dialect: FrameDialect? { get }
    /// Whether it has buffer space for more.
    var hasRoom: Bool { get }
    /// Takes one message. Does not flush.
    func play(_ message: ReplayMessage)
    /// Takes a ping or pong of the recorded service. Does not flush.
    func play(_ signal: RecordedSignal)
    /// Notes a gap of the recording at this place. Does not flush.
    func play(_ gap: RecordedGap)
    /// Notes the outcome of a gap at this place. Does not flush.
    func play(_ outcome: GapOutcome)
    /// Flushes what was played.
    func flush()
    /// Notes a change of the replay; `movedFrom` is the position before a move.
    func changed(_ position: ReplayPosition, movedFrom: Int64?)
    /// Notes the end of the recording.
    func ended()
    /// Notes that the recorded connection broke at this place.
    func broke()
    /// Notes that the recorded service closed the connection at this place.
    func closed(_ closing: RecordedClosing)
    func failed(_ reason: String)
}

extension ReplayOutput {
    package var dialect: FrameDialect? { nil }
    package func play(_ signal: RecordedSignal) {}
    package func play(_ gap: RecordedGap) {}
    package func play(_ outcome: GapOutcome) {}
    package func closed(_ closing: RecordedClosing) { self.broke() }
}

/// One message of a recording, parsed once for all outputs.
package struct ReplayMessage {
    package var frame: RecordedFrame
    /// Whether it is a frame with trades, even if none of them is usable.
    var hasTrades: Bool
    var trades: [Trade]
    var symbols: SymbolTable
    /// Whether the trades' times were moved, so that the frame's bytes differ from the trades.
    var isMoved: Bool
    /// The arrival by the exchange's clock, moved as the trades are, ns since 1970; set only if some trades are ahead
    /// of it.
    var aheadArrival: Int64?
    /// The recorded numbers of the trades; `nil` where they have none.
    var numbers: RecordedNumbers?

    /// Returns what the recording says of those of its trades that go to a client, by their places among these; `nil`
    /// where it says nothing.
    func places(where isSelected: (Trade) -> Bool) -> FramePlaces? {
        guard let numbers else { return nil }
        var places = FramePlaces()
        guard !numbers.leftOut.isEmpty || !numbers.filled.isEmpty else { return places }
        var place = 0
        for (index, trade) in self.trades.enumerated() where isSelected(trade) {
            if numbers.leftOut.contains(index) { places.leftOut.append(place) }
            if numbers.filled.contains(index) { places.filled.append(place) }
            place += 1
        }
        return places
    }
}

/// The settings for playing a recording.
package struct ReplaySettings: Sendable {
    package var machine = ReplayMachine.Settings()
    /// The range that is played; `nil` stands for the recording's own ends.
    package var from: ReplayPlace?
    package var to: ReplayPlace?
    /// Whether the recording restarts at its end.
    package var repeats = false
    /// Whether the trades' times are moved so that the recording begins now, at each of its starts.
    package var rebasesTimes = false
    /// Whether one client without buffer space holds up all; otherwise each client lags on its own.
    package var waitsForAll = true
    /// Whether connections break at the recording's gaps.
    package var hasBreaks = false

    package init() {}
}
