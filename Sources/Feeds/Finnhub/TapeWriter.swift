import Market
import NIOCore
import Wire

/// The feed's end of the tape: parses frames, numbers their trades and hands each read to the readers.
///
/// Belongs to the feed's event loop and outlives its connections, so that numbers go on after a reconnect.
final class TapeWriter {
    private var tape: Tape
    private var symbols = SymbolTable()
    private var parser = FinnhubParser()
    private let readers: [any TapeReader]
    private let key: APIKey?
    private var trades: [Trade] = []
    private var frames: [TapeBatch.Frame] = []

    /// Elements that could not be read, and frames that could not.
    private(set) var malformedElements = 0
    private(set) var malformedFrames = 0

    /// - Parameter key: what no reader shall see, should the service repeat it in any frame.
    init(epoch: UInt64, readers: [any TapeReader], key: APIKey? = nil) {
        self.key = key
        self.tape = Tape(epoch: epoch)
        self.readers = readers
    }

    var nextSequence: UInt64 { self.tape.nextSequence }

    /// Takes one text frame of the current read.
    func take(_ bytes: ByteBuffer) -> FinnhubMessage {
        let first = self.trades.count
        let known = self.symbols.count
        var bytes = bytes
        var message = self.parser.parse(bytes, symbols: &self.symbols, into: &self.trades)
        // A frame of the usual shape and with known symbols has no room for a key.
        if let key, !self.parser.wasExact || self.symbols.count != known {
            self.leaveOut(key, of: &bytes, &message, first: first, known: known)
        }
        var isWhole = true
        switch message {
        case .trade(_, let skipped):
            self.malformedElements += skipped
            isWhole = skipped == 0
        case .malformed:
            self.malformedFrames += 1
            isWhole = false
        case .ping, .error, .news, .unknown:
            break
        }
        self.frames.append(TapeBatch.Frame(bytes: bytes, trades: first..<self.trades.count, isWhole: isWhole))
        return message
    }

    /// Takes the key out of a frame that repeats it: out of the bytes that the readers get, the message and the symbols.
    ///
    /// - Parameters:
    ///   - first: the first of the frame's trades.
    ///   - known: how many symbols there were before the frame.
    private func leaveOut(
        _ key: APIKey,
        of bytes: inout ByteBuffer,
        _ message: inout FinnhubMessage,
        first: Int,
        known: Int
    ) {
        if self.symbols.names[known...].contains(where: { key.occurs(in: $0.utf8) }) {
            let names = self.symbols.names[..<known]
            self.symbols = SymbolTable()
            for name in names { _ = self.symbols.intern(name) }
            self.trades.removeLast(self.trades.count - first)
            message = .malformed(reason: "the key as a symbol")
            bytes = FinnhubEncoder.redacted
            return
        }
        guard key.occurs(in: bytes.readableBytesView) else { return }
        switch message {
        case .error(let text):
            message = .error(key.redacted(text))
            bytes = FinnhubEncoder.error(key.redacted(text))
        case .trade:
            bytes = ByteBuffer()
            FinnhubEncoder.trade(self.trades[first...], symbols: self.symbols, into: &bytes)
        case .unknown(let type):
            message = .unknown(type: key.redacted(type))
            bytes = FinnhubEncoder.redacted
        case .ping, .news, .malformed:
            bytes = FinnhubEncoder.redacted
        }
    }

    /// The trades of the current read so far.
    var pendingTrades: Int { self.trades.count }

    /// Whether the current read brought a whole frame.
    var hasPendingFrames: Bool { !self.frames.isEmpty }

    /// Ends the current read: numbers its trades and hands them to every reader.
    ///
    /// - Parameter received: our wall clock at the read, ns since 1970.
    func endRead(received: Int64) {
        guard !self.frames.isEmpty else { return }
        let batch = TapeBatch(
            epoch: self.tape.epoch,
            firstSequence: self.tape.append(count: self.trades.count),
            received: received,
            trades: self.trades,
            frames: self.frames,
            symbols: self.symbols
        )
        // The batch keeps the arrays; the next read begins with new ones of the size that reads have had lately.
        let count = self.trades.count
        self.trades = []
        self.trades.reserveCapacity(min(count, 1_024))
        let frameCount = self.frames.count
        self.frames = []
        self.frames.reserveCapacity(min(frameCount, 256))
        for reader in self.readers { reader.read(batch) }
    }

    func publish(_ status: FeedStatus) {
        for reader in self.readers { reader.statusChanged(status) }
    }

    func publish(_ gap: Gap) {
        for reader in self.readers { reader.gapFound(gap) }
    }
}
