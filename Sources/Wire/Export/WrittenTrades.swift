/// Which numbers of trades have been written, by their epochs: exactly, in whatever order they come.
///
/// Pieces of a recording come in any order, and halves by symbol interleave, so that a number below the newest need not have
/// come before. A bit is kept for each number, in stretches; a stretch all of which is written needs none.
package struct WrittenTrades: Sendable {
    /// So many stretches that are written in part are remembered, each of 4,096 numbers: those of 268 million trades, in 40 MB.
    package static let mostParts = 1 << 16

    private struct Place: Hashable {
        var epoch: UInt64
        var stretch: UInt64
    }

    private struct Stretch {
        static let numbers: UInt64 = 4_096

        /// A bit a number; empty where all are written.
        var words: [UInt64]
        var count = 0

        var isWhole: Bool { self.words.isEmpty }

        func contains(_ bit: UInt64) -> Bool {
            self.isWhole || self.words[Int(bit / 64)] & (1 << (bit % 64)) != 0
        }

        /// Returns whether it is new.
        mutating func insert(_ bit: UInt64) -> Bool {
            guard !self.contains(bit) else { return false }
            self.words[Int(bit / 64)] |= 1 << (bit % 64)
            self.count += 1
            if self.count == Int(Self.numbers) { self.words = [] }
            return true
        }
    }

    private let mostParts: Int
    private var stretches: [Place: Stretch] = [:]
    /// Those of which something is missing, and all in the order in which they were begun.
    private var parts = 0
    private var begun: [Place] = []
    private var oldest = 0
    /// Stretches that were forgotten, as there were too many: what is in them may be written again.
    package private(set) var forgotten = 0

    package init(mostParts: Int = Self.mostParts) { self.mostParts = max(mostParts, 1) }

    package func contains(_ number: UInt64, epoch: UInt64) -> Bool {
        let place = Place(epoch: epoch, stretch: number / Stretch.numbers)
        return self.stretches[place]?.contains(number % Stretch.numbers) ?? false
    }

    /// Whether the trade is written, or the one before it.
    package func reaches(_ number: UInt64, epoch: UInt64) -> Bool {
        self.contains(number, epoch: epoch) || number > 0 && self.contains(number - 1, epoch: epoch)
    }

    /// Notes that a trade is written; returns whether it was not before.
    package mutating func insert(_ number: UInt64, epoch: UInt64) -> Bool {
        let place = Place(epoch: epoch, stretch: number / Stretch.numbers)
        if self.stretches[place] == nil { self.begin(place) }
        let isNew = self.stretches[place]?.insert(number % Stretch.numbers) ?? true
        if isNew, self.stretches[place]?.isWhole == true { self.parts -= 1 }
        return isNew
    }

    private mutating func begin(_ place: Place) {
        while self.parts >= self.mostParts, self.oldest < self.begun.count {
            let old = self.begun[self.oldest]
            self.oldest += 1
            guard self.stretches[old]?.isWhole == false else { continue }
            self.stretches[old] = nil
            self.parts -= 1
            self.forgotten += 1
        }
        if self.oldest > self.mostParts {
            self.begun.removeFirst(self.oldest)
            self.oldest = 0
        }
        self.stretches[place] = Stretch(words: [UInt64](repeating: 0, count: Int(Stretch.numbers / 64)))
        self.begun.append(place)
        self.parts += 1
    }
}
