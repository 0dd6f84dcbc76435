package import Market
package import NIOCore

/// What the stand-in tells the program that it is a part of before a frame: which of its trades may have come before.
///
/// Equal frames say nothing any more once they are cut to fewer symbols, and the clock of a fast replay nothing of two seconds;
/// so the recording is asked, and not the frames that arrive. A text frame of the stand-in's own, in order with the others,
/// `{"type":"replay-repeats",…}`; other clients never get it.
package struct RecordedRepeatMark: Sendable, Equatable {
    private static let beginning = Array(#"{"type":"replay-repeats","places":["#.utf8)
    /// No frame that is marked has more trades, or the mark is for its first ones.
    private static let most = 4_096

    /// The places among the frame's trades, ascending.
    package var places: [Int]

    /// The mark for a frame with these trades; `nil` where none is suspected.
    package init?(of trades: [Trade]) {
        let places = trades.indices.filter { trades[$0].marks.contains(.possibleRepeat) }
        guard !places.isEmpty else { return nil }
        self.places = Array(places.prefix(Self.most))
    }

    /// The mark as text.
    package func encoded() -> ByteBuffer {
        var out = ByteBuffer(bytes: Self.beginning)
        for (index, place) in self.places.enumerated() {
            if index > 0 { out.writeStaticString(",") }
            JSONText.write(place, into: &out)
        }
        out.writeStaticString("]}")
        return out
    }

    /// Reads a mark; `nil` for every other frame, of which it looks at a few bytes only.
    package init?(_ frame: ByteBuffer) {
        guard frame.readableBytes > Self.beginning.count, frame.readableBytesView.starts(with: Self.beginning) else {
            return nil
        }
        let places = frame.readableBytesView.dropFirst(Self.beginning.count).dropLast(2)
            .split(separator: UInt8(ascii: ","))
            .map { Int(String(decoding: $0, as: UTF8.self)) }
        guard places.count <= Self.most, places.allSatisfy({ $0 ?? -1 >= 0 }) else { return nil }
        self.places = places.compactMap(\.self)
    }
}
