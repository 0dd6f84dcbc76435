import Market
import NIOCore

/// A price for the sessions that follow its symbol; what several sessions share is encoded once for each protocol.
struct EncodedPrice {
    /// The properties that decide the bytes of a frame.
    private struct Variant: Hashable {
        let session: ObjectIdentifier
        let form: MessageForm
        let isFirst: Bool
        let skipped: UInt64
    }

    let update: PriceUpdate
    /// The number of the shown trade among the symbol's trades, counted from 1.
    let ordinal: UInt64
    private var frames: [Variant: ByteBuffer] = [:]

    init(_ update: PriceUpdate, ordinal: UInt64) {
        self.update = update
        self.ordinal = ordinal
    }

    /// Returns the price as whole frames of a protocol.
    ///
    /// - Parameters:
    ///   - isFirst: whether the session had no price of the symbol before.
    ///   - skipped: how many trades the session has missed since the last price or snapshot.
    ///   - encode: makes the payload.
    mutating func frame<Session: RelayProtocol>(
        for session: Session.Type,
        in form: MessageForm = .text,
        isFirst: Bool,
        skipped: UInt64,
        encode: (SymbolSummary) -> ByteBuffer
    ) -> ByteBuffer {
        let variant = Variant(session: ObjectIdentifier(session), form: form, isFirst: isFirst, skipped: skipped)
        if let frame = self.frames[variant] { return frame }
        let frame = form.framed(encode(self.update.summary))
        self.frames[variant] = frame
        return frame
    }
}
