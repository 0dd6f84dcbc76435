package import Market
package import NIOCore

/// Something that happens to a feed between two of its frames and stands in neither: what the player of a replay does.
package enum FrameMark: Sendable, Equatable {
    /// The frames go on otherwise.
    ///
    /// - `movedBecause`: why trades are missing here, where the frames go on at another place; they may come again then.
    /// - `isPaused`: whether silence says nothing from here on.
    /// - `speed`: how many times the recorded pace; `nil` is as fast as it goes.
    case changed(movedBecause: String?, isPaused: Bool, speed: Double?)
    /// Trades are missing that were missing when the frames were recorded; the gap has the times of then.
    case gap(Gap)
    /// When the next frame arrived by the exchange's clock, ns since 1970. Without it none of its trades is ahead.
    case arrival(Int64)
    /// Which trades of the next frame may have come before: their places in it, ascending.
    case repeats([Int])
    /// Whether the recording says which trades of the next frames are on the tape: then no id has to prove it, and a
    /// frame without ``places(_:)`` is there as a whole. Otherwise the ids of the trades decide again.
    case judged(Bool)
    /// What the recording says of the next frame's trades.
    case places(FramePlaces)
    /// The next frame is not in the recording: the mock server answers a request with it. The ids of its trades decide.
    case made
    /// An exchange with the venue's REST service was recorded here: its frame, its dialect, and what the recording says
    /// of its trades, if it says anything.
    case answer(ByteBuffer, FrameDialect, FramePlaces?)
    /// The outcome of a gap was recorded here.
    case settled(GapOutcome)
    /// What follows belongs to this turn among several connections (``FrameTurns``): nothing of it takes effect before
    /// all earlier turns have ended.
    case turnBegan(Int)
    /// The next frame belongs to a later turn.
    case turnEnded(Int)

    /// Whether it is about the next frame, and means nothing without that.
    var isOfFrame: Bool {
        switch self {
        case .changed, .gap, .judged, .answer, .settled, .turnBegan, .turnEnded: false
        case .arrival, .repeats, .places, .made: true
        }
    }

    /// Whether it is an end of a turn.
    var isTurn: Bool {
        switch self {
        case .turnBegan, .turnEnded: true
        case .changed, .gap, .arrival, .repeats, .judged, .places, .made, .answer, .settled: false
        }
    }

    /// Whether the feed takes it although no frame may follow. The beginning of a turn has no effect by itself.
    var wakes: Bool {
        switch self {
        case .changed, .gap, .judged, .answer, .settled, .turnEnded: true
        case .arrival, .repeats, .places, .made, .turnBegan: false
        }
    }

    /// Whether what came before it must be on the tape before it takes effect.
    package var endsRead: Bool {
        switch self {
        // One read has one arrival.
        case .changed, .gap, .arrival, .answer, .settled, .turnEnded: true
        case .repeats, .judged, .places, .made, .turnBegan: false
        }
    }
}
