import Market
package import NIOCore
import Wire

/// When a recording began that does not say so, as the plain form does not: its first trade makes it likely, for a frame comes
/// right behind the last of its trades.
package struct LikelyStart: Sendable {
    /// So many frames are looked through for a trade.
    package static let frames = 1_000

    private var parser = FinnhubParser()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []

    package init() {}

    /// Takes the next frame; returns the start (ns since 1970), when it has trades.
    ///
    /// - Parameter at: when it came, ns since the start.
    package mutating func take(_ frame: ByteBuffer, at: Int64) -> Int64? {
        _ = self.parser.parse(frame, symbols: &self.symbols, into: &self.trades)
        guard let last = self.trades.last else { return nil }
        let (start, isOut) = last.exchangeTime.subtractingReportingOverflow(at)
        return isOut ? 0 : start
    }
}

extension RecordingStream {
    /// When it probably began, where it does not say so; reads from where it stands. `nil` where no trade tells.
    package func likelyStart() throws(RecordingFailure) -> Int64? {
        var guess = LikelyStart()
        var frames = 0
        while frames < LikelyStart.frames, let line = try self.next() {
            guard case .frame(let text, _) = line.content else { continue }
            frames += 1
            if let start = guess.take(text, at: line.at ?? 0) { return start }
        }
        return nil
    }
}
