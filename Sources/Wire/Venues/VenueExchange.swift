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
    /// Appends the trades of an exchange's frame in the order of their ids, each id once, marked ``TradeMarks/filled``.
    ///
    /// At most ``VenueTradesRequest/maximumCount`` elements are taken. It never traps, whatever the bytes are.
    ///
    /// - Returns: ``FrameContent/malformed``, with nothing appended, if the frame is no exchange for trades, or its body is
    ///   not a whole list of trades, as that of an error is not.
    package static func read(
        _ frame: ByteBuffer,
        of venue: Venue,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FrameContent {
        frame.withUnsafeReadableBytes { bytes in
            guard let end = bytes.prefix(VenueTarget.maximumLength + 1).firstIndex(of: UInt8(ascii: "\n")),
                let text = String(validating: bytes[..<end], as: UTF8.self),
                let symbol = try? VenueTradesRequest.symbol(in: VenueTarget(text), of: venue)
            else { return .malformed }
            let body = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
            // JSON is UTF-8 (RFC 8259, 8.1). Unlike a text of a WebSocket, a body was not checked for that.
            guard String(validating: body, as: UTF8.self) != nil else { return .malformed }
            var name = venue.native(of: symbol)
            return name.withUTF8 { name in
                let name = JSONString(raw: UnsafeRawBufferPointer(name), isEscaped: false)
                var list = TradeList(of: venue, symbol: name)
                var reader = JSONReader(body)
                let isList =
                    switch venue {
                    case .binance: BinanceTradeList.read(&reader, into: &list, symbols: &symbols)
                    case .coinbase: CoinbaseTradeList.read(&reader, into: &list, symbols: &symbols)
                    case .kraken: KrakenTradeList.read(&reader, into: &list, symbols: &symbols)
                    }
                guard isList, reader.isAtEnd() else { return .malformed }
                trades += list.sorted()
                return .trades(skipped: list.skipped)
            }
        }
    }

    /// Returns the service's own words in the body of an error, whose status may be 200 (Kraken); `nil` for another body.
    ///
    /// - Parameter body: for example `{"code":-1121,"msg":"Invalid symbol."}` (Binance), `{"message":"NotFound"}`
    ///   (Coinbase) or `{"error":["EQuery:Unknown asset pair"],"result":null}` (Kraken).
    package static func errorText(in body: ByteBuffer, of venue: Venue) -> String? {
        body.withUnsafeReadableBytes { bytes in
            var text: String?
            let isWhole = JSONReader.wholeObject(bytes) { key, reader in
                switch venue {
                case .binance where key.equals("msg"), .coinbase where key.equals("message"):
                    var words: JSONString?
                    guard reader.take(string: &words) else { return false }
                    text = words?.text(atMost: VenueMessage.maximumTextLength)
                    return true
                case .kraken where key.equals("error"):
                    guard let errors = KrakenTradeList.errors(&reader) else { return false }
                    text = errors.joined(separator: ", ")
                    return true
                case .binance, .coinbase, .kraken: return reader.skipValue()
                }
            }
            return isWhole && text?.isEmpty == false ? text : nil
        }
    }
}
