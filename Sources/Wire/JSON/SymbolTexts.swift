package import Market
package import NIOCore

/// The names of one feed's symbols as messages have them, each encoded once.
package struct SymbolTexts {
    private let encode: (_ name: String, _ out: inout ByteBuffer) -> Void
    private var texts: [ByteBuffer] = []

    /// - Parameter encode: writes a name; by default as a JSON string.
    package init(_ encode: @escaping (String, inout ByteBuffer) -> Void = { JSONText.escape($0, into: &$1) }) {
        self.encode = encode
    }

    /// Forgets which symbol each number means; the next epoch assigns the numbers anew.
    package mutating func epochBegan() { self.texts = [] }

    package mutating func text(of symbol: SymbolID, in table: SymbolTable) -> ByteBuffer {
        while self.texts.count <= Int(symbol.index) {
            var text = ByteBuffer()
            self.encode(table.names[self.texts.count], &text)
            self.texts.append(text)
        }
        return self.texts[Int(symbol.index)]
    }
}
