/// The exact set of the trade numbers already written, by epoch, in any order.
///
/// Pieces of a recording come in any order, and halves cut by symbol interleave, so a number below the newest may still
/// be missing. The set has one bit a number, in blocks. A complete block needs no bits.
package struct WrittenTrades: Sendable {
    /// The largest number of incomplete blocks, each of 4,096 numbers: 268 million trades in 40 MB.
    package static let maximumParts = 1 << 16

    private struct Place: Hashable {
        var epoch: UInt64
        var span: UInt64
    }

    private struct Span {
        static let numbers: UInt64 = 4_096

        /// One bit a number; empty when all are written.
        var words: [UInt64]
        var count = 0

        var isWhole: Bool { self.words.isEmpty }

        func contains(_ bit: UInt64) -> Bool {
            self.isWhole || self.words[Int(bit / 64)] & (1 << (bit % 64)) != 0
        }

        /// Inserts a number; returns whether it is new.
        mutating func insert(_ bit: UInt64) -> Bool {
            guard !self.contains(bit) else { return false }
            self.words[Int(bit / 64)] |= 1 << (bit % 64)
            self.count += 1
            if self.count == Int(Self.numbers) { self.words = [] }
            return true
        }
    }

    private let maximumParts: Int
    private var stretches: [Place: Span] = [:]
    /// The number of incomplete blocks, and all blocks in the order in which they were begun.
    private var parts = 0
    private var begun: [Place] = []
    private var oldest = 0
    /// The number of blocks forgotten because there were too many. Their trades may be written again.
    package private(set) var forgotten = 0

    package init(maximumParts: Int = Self.maximumParts) { self.maximumParts = max(maximumParts, 1) }

    package func contains(_ number: UInt64, epoch: UInt64) -> Bool {
        let place = Place(epoch: epoch, span: number / Span.numbers)
        return self.stretches[place]?.contains(number % Span.numbers) ?? false
    }

    /// Returns whether this trade or the one before it is written.
    package func reaches(_ number: UInt64, epoch: UInt64) -> Bool {
        self.contains(number, epoch: epoch) || number > 0 && self.contains(number - 1, epoch: epoch)
    }

    /// Notes that a trade is written; returns whether it is new.
    package mutating func insert(_ number: UInt64, epoch: UInt64) -> Bool {
        let place = Place(epoch: epoch, span: number / Span.numbers)
        if self.stretches[place] == nil { self.begin(place) }
        let isNew = self.stretches[place]?.insert(number % Span.numbers) ?? true
        if isNew, self.stretches[place]?.isWhole == true { self.parts -= 1 }
        return isNew
    }

    private mutating func begin(_ place: Place) {
        while self.parts >= self.maximumParts, self.oldest < self.begun.count {
            let old = self.begun[self.oldest]
            self.oldest += 1
            guard self.stretches[old]?.isWhole == false else { continue }
            self.stretches[old] = nil
            self.parts -= 1
            self.forgotten += 1
        }
        if self.oldest > self.maximumParts {
            self.begun.removeFirst(self.oldest)
            self.oldest = 0
        }
        self.stretches[place] = Span(words: [UInt64](repeating: 0, count: Int(Span.numbers / 64)))
        self.begun.append(place)
        self.parts += 1
    }
}
