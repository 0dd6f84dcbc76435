import Market
import NIOCore
import Wire

extension RecordingStream {
    /// How many frames are looked through for a trade.
    private static let searchedFrames = 1_000

    /// When it probably began (ns since 1970), where it does not say so, as the plain form does not: its first trade makes it
    /// likely, for a frame comes right behind the last of its trades. Reads from where it stands. `nil` where no trade tells.
    package func likelyStart() throws(RecordingFailure) -> Int64? {
        var reader = FrameReader()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        var frames = 0
        while frames < Self.searchedFrames, let line = try self.next() {
            guard case .frame(let text, _, let dialect) = line.content else { continue }
            frames += 1
            _ = reader.read(text, of: dialect, symbols: &symbols, into: &trades)
            guard let last = trades.last else { continue }
            let (start, isOut) = last.exchangeTime.subtractingReportingOverflow(line.at ?? 0)
            return isOut ? 0 : start
        }
        return nil
    }
}
