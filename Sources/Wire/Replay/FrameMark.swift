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
    /// An exchange with the venue's REST service was recorded here; its frame and its dialect.
    case answer(ByteBuffer, FrameDialect)

    /// Whether it is about the next frame, and means nothing without that.
    var isOfFrame: Bool {
        switch self {
        case .changed, .gap, .answer: false
        case .arrival, .repeats: true
        }
    }

    /// Whether what came before it must be on the tape before it takes effect.
    package var endsRead: Bool {
        switch self {
        // One read has one arrival.
        case .changed, .gap, .arrival, .answer: true
        case .repeats: false
        }
    }
}
