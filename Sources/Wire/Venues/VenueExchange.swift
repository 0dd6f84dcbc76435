package import Market
package import NIOCore

/// A request to a venue's REST service together with its answer, as one frame: the request's target, a newline, and the
/// answer's body as it came.
///
/// The body alone does not always name the symbol, so a frame without the target could not be read again.
package struct VenueExchange: Sendable, Equatable {
    /// The path and query of the request.
    package var target: String
    package var body: ByteBuffer

    package init(target: String, body: ByteBuffer) {
        self.target = target
        self.body = body
    }

    /// The frame of the exchange.
    package var frame: ByteBuffer {
        var frame = ByteBuffer(string: self.target + "\n")
        frame.writeImmutableBuffer(self.body)
        return frame
    }
}

extension VenueExchange {
    /// Appends the trades of an exchange's frame in the order of their ids, marked ``TradeMarks/filled``.
    ///
    /// - Returns: ``FrameContent/malformed`` if the frame is no exchange for trades, or its body is no list of trades.
    package static func read(
        _ frame: ByteBuffer,
        of venue: Venue,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FrameContent {
        .malformed
    }
}
