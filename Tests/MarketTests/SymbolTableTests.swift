import Market
import Testing

@Suite struct SymbolTableTests {
    @Test("a name keeps its number, and a copy keeps its own names")
    func numbering() {
        var table = SymbolTable()
        let first = table.intern("BINANCE:BTCUSDT")
        let copy = table
        let second = table.intern("IC MARKETS:1")
        #expect(first == SymbolID(index: 0))
        #expect(second == SymbolID(index: 1))
        let again = table.intern("BINANCE:BTCUSDT")
        #expect(again == first)
        #expect(table.id(of: "IC MARKETS:1") == second)
        #expect(copy.id(of: "IC MARKETS:1") == nil)
        #expect(table.names == ["BINANCE:BTCUSDT", "IC MARKETS:1"])
        #expect(copy.count == 1)
    }

    @Test("a full table takes no more names, and finds all it has")
    func full() {
        var table = SymbolTable()
        for number in 0..<SymbolTable.capacity { _ = table.intern("VENUE:SYMBOL\(number)") }
        let oneMore = table.intern("VENUE:ONE-MORE")
        #expect(oneMore == nil)
        for number in 0..<SymbolTable.capacity {
            #expect(table.id(of: "VENUE:SYMBOL\(number)")?.index == UInt16(number))
        }
    }

    @Test("an empty, a too long and a broken name get no number")
    func refused() {
        var table = SymbolTable()
        let longest = String(repeating: "A", count: SymbolTable.maximumNameLength)
        let broken: [UInt8] = [0x41, 0xFF]
        let ids = [table.intern(""), table.intern(longest + "A"), broken.withUnsafeBytes { table.intern(utf8: $0) }]
        #expect(ids == [nil, nil, nil])
        let held = table.intern(longest)
        #expect(held != nil)
    }

    @Test("a name of any length is recognised by its bytes and its quotation mark, and by nothing less")
    func matching() {
        var table = SymbolTable()
        let names = (1...40).map { length in String("BINANCE:ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".prefix(length)) }
        for name in names { _ = table.intern(name) }
        for (index, name) in names.enumerated() {
            let bytes = Array(name.utf8) + Array("\",\"t\":".utf8) + [UInt8](repeating: 0x20, count: 32)
            bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                let isKnownLength = (7...31).contains(name.utf8.count)
                for other in names.indices {
                    let length = table.matchQuoted(other, at: start)
                    #expect(length == (other == index && isKnownLength ? name.utf8.count + 1 : 0))
                }
                #expect(table.findQuoted(at: start)?.index == (isKnownLength ? index : nil))
            }
        }
    }
}
