import Completeness
import Market
import NIOCore
import Wire

/// The completeness of each symbol and hour of a recording, by its frames.
///
/// The recorder and the check read the same lines in the same order, so both get the same report of files without
/// damage. A recording without numbers of trades, as in the plain form, is judged by the ids alone.
struct RecordedCompleteness: Sendable {
    private var book: CompletenessBook
    private var reader = FrameReader()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []
    /// The lines of the trades; `nil` where single trades are not compared.
    var lines: RecordedTradeLines?
    /// How many files ended: a read does not continue in another file.
    private var files: Int64 = 0

    /// - Parameter byIDsAlone: whether the recording is in the plain form.
    init(byIDsAlone: Bool = false) { self.book = CompletenessBook(byIDsAlone: byIDsAlone) }

    /// Takes a frame.
    ///
    /// - Parameters:
    ///   - numbers: of its trades; `nil` if its line has none, so that their ids show which are on the tape.
    ///   - read: what the frames of one read share: the wall clock at their arrival, or in the plain form the line's
    ///     time. The time of a line is later than that of its read where a gap stands before it.
    mutating func take(_ frame: ByteBuffer, of dialect: FrameDialect, numbers: RecordedNumbers?, read: Int64) {
        // Finnhub sends no ids.
        guard dialect != .finnhub else { return }
        if self.symbols.isFull {
            self.symbols = SymbolTable()
            self.book.epochBegan()
        }
        self.trades.removeAll(keepingCapacity: true)
        _ = self.reader.read(frame, of: dialect, symbols: &self.symbols, into: &self.trades)
        guard self.trades.contains(where: { $0.id != nil }) else { return }
        self.book.readBegan(read &+ self.files << 56, symbols: self.symbols)
        let isAnswer = dialect.answering != nil
        guard let numbers, numbers.apply(toAll: &self.trades) else {
            self.keep(self.trades[...])
            return self.book.take(self.trades[...], isOnTape: false, isAnswer: isAnswer)
        }
        var first = 0
        for place in numbers.leftOut {
            self.keep(self.trades[first..<place])
            self.book.take(self.trades[first..<place], isAnswer: isAnswer)
            // What an answer has besides the missing trades was not asked for.
            if !isAnswer { self.book.takeRepeated(self.trades[place]) }
            first = place + 1
        }
        self.keep(self.trades[first...])
        self.book.take(self.trades[first...], isAnswer: isAnswer)
    }

    private mutating func keep(_ trades: ArraySlice<Trade>) {
        guard self.lines != nil else { return }
        for trade in trades { self.lines?.add(trade, symbol: self.symbols.name(of: trade.symbol)) }
    }

    /// Takes a gap; lines do not say whether a replay was moved.
    mutating func take(_ gap: Gap) {
        var gap = gap
        gap.cause = nil
        self.book.gapFound(gap)
    }

    /// Takes the outcome of a gap.
    mutating func take(_ outcome: GapOutcome) { self.book.gapSettled(outcome) }

    /// Takes the end of a file.
    mutating func fileEnded() { self.files += 1 }

    /// Takes the end of the recording: what is missing stays missing.
    mutating func finish() { self.book.finish() }

    /// The hours, the oldest first of each symbol.
    mutating func hours() -> [CompletenessHour] { self.book.hours() }
}
