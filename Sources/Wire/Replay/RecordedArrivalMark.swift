import Market
package import NIOCore

/// What the stand-in tells the program that it is a part of in front of a frame with trades that are ahead: when the frame
/// arrived as it was recorded.
///
/// A text frame of the stand-in's own, in order with the others, `{"type":"replay-arrival","at":…}`; other clients never get it.
package struct RecordedArrivalMark: Sendable, Equatable {
    private static let beginning = Array(#"{"type":"replay-arrival","at":"#.utf8)

    /// The arrival by the exchange's clock, ns since 1970.
    package var arrival: Int64

    package init(arrival: Int64) { self.arrival = arrival }

    /// The mark as text.
    package func encoded() -> ByteBuffer {
        var out = ByteBuffer(bytes: Self.beginning)
        JSONText.write(self.arrival, into: &out)
        out.writeStaticString("}")
        return out
    }

    /// Reads a mark; `nil` for every other frame, of which it looks at a few bytes only.
    package init?(_ frame: ByteBuffer) {
        guard frame.readableBytes > Self.beginning.count, frame.readableBytes < 64,
            frame.readableBytesView.starts(with: Self.beginning)
        else { return nil }
        let arrival: Int64? = frame.withUnsafeReadableBytes { bytes in
            var arrival: Int64?
            let isWhole = JSONReader.wholeObject(bytes) { key, reader in
                guard key.equals("at"), let number = reader.integer() else { return reader.skipValue() }
                arrival = number
                return true
            }
            return isWhole ? arrival : nil
        }
        guard let arrival else { return nil }
        self.arrival = arrival
    }
}
