import Market
import NIOCore
import Wire

extension RecordingStream {
    /// How many frames are searched for a trade.
    private static let searchedFrames = 1_000

    /// The likely start of a recording whose header does not state one, as in the plain form (ns since 1970).
    ///
    /// Derived from the first trade, since a frame arrives right after the last of its trades. Reads on from the
    /// stream's position. `nil` where no trade is found.
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
