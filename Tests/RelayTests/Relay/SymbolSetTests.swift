import Market
import Testing
import Wire
@testable import Relay

@Suite("A set of symbols")
struct SymbolSetTests {
    /// Enough symbols for the inline word and two more words.
    private let symbols: [SymbolID]

    init() {
        var table = SymbolTable()
        var symbols: [SymbolID] = []
        for number in 0..<150 {
            if let symbol = table.intern("S\(number)") { symbols.append(symbol) }
        }
        self.symbols = symbols
    }

    private func set(_ members: Set<Int>) -> SymbolSet {
        var set = SymbolSet()
        for member in members { set.insert(self.symbols[member]) }
        return set
    }

    @Test("equals a set of the same members, whichever words these are in")
    func isASet() throws {
        try #require(self.symbols.count == 150)
        var random = SeededGenerator(seed: 11)
        let ranges = [0..<10, 0..<64, 60..<70, 64..<128, 0..<150, 140..<150]
        for left in ranges {
            for right in ranges {
                for _ in 0..<10 {
                    let first = Set(left.filter { _ in Bool.random(using: &random) })
                    let second = Set(right.filter { _ in Bool.random(using: &random) })
                    let (one, other) = (self.set(first), self.set(second))
                    #expect(one.union(other) == self.set(first.union(second)))
                    #expect(one.intersection(other) == self.set(first.intersection(second)))
                    #expect(one.subtracting(other) == self.set(first.subtracting(second)))
                    #expect(one.subtracting(one).isEmpty && one.isEmpty == first.isEmpty)
                    #expect((0..<150).filter { one.contains(self.symbols[$0]) } == first.sorted())
                }
            }
        }
    }
}
