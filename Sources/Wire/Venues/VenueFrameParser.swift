public import Market
public import NIOCore

/// The parser of a venue's text frames; see `VenueParser`.
public protocol VenueFrameParser: Sendable {
    /// Reads one text frame, appends its trades and returns its content.
    mutating func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage
}

extension VenueFrameParser {
    /// Reads one text frame.
    public mutating func parse(
        _ frame: ByteBuffer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        frame.withUnsafeReadableBytes { self.parse($0, symbols: &symbols, into: &trades) }
    }
}
