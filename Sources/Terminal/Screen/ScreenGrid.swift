import Market

/// The look of a cell, by meaning; the painter maps it to colours.
struct CellStyle: Sendable, Hashable {
    /// The meaning of a colour. Never the only carrier of that meaning.
    enum Ink: UInt8, Sendable, CaseIterable {
        case plain
        case rising
        case falling
        case good
        case warning
        case alarm
        /// The selection, and headings.
        case accent
        /// A chart's axes, and other minor elements.
        case faint
        /// The person's own colours of symbols.
        case violet
        case magenta
        case grey
    }

    struct Attributes: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        init(rawValue: UInt8) { self.rawValue = rawValue }

        static let bold = Attributes(rawValue: 1)
        static let dim = Attributes(rawValue: 2)
        static let struck = Attributes(rawValue: 4)
        static let reversed = Attributes(rawValue: 8)
        /// On a tint of its ink: a recent change.
        static let flash = Attributes(rawValue: 16)
        /// In a darker tone of its ink, and in one darker still: the area of a chart.
        static let shaded = Attributes(rawValue: 32)
        static let deep = Attributes(rawValue: 64)
    }

    var ink: Ink
    var attributes: Attributes
    /// The number of the link in the grid that the text belongs to, from 1; 0 for none.
    var link: UInt16 = 0

    init(_ ink: Ink = .plain, _ attributes: Attributes = []) {
        self.ink = ink
        self.attributes = attributes
    }

    static let plain = CellStyle()
}

/// A terminal's screen as a value: `rows` lines of `columns` cells.
package struct ScreenGrid: Sendable, Equatable {
    /// The columns and lines of a terminal.
    package struct Size: Sendable, Equatable {
        /// More than any screen has; bounds the memory, whatever size the terminal reports.
        static let largest = Size(columns: 1_000, rows: 400)

        package var columns: Int
        package var rows: Int

        /// Returns a size within `1×1` and `largest`.
        static func bounded(columns: Int, rows: Int) -> Size {
            Size(columns: min(max(columns, 1), largest.columns), rows: min(max(rows, 1), largest.rows))
        }

        package init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    let size: Size
    private(set) var cells: [Cell]
    /// The links of cells, by their numbers less one.
    private(set) var links: [ScreenLink] = []
    /// The terminal's title, without control characters; `nil` leaves it alone.
    var title: String?

    init(size: Size) {
        self.size = Size.bounded(columns: size.columns, rows: size.rows)
        self.cells = Array(repeating: .blank, count: self.size.columns * self.size.rows)
    }

    subscript(row: Int, column: Int) -> Cell {
        self.cells[row * self.size.columns + column]
    }

    /// The number of more links than a screen has lines.
    private static let mostLinks = 400

    /// Adds a link; returns its number for ``CellStyle/link``, 0 if there are too many.
    mutating func add(_ link: ScreenLink) -> UInt16 {
        if let known = self.links.firstIndex(of: link) { return UInt16(known + 1) }
        guard self.links.count < Self.mostLinks else { return 0 }
        self.links.append(link)
        return UInt16(self.links.count)
    }

    /// Returns the grid with unknown links: its linked cells equal those of no other grid.
    func forgettingLinks() -> ScreenGrid {
        var grid = self
        for index in grid.cells.indices where grid.cells[index].style.link != 0 { grid.cells[index].style.link = .max }
        return grid
    }

    /// Writes `text` from `column` on, cut with an ellipsis at `limit` columns or the right edge; returns the columns
    /// used.
    @discardableResult
    mutating func put(
        _ text: String,
        row: Int,
        column: Int,
        limit: Int = .max,
        style: CellStyle = .plain,
        glyphs: ScreenGlyphs = .unicode
    ) -> Int {
        guard row >= 0, row < self.size.rows, column >= 0, column < self.size.columns else { return 0 }
        var at = row * self.size.columns + column
        let start = at
        let columns = min(limit, self.size.columns - column)
        if let used = self.putPlain(text, at: at, columns: columns, style: style) { return used }
        if glyphs == .unicode, let used = self.putNarrow(text, at: at, columns: columns, style: style) { return used }
        for unit in ScreenText.units(text, columns: columns, glyphs: glyphs) {
            self.cells[at] = Cell(text: unit.text, width: UInt8(unit.width), style: style)
            if unit.width == 2 { self.cells[at + 1] = Cell(text: "", width: 0, style: style) }
            at += unit.width
        }
        return at - start
    }

    /// Writes ASCII text that fits, which nearly all text does, without splitting it into units; `nil` for any other.
    private mutating func putPlain(_ text: String, at start: Int, columns: Int, style: CellStyle) -> Int? {
        let used = text.utf8.withContiguousStorageIfAvailable { bytes -> Int? in
            guard bytes.count <= columns else { return nil }
            for byte in bytes where byte < 0x20 || byte >= 0x7F { return nil }
            self.cells.withUnsafeMutableBufferPointer { cells in
                for (place, byte) in bytes.enumerated() {
                    cells[start + place] = Cell(Unicode.Scalar(byte), style: style)
                }
            }
            return bytes.count
        }
        return used ?? nil
    }

    /// Writes text of ASCII, blocks and dots that fits, without splitting it into units; `nil` for any other.
    private mutating func putNarrow(_ text: String, at start: Int, columns: Int, style: CellStyle) -> Int? {
        guard let width = ScreenText.narrowWidth(of: text), width <= columns else { return nil }
        var at = start
        for scalar in text.unicodeScalars {
            self.cells[at] = Cell(scalar, style: style)
            at += 1
        }
        return at - start
    }

    /// Writes one character of one column; does nothing outside the screen.
    mutating func set(_ text: String, row: Int, column: Int, style: CellStyle) {
        guard row >= 0, row < self.size.rows, column >= 0, column < self.size.columns else { return }
        self.cells[row * self.size.columns + column] = Cell(text: text, width: 1, style: style)
    }

    /// Adds an attribute to existing cells; ignores those outside the screen.
    mutating func add(_ attribute: CellStyle.Attributes, row: Int, columns: Range<Int>) {
        guard row >= 0, row < self.size.rows else { return }
        for column in columns.clamped(to: 0..<self.size.columns) {
            self.cells[row * self.size.columns + column].style.attributes.insert(attribute)
        }
    }

    /// Calls `body` with the cells of all lines, line by line.
    func withCells<Result>(_ body: (UnsafeBufferPointer<Cell>) -> Result) -> Result {
        self.cells.withUnsafeBufferPointer(body)
    }

    /// Returns the text of a line without its trailing blanks; for tests and for copying.
    func line(_ row: Int) -> String {
        var text = ""
        for column in 0..<self.size.columns { text += self[row, column].text }
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}
