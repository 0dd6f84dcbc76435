import NIOCore
import Wire

/// The frames of some batches for several sets of symbols; each set is encoded once.
struct FinnhubBatchEncoder {
    private let batches: ArraySlice<TapeBatch>
    private let present: SymbolSet
    private let hasPositions: Bool
    private let takesFilled: Bool
    // Most groups want the whole batch, which mostly is of one symbol. That needs no table.
    private var whole: FinnhubTradeEncoder.Content?
    private var parts: [SymbolSet: FinnhubTradeEncoder.Content] = [:]
    private var cuts = FinnhubTradeEncoder.CutFrames()

    /// - Parameters:
    ///   - present: the symbols of the batches' trades.
    ///   - hasPositions: whether each frame has its position.
    ///   - takesFilled: whether filled trades are among them.
    init(
        _ batches: ArraySlice<TapeBatch>,
        present: SymbolSet,
        hasPositions: Bool = false,
        takesFilled: Bool = false
    ) {
        self.batches = batches
        self.present = present
        self.hasPositions = hasPositions
        self.takesFilled = takesFilled
    }

    /// Returns the frames with the trades of some symbols.
    ///
    /// - Parameters:
    ///   - wanted: symbols of the batches' trades; not empty.
    ///   - buffer: the memory for frames with all trades.
    mutating func content(_ wanted: SymbolSet, whole buffer: inout ByteBuffer) -> FinnhubTradeEncoder.Content {
        if wanted == self.present {
            if let whole = self.whole { return whole }
            let content = FinnhubTradeEncoder.encode(
                self.batches,
                wanted: wanted,
                isAll: true,
                hasPositions: self.hasPositions,
                takesFilled: self.takesFilled,
                cuts: &self.cuts,
                into: &buffer
            )
            self.whole = content
            return content
        }
        if let part = self.parts[wanted] { return part }
        var part = ByteBuffer()
        let content = FinnhubTradeEncoder.encode(
            self.batches,
            wanted: wanted,
            isAll: false,
            hasPositions: self.hasPositions,
            takesFilled: self.takesFilled,
            cuts: &self.cuts,
            into: &part
        )
        self.parts[wanted] = content
        return content
    }
}
