import Market
package import NIOCore

/// What the stand-in tells the program that it is a part of, between the frames of a replay: that the replay goes on at
/// another place, another speed, or not at all for now.
///
/// A text frame of the stand-in's own, in order with the others, `{"type":"replay",…}`; other clients never get it.
package struct ReplayMark: Sendable, Equatable {
    /// Where it was before, where it has been moved: the recording's wall clock, ns since 1970.
    package var movedFrom: Int64?
    package var at: Int64
    /// As ``ReplayRequest/speed(_:)``.
    package var speed: Double?
    package var isPaused: Bool

    package init(movedFrom: Int64?, at: Int64, speed: Double?, isPaused: Bool) {
        self.movedFrom = movedFrom
        self.at = at
        self.speed = speed
        self.isPaused = isPaused
    }

    private static let beginning = Array(#"{"type":"replay","at":"#.utf8)

    /// The mark as text.
    package func encoded() -> ByteBuffer {
        var out = ByteBuffer(bytes: Self.beginning)
        JSONText.write(self.at, into: &out)
        if let movedFrom {
            out.writeStaticString(",\"from\":")
            JSONText.write(movedFrom, into: &out)
        }
        if let speed, speed.isFinite { out.writeString(",\"speed\":\(speed)") }
        out.writeStaticString(self.isPaused ? ",\"paused\":true}" : ",\"paused\":false}")
        return out
    }

    /// Reads a mark; `nil` for every other frame, of which it looks at a few bytes only.
    package init?(_ frame: ByteBuffer) {
        guard frame.readableBytes > Self.beginning.count, frame.readableBytes < 256,
            frame.readableBytesView.starts(with: Self.beginning)
        else { return nil }
        let mark: ReplayMark? = frame.withUnsafeReadableBytes { bytes in
            var mark = ReplayMark(movedFrom: nil, at: 0, speed: nil, isPaused: false)
            let isWhole = JSONReader.wholeObject(bytes) { key, reader in
                if key.equals("at"), let at = reader.integer() {
                    mark.at = at
                } else if key.equals("from"), let from = reader.integer() {
                    mark.movedFrom = from
                } else if key.equals("speed"), let speed = reader.rawValue() {
                    mark.speed = Double(String(decoding: speed, as: UTF8.self))
                } else if key.equals("paused"), let word = reader.literal() {
                    mark.isPaused = word == UInt8(ascii: "t")
                } else {
                    return reader.skipValue()
                }
                return true
            }
            return isWhole ? mark : nil
        }
        guard let mark else { return nil }
        self = mark
    }
}
