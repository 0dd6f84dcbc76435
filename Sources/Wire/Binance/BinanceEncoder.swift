package import Market
package import NIOCore

/// The encoder of a server's frames in the form of Binance's combined and raw streams
/// (binance-spot-api-docs, web-socket-streams.md).
package enum BinanceEncoder {
    /// The decimals of prices and quantities; a number with more keeps all of them.
    static let decimals = 8

    /// Creates the frame of one trade.
    ///
    /// Prices and quantities have eight decimals, times are in ms. The event's time is that of the trade. A tape does not
    /// keep the maker's side, so `m` is always `true`. A trade without an id gets 0.
    ///
    /// - Parameter isCombined: whether the stream's name is around the trade, as on `/stream`.
    package static func trade(_ trade: Trade, symbols: SymbolTable, isCombined: Bool = true) -> ByteBuffer {
        let name = Venue.binance.native(of: symbols.name(of: trade.symbol))
        var buffer = ByteBuffer()
        buffer.reserveCapacity(224)
        if isCombined {
            buffer.writeStaticString("{\"stream\":")
            JSONText.escape(Self.stream(of: name), into: &buffer)
            buffer.writeStaticString(",\"data\":")
        }
        let time = trade.exchangeTime / 1_000_000
        buffer.writeStaticString("{\"e\":\"trade\",\"E\":")
        JSONText.write(time, into: &buffer)
        buffer.writeStaticString(",\"s\":")
        JSONText.escape(name, into: &buffer)
        buffer.writeStaticString(",\"t\":")
        JSONText.write(trade.id ?? 0, into: &buffer)
        buffer.writeStaticString(",\"p\":\"")
        VenueDigits.write(trade.price, decimals: Self.decimals, into: &buffer)
        buffer.writeStaticString("\",\"q\":\"")
        VenueDigits.write(trade.size, decimals: Self.decimals, into: &buffer)
        buffer.writeStaticString("\",\"T\":")
        JSONText.write(time, into: &buffer)
        buffer.writeStaticString(",\"m\":true,\"M\":true}")
        if isCombined { buffer.writeStaticString("}") }
        return buffer
    }

    /// Returns the trade in a combined frame, as it is sent on `/ws`; a frame of another form is returned without change.
    package static func raw(_ frame: ByteBuffer) -> ByteBuffer {
        Self.data(of: frame) ?? frame
    }

    /// Returns a raw frame with its stream's name around it; a frame that has one is returned without change.
    package static func combined(_ frame: ByteBuffer, stream: String) -> ByteBuffer {
        guard Self.data(of: frame) == nil else { return frame }
        var buffer = ByteBuffer()
        buffer.writeStaticString("{\"stream\":")
        JSONText.escape(stream, into: &buffer)
        buffer.writeStaticString(",\"data\":")
        buffer.writeImmutableBuffer(frame)
        buffer.writeStaticString("}")
        return buffer
    }

    /// Returns the stream of a symbol's trades, by the venue's own name: `btcusdt@trade`.
    package static func stream(of name: String) -> String {
        let bytes = name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self) + "@trade"
    }

    /// Creates the acknowledgement of a request: `{"result":null,"id":1}`.
    ///
    /// - Parameter id: the request's id as JSON; `nil` stands for `null`.
    package static func acknowledgement(id: ByteBuffer?) -> ByteBuffer { Self.result(json: Self.null, id: id) }

    /// Creates the answer to `LIST_SUBSCRIPTIONS`.
    package static func list(_ streams: [String], id: ByteBuffer?) -> ByteBuffer {
        Self.result(json: JSONWriter.array { out in for stream in streams { out.element(stream) } }, id: id)
    }

    /// Creates the answer to `GET_PROPERTY`.
    package static func property(_ isSet: Bool, id: ByteBuffer?) -> ByteBuffer {
        Self.result(json: ByteBuffer(string: isSet ? "true" : "false"), id: id)
    }

    /// Creates an error: `{"code":2,"msg":"…"}`.
    package static func error(code: Int, _ text: String) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("code", code)
            out.field("msg", text)
        }
    }

    /// Creates the announcement of the end of the connection.
    ///
    /// - Parameter at: ns since 1970.
    package static func serverShutdown(at: Int64, isCombined: Bool = true) -> ByteBuffer {
        let event = JSONWriter.object { out in
            out.field("e", "serverShutdown")
            out.field("E", at / 1_000_000)
        }
        return isCombined ? Self.combined(event, stream: "!serverShutdown") : event
    }

    private static let null = ByteBuffer(staticString: "null")

    private static func result(json: ByteBuffer, id: ByteBuffer?) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("result", json: json)
            out.field("id", json: id ?? Self.null)
        }
    }

    /// Returns the value of `data` in a combined frame.
    private static func data(of frame: ByteBuffer) -> ByteBuffer? {
        var data: ByteBuffer?
        let isWhole = frame.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                guard key.equals("data") else { return reader.skipValue() }
                guard let value = reader.rawValue() else { return false }
                data = ByteBuffer(bytes: value)
                return true
            }
        }
        return isWhole ? data : nil
    }
}
