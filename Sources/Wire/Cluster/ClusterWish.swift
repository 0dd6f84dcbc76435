package import NIOCore

/// The symbols that an edge wants: `{"type":"wanted","instance":…,"symbols":[…]}`. Each message of a program replaces
/// its message before. The edge's name is a part of the subject.
///
/// An edge repeats it (``interval``), and an ingest forgets an edge that does not (``lifetime``). It is a request, which
/// a ``ClusterWishAnswer`` answers.
package struct ClusterWish: Sendable, Equatable {
    /// The time between two messages of an edge whose wishes do not change.
    package static let interval: TimeAmount = .seconds(5)
    /// The time after the last message for which an edge's symbols stay wanted.
    package static let lifetime: TimeAmount = .seconds(15)
    /// The most symbols of one edge; an ingest takes no further ones.
    package static let maximumSymbols = 1_024
    /// The largest ``instance``.
    package static let maximumInstance = ClusterPosition.maximumEpoch

    /// A random number that tells two programs with one name apart.
    package var instance: UInt64
    package var symbols: [String]

    package init(instance: UInt64, symbols: [String]) {
        self.instance = instance
        self.symbols = symbols
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "wanted")
        out.field("instance", self.instance)
        out.field("symbols", self.symbols)
        return out.finish()
    }

    /// Reads a text, with ``maximumSymbols`` at most; `nil` if it is no message of an edge.
    package static func parse(_ text: ByteBuffer) -> ClusterWish? {
        guard let head = ClusterHead(text), head.type == "wanted", let instance = head.instance,
            let symbols = head.symbols
        else { return nil }
        return ClusterWish(instance: instance, symbols: Array(symbols.prefix(Self.maximumSymbols)))
    }
}

/// The answer to a ``ClusterWish``: `{"type":"wanted","full":[…],"invalid":[…]}`, the symbols to which the ingest does
/// not subscribe for this edge.
package struct ClusterWishAnswer: Sendable, Equatable {
    /// The symbols for which there is no place.
    package var full: [String]
    /// The symbols that no upstream of the ingest has.
    package var invalid: [String]

    package init(full: [String] = [], invalid: [String] = []) {
        self.full = full
        self.invalid = invalid
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "wanted")
        out.field("full", self.full)
        out.field("invalid", self.invalid)
        return out.finish()
    }

    /// Reads a text; `nil` if it is no such answer.
    package static func parse(_ text: ByteBuffer) -> ClusterWishAnswer? {
        guard let head = ClusterHead(text), head.type == "wanted", let full = head.full, let invalid = head.invalid
        else { return nil }
        return ClusterWishAnswer(full: full, invalid: invalid)
    }
}
