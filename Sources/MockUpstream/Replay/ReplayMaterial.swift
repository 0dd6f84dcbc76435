package import Market
package import Recordings
import Wire

/// What a stand-in plays: a recording, or a market that is made while it is played.
package enum ReplayMaterial: Sendable {
    case recording(RecordingFile)
    case market(SimulatedRun.Settings)

    /// The symbols, where it is certain that there are no others.
    var allSymbols: Set<String>? {
        switch self {
        case .recording(let file): file.allSymbols
        case .market(let run): Set(run.market.symbols.map(\.name))
        }
    }

    /// When it begins and ends; a market without end is far from it.
    package func span() throws(RecordingFailure) -> RecordingSpan {
        switch self {
        case .recording(let file):
            return try file.span()
        case .market(let run):
            let start = SimulatedRun.start(of: run)
            return RecordingSpan(start: start, bounds: 0...min(run.length ?? .max, .max - max(start, 0)))
        }
    }

    package func bounds(
        from: ReplayPlace?,
        to: ReplayPlace?,
        in span: RecordingSpan
    ) throws(RecordingFailure) -> ClosedRange<Int64> {
        switch self {
        case .recording(let file):
            return try file.bounds(from: from, to: to, in: span)
        case .market:
            guard from == nil, to == nil else {
                throw RecordingFailure("a simulated market is played from its start")
            }
            return span.bounds
        }
    }

    /// A cursor at the start, or in a recording at the first frame of that time or later.
    func cursor(at time: Int64?) throws(RecordingFailure) -> ReplayCursor {
        switch self {
        case .recording(let file): try ReplayCursor(file, at: time)
        case .market(let run): ReplayCursor(SimulatedRun(run))
        }
    }

    /// The file to look for places in; a simulated market has none.
    var places: RecordingFile? {
        switch self {
        case .recording(let file): file
        case .market: nil
        }
    }
}
