package import Market
package import NIOCore

/// A bar as a client gets it: with its symbol and width, and whether it is closed.
package struct PublishedBar: Sendable, Equatable {
    package var symbol: String
    package var width: BarWidth
    package var bar: Bar
    /// Whether the bar's period is over. A late trade can still change the bar, which is then sent again.
    package var isClosed: Bool
    /// Whether the bar was over before, and has changed since.
    package var isRevised: Bool

    package init(symbol: String, width: BarWidth, bar: Bar, isClosed: Bool, isRevised: Bool = false) {
        self.symbol = symbol
        self.width = width
        self.bar = bar
        self.isClosed = isClosed
        self.isRevised = isRevised
    }
}

/// The bars of `/v1/stream` and `/v1/bars`.
extension StreamEncoder {
    /// Writes `{"type":"bar",…}`: a symbol's trades within a period. `start` is ms since 1970 by the exchange's clock.
    package static func bar(_ reported: PublishedBar, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "bar", number: number)
        out.field("symbol", reported.symbol)
        out.field("width", reported.width.word)
        out.fields(of: reported.bar, isClosed: reported.isClosed)
        if reported.isRevised { out.field("revised", true) }
        return out.finish()
    }

    /// Writes a bar as an element of a list: the members of ``bar(_:number:)`` from `start` on.
    package static func barObject(_ bar: Bar, isClosed: Bool) -> ByteBuffer {
        var out = JSONWriter()
        out.fields(of: bar, isClosed: isClosed)
        return out.finish()
    }

    /// Writes `{"type":"subscribed",…}`: the answer to a subscription to bars.
    package static func subscribed(_ symbols: [String], bars: BarWidth, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "subscribed", number: number)
        out.field("symbols", symbols)
        out.field("delivery", "bars")
        out.field("bars", bars.word)
        return out.finish()
    }
}
