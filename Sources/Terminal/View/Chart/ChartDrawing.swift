/// The characters in which a chart's dots are drawn.
enum ChartDrawing: Sendable, Equatable, CaseIterable {
    /// Patterns of round dots (Unicode, U+2800).
    case braille
    /// The same patterns as blocks, without space between them (Unicode 16, U+1CD00).
    case octants
    /// One column of dots, of which a character shows the kind and at most one height.
    case ascii

    /// The columns and the rows of dots in one character.
    var columns: Int { self == .ascii ? 1 : 2 }
    var rows: Int { self == .ascii ? 3 : 4 }

    /// Whether patterns of dots show hollow and hatched bodies. Otherwise characters do.
    var hasPatterns: Bool { self != .ascii }
}
