package import Market
package import NIOCore

/// The messages about a replay.
extension StreamEncoder {
    /// Writes `{"type":"replay",…}`: the replay's position after a request changed it.
    package static func replay(_ position: ReplayPosition, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "replay", number: number)
        Self.write(position, into: &out)
        return out.finish()
    }

    /// Writes the same as a member of another object.
    package static func replayObject(_ position: ReplayPosition) -> ByteBuffer {
        var out = JSONWriter()
        Self.write(position, into: &out)
        return out.finish()
    }

    /// Writes the position. Times are the recording's own wall clock, ms since 1970. Without an end, `end` and
    /// `percent` are null. `speed` is `"max"` for as fast as possible.
    private static func write(_ position: ReplayPosition, into out: inout JSONWriter) {
        out.field("start", position.start / 1_000_000)
        out.field("end", position.hasEnd ? Int(position.end / 1_000_000) : nil)
        out.field("at", position.at / 1_000_000)
        let percent = position.hasEnd ? "\((position.percent * 100).rounded() / 100)" : "null"
        out.field("percent", json: ByteBuffer(string: percent))
        let speed = position.speed.flatMap { $0.isFinite ? "\($0)" : nil } ?? "\"max\""
        out.field("speed", json: ByteBuffer(string: speed))
        out.field("paused", position.isPaused)
    }
}
