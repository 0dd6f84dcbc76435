import TLS
import Ingest
import Market
import NIOCore
import Wire

/// The reader of one connection's frames: parses them onto the tape, and hides the key from all readers.
struct FinnhubFrameReader {
    private var parser = FinnhubParser()
    /// Finds the key in any frame in which the service repeats it; no reader of the tape may see it.
    private let key: KeyDetector?

    init(key: Secret?) { self.key = key.map { KeyDetector($0) } }

    /// Takes one text frame of the current read, made at `now` (monotonic ns), onto the tape.
    mutating func take(_ bytes: ByteBuffer, into input: FeedInput, now: Int64) -> FinnhubMessage {
        var message = FinnhubMessage.ping
        input.take(bytes, of: .finnhub, now: now) { bytes, symbols, trades in
            let first = trades.count
            let known = symbols.count
            message = self.parser.parse(bytes, symbols: &symbols, into: &trades)
            // An exactly parsed frame with known symbols cannot hold the key.
            if let key, !self.parser.wasExact || symbols.count != known {
                Self.leaveOut(key, of: &bytes, &message, &symbols, &trades, first: first, known: known)
            }
            return message.content
        }
        return message
    }

    /// Reads one text frame without taking it. What is returned does not hold the key.
    func survey(_ bytes: ByteBuffer) -> FinnhubMessage {
        var symbols = SymbolTable()
        var trades: [Trade] = []
        var parser = FinnhubParser()
        let message = parser.parse(bytes, symbols: &symbols, into: &trades)
        guard case .error(let text) = message, let key else { return message }
        return .error(key.redacted(text))
    }

    /// Returns the payload of a ping or pong for the readers: empty if it repeats the key.
    ///
    /// The payload is copied, so that it does not keep the buffer of its read alive.
    func safe(_ payload: ByteBuffer) -> ByteBuffer {
        guard payload.readableBytes > 0, self.key?.occurs(in: payload.readableBytesView) != true else {
            return ByteBuffer()
        }
        return ByteBuffer(bytes: payload.readableBytesView)
    }

    /// Removes the key from a frame that repeats it: from the readers' bytes, the message and the symbols.
    ///
    /// - Parameters:
    ///   - first: the index of the frame's first trade.
    ///   - known: the number of symbols before the frame.
    private static func leaveOut(
        _ key: KeyDetector,
        of bytes: inout ByteBuffer,
        _ message: inout FinnhubMessage,
        _ symbols: inout SymbolTable,
        _ trades: inout [Trade],
        first: Int,
        known: Int
    ) {
        if symbols.names[known...].contains(where: { key.occurs(in: $0.utf8) }) {
            let names = symbols.names[..<known]
            symbols = SymbolTable()
            for name in names { _ = symbols.intern(name) }
            trades.removeLast(trades.count - first)
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
            FinnhubEncoder.trade(trades[first...], symbols: symbols, into: &bytes)
        case .unknown(let type):
            message = .unknown(type: key.redacted(type))
            bytes = FinnhubEncoder.redacted
        case .ping, .news, .malformed:
            bytes = FinnhubEncoder.redacted
        }
    }
}
