/// A text that equals only one of the same bytes, as URIs and keys do. Two `String`s are equal, too, if they are
/// canonically equivalent.
struct WAMPText: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (first: WAMPText, second: WAMPText) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // As for a `String`, so that no two texts in a row have the bytes of others.
        hasher.combine(0xFF as UInt8)
    }
}
