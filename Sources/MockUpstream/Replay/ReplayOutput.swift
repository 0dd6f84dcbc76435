package import Market
import NIOCore
package import Wire

/// A client of a replay: what a ``ReplayPlayer`` plays to. Everything is called on the player's loop.
package protocol ReplayOutput: AnyObject {
    /// Whether it takes more without keeping it in memory.
    var hasRoom: Bool { get }
    /// Takes one message; `trades` is what it holds, where it holds trades. Does not send yet.
    func play(_ message: ReplayMessage)
    /// Takes a ping or pong of the service's. Does not send yet.
    func play(_ signal: RecordedSignal)
    /// Notes that the recording has a gap here. Does not send yet.
    func play(_ gap: RecordedGap)
    /// Sends what was played.
    func flush()
    /// Notes that the replay goes on otherwise; `from` is where it was, where it has been moved.
    func changed(_ position: ReplayPosition, movedFrom: Int64?)
    /// Notes that the recording is at its end.
    func ended()
    /// Notes that the connection broke here when it was recorded.
    func broke()
    /// Notes that the service closed the connection here.
    func closed(_ closing: RecordedClosing)
    func failed(_ reason: String)
}

extension ReplayOutput {
    package func play(_ signal: RecordedSignal) {}
    package func play(_ gap: RecordedGap) {}
    package func closed(_ closing: RecordedClosing) { self.broke() }
}

/// One message of a recording, read once for all who get it.
package struct ReplayMessage {
    package var frame: RecordedFrame
    /// Whether it is a frame for trades, even where none of them can be used.
    var hasTrades: Bool
    var trades: [Trade]
    var symbols: SymbolTable
    /// Whether the frame's own bytes say something else than the trades, whose times were moved.
    var isMoved: Bool
    /// When it arrived by the exchange's clock, moved as the trades are, ns since 1970; only where some of them are ahead of
    /// that.
    var aheadArrival: Int64?
}

/// How a recording is played.
package struct ReplaySettings: Sendable {
    package var machine = ReplayMachine.Settings()
    /// What of the recording is played; the whole without them.
    package var from: ReplayPlace?
    package var to: ReplayPlace?
    /// Whether it begins anew at its end.
    package var repeats = false
    /// Whether the trades' times are moved so that the recording begins now, each time that it begins.
    package var rebasesTimes = false
    /// Whether one client that has no room holds up all; otherwise it is their own affair.
    package var waitsForAll = true
    /// Whether connections break where the recording has a gap.
    package var hasBreaks = false

    package init() {}
}
