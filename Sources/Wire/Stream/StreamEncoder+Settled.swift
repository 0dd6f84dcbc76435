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
        out.array("lost") { out in for ids in outcome.lost { out.element { $0.ends(of: ids) } } }
        out.field("reason", outcome.reason)
        return out.finish()
    }
}
