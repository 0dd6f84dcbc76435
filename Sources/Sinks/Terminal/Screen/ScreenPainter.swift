/// The bytes that turn one screen into another.
///
/// Pure: the old grid and the new one in, one write out. Only cells that differ are sent, and nothing at all when none
/// does.
package struct ScreenPainter: Sendable {
    /// What the inks become. Attributes such as dim are no colours and stay without them (no-color.org).
    package var palette: ScreenPalette
    /// Whether frames are synchronised (private mode 2026). A terminal that does not know the mode ignores it, so it is left
    /// out only where one has said that it does not know it.
    package var synchronises: Bool

    package init(palette: ScreenPalette, synchronises: Bool = true) {
        self.palette = palette
        self.synchronises = synchronises
    }

    /// Enters the alternate screen: the title is kept on the terminal's stack (xterm's `CSI 22 t`), no cursor, and no
    /// wrapping should the terminal shrink under a frame.
    package static let enter: [UInt8] = Array(
        "\u{1B}[?1049h\u{1B}[22;0t\u{1B}[?25l\u{1B}[?7l\u{1B}[0m\u{1B}[2J".utf8
    )
    /// Leaves everything as it was found; also closes a synchronised frame that was cut short, and a title.
    package static let leave: [UInt8] = Array(
        "\u{1B}\\\u{1B}[?2026l\u{1B}[23;0t\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l".utf8
    )

    private static let frameStart: [UInt8] = Array("\u{1B}[?2026h".utf8)
    private static let frameEnd: [UInt8] = Array("\u{1B}[?2026l".utf8)
    private static let plain: [UInt8] = Array("\u{1B}[0m".utf8)
    /// Unchanged cells that are cheaper to send again than to jump over.
    private static let bridge = 4

    /// The bytes after which a terminal that shows `old` shows `new`; a missing or other-sized `old` means unknown.
    package func bytes(from old: ScreenGrid?, to new: ScreenGrid) -> [UInt8] {
        var bytes = self.synchronises ? Self.frameStart : []
        let known: ScreenGrid
        if let old, old.size == new.size {
            known = old
        } else {
            bytes += Array("\u{1B}[0m\u{1B}[2J".utf8)
            known = ScreenGrid(size: new.size)
        }
        let emptyCount = bytes.count
        if let title = new.title, title != old?.title { bytes += Array("\u{1B}]2;\(title)\u{1B}\\".utf8) }
        var style = CellStyle.plain
        for row in 0..<new.size.rows {
            self.appendRow(row, from: known, to: new, style: &style, into: &bytes)
        }
        if bytes.count == emptyCount, old?.size == new.size { return [] }
        if style != .plain { bytes += Self.plain }
        if self.synchronises { bytes += Self.frameEnd }
        return bytes
    }

    private func appendRow(
        _ row: Int,
        from old: ScreenGrid,
        to new: ScreenGrid,
        style: inout CellStyle,
        into bytes: inout [UInt8]
    ) {
        let columns = new.size.columns
        // Where the cursor stands for certain, in this row.
        var cursor: Int? = nil
        var column = 0
        while column < columns {
            let cell = new[row, column]
            let width = max(Int(cell.width), 1)
            guard self.differs(row: row, column: column, width: width, old, new) else {
                column += width
                continue
            }
            if let at = cursor, at < column, column - at <= Self.bridge, self.isBridge(row, at..<column, new) {
                for index in at..<column { self.append(new[row, index], style: &style, into: &bytes) }
            } else if cursor != column {
                bytes += Array("\u{1B}[\(row + 1);\(column + 1)H".utf8)
            }
            self.append(cell, style: &style, into: &bytes)
            column += width
            // Terminals disagree about the width of rare characters, so the position is stated anew behind one.
            cursor = Self.isSimple(cell) ? column : nil
        }
    }

    private func differs(row: Int, column: Int, width: Int, _ old: ScreenGrid, _ new: ScreenGrid) -> Bool {
        for index in column..<min(column + width, new.size.columns) where old[row, index] != new[row, index] {
            return true
        }
        // A terminal may have let a rare character spill over its right neighbour.
        return column > 0 && !Self.isSimple(old[row, column - 1]) && old[row, column - 1] != new[row, column - 1]
    }

    private func isBridge(_ row: Int, _ columns: Range<Int>, _ grid: ScreenGrid) -> Bool {
        columns.allSatisfy { Self.isSimple(grid[row, $0]) }
    }

    private static func isSimple(_ cell: ScreenGrid.Cell) -> Bool {
        cell.width == 1 && cell.text.unicodeScalars.count == 1
    }

    private func append(_ cell: ScreenGrid.Cell, style: inout CellStyle, into bytes: inout [UInt8]) {
        if cell.style != style {
            bytes += Array("\u{1B}[\(self.palette.codes(cell.style))m".utf8)
            style = cell.style
        }
        bytes += Array(cell.text.utf8)
    }
}
