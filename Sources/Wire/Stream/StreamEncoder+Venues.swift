package import Market
package import NIOCore

extension StreamEncoder {
    /// Writes `{"type":"settled",…}`: the outcome of a gap.
    ///
    /// `from`, `to` and `missing` are as in the gap's message. `lost` is a list of ranges, in the form of `missing`, of
    /// the trades that stay missing for good. `reason` says why; it is null if none is lost.
    package static func settled(_ outcome: GapOutcome, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "settled", number: number)
        Self.write(outcome, into: &out)
        return out.finish()
    }

    /// Writes the members of an outcome, for a separate message or as part of another object.
    package static func write(_ outcome: GapOutcome, into out: inout JSONWriter) {
        out.field("symbol", outcome.symbol)
        out.field("from", outcome.from / 1_000_000)
        out.field("to", outcome.to / 1_000_000)
        if let missing = outcome.missing { out.missing(missing) }
        out.array("lost") { out in for ids in outcome.lost { out.element { $0.ids(ids) } } }
        out.field("reason", outcome.reason)
    }

    /// Writes `{"type":"venueDay",…}`: a venue's own figures of a symbol's last 24 hours. `open` and `change` are present
    /// only if the venue publishes the price of 24 hours ago; `received` is our wall clock at the answer, in µs.
    package static func venueDay(_ day: VenueDay, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "venueDay", number: number)
        out.field("symbol", day.symbol)
        Self.write(day, into: &out)
        return out.finish()
    }

    /// Writes the figures, for a separate message or as part of another object.
    package static func write(_ day: VenueDay, into out: inout JSONWriter) {
        if let open = day.open { out.field("open", open) }
        out.field("high", day.high)
        out.field("low", day.low)
        out.field("last", day.last)
        if let change = day.change { out.field("change", change) }
        out.field("volume", day.volume)
        out.field("received", day.received / 1_000)
    }
}
