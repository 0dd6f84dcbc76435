package import Market
package import NIOCore

/// What the stand-in tells the program that it is a part of where the recording has a gap: that trades may be missing here.
///
/// A text frame of the stand-in's own, in order with the others, `{"type":"replay-gap",…}`; other clients never get it.
package struct RecordedGapMark: Sendable, Equatable {
    /// Nobody's reason is longer, in bytes of the whole frame.
    private static let longest = 16 << 10
    private static let beginning = Array(#"{"type":"replay-gap","from":"#.utf8)

    /// By the recording's own clock; its numbers are of the tape that was recorded.
    package var gap: Gap

    package init(_ gap: Gap) { self.gap = gap }

    /// The mark as text.
    package func encoded() -> ByteBuffer {
        var out = ByteBuffer(bytes: Self.beginning)
        JSONText.write(self.gap.from, into: &out)
        out.writeStaticString(",\"to\":")
        JSONText.write(self.gap.to, into: &out)
        if let overlap = self.gap.overlap {
            out.writeStaticString(",\"overlap\":")
            JSONText.write(overlap, into: &out)
        }
        if let bounds = self.gap.overlapBounds {
            out.writeStaticString(",\"overlapLeast\":")
            JSONText.write(bounds.least, into: &out)
            out.writeStaticString(",\"overlapMost\":")
            JSONText.write(bounds.most, into: &out)
        }
        if let symbol = self.gap.symbol {
            out.writeStaticString(",\"symbol\":")
            JSONText.escape(symbol, into: &out)
        }
        out.writeStaticString(",\"reason\":")
        JSONText.escape(Self.start(of: self.gap.reason), into: &out)
        out.writeStaticString("}")
        return out
    }

    /// The first thousand bytes of a text, of whole characters of Unicode: a single letter may have any number of accents.
    private static func start(of text: String) -> String {
        guard text.utf8.count > 1_000 else { return text }
        var bytes = 0
        let scalars = text.unicodeScalars.prefix { scalar in
            bytes += UTF8.width(scalar)
            return bytes <= 1_000
        }
        return String(scalars)
    }

    /// Reads a mark; `nil` for every other frame, of which it looks at a few bytes only.
    package init?(_ frame: ByteBuffer) {
        guard frame.readableBytes > Self.beginning.count, frame.readableBytes < Self.longest,
            frame.readableBytesView.starts(with: Self.beginning)
        else { return nil }
        let gap: Gap? = frame.withUnsafeReadableBytes { bytes in
            var gap = Gap(from: 0, to: 0, reason: "", nextSequence: 0)
            var bounds = OverlapNumbers()
            let isWhole = JSONReader.wholeObject(bytes) { key, reader in
                let kind = reader.kind()
                if key.equals("reason") || key.equals("symbol"), kind == .string {
                    guard let text = reader.string()?.text else { return false }
                    if key.equals("reason") { gap.reason = text } else { gap.symbol = text }
                } else if kind == .number, let number = reader.integer() {
                    if key.equals("from") { gap.from = number }
                    if key.equals("to") { gap.to = number }
                    if key.equals("overlap") { gap.overlap = Int(exactly: number) }
                    _ = bounds.take(key, number)
                } else {
                    return reader.skipValue()
                }
                return true
            }
            gap.overlapBounds = bounds.bounds
            return isWhole ? gap : nil
        }
        guard let gap else { return nil }
        self.gap = gap
    }
}
