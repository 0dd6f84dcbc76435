package import Market
package import NIOCore

extension StreamEncoder {
    /// Writes `{"type":"settled",…}`: what became of a gap whose missing trades have ids. `missing` is as in the gap's
    /// message; `lost` is a list of ranges, strings of digits, of the trades that stay missing for good, and `reason`
    /// says why, or is null if none is lost.
    package static func settled(_ outcome: GapOutcome) -> ByteBuffer {
        var out = JSONWriter(type: "settled", number: nil)
        out.field("symbol", outcome.symbol)
        out.field("from", outcome.from / 1_000_000)
        out.field("to", outcome.to / 1_000_000)
        out.missing(outcome.missing)
        var lost = ByteBuffer(string: "[")
        for (index, ids) in outcome.lost.enumerated() {
            var range = JSONWriter()
            range.field("first", "\(ids.lowerBound)")
            range.field("last", "\(ids.upperBound)")
            if index > 0 { lost.writeStaticString(",") }
            lost.writeImmutableBuffer(range.finish())
        }
        lost.writeStaticString("]")
        out.field("lost", json: lost)
        out.field("reason", outcome.reason)
        return out.finish()
    }
}
