/// The bytes that turn one screen into another.
///
/// Pure: the old grid and the new one in, one write out. Only cells that differ are sent, and nothing at all when none
/// does.
package struct ScreenPainter: Sendable {
    /// Whether colours are used; attributes such as dim are no colours and stay (no-color.org).
    package var colour: Bool

    package init(colour: Bool) {
        self.colour = colour
    }

    /// Enters the alternate screen: no cursor, and no wrapping should the terminal shrink under a frame.
    package static let enter: [UInt8] = Array("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[0m\u{1B}[2J".utf8)
    /// Leaves everything as it was found; also closes a synchronised frame that was cut short.
    package static let leave: [UInt8] = Array("\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l".utf8)

    private static let frameStart: [UInt8] = Array("\u{1B}[?2026h".utf8)
    private static let frameEnd: [UInt8] = Array("\u{1B}[0m\u{1B}[?2026l".utf8)
    /// Unchanged cells that are cheaper to send again than to jump over.
    private static let bridge = 4

    /// The bytes after which a terminal that shows `old` shows `new`; a missing or other-sized `old` means unknown.
    package func bytes(from old: ScreenGrid?, to new: ScreenGrid) -> [UInt8] {
        var bytes = Self.frameStart
        let known: ScreenGrid
        if let old, old.size == new.size {
            known = old
        } else {
            bytes += Array("\u{1B}[0m\u{1B}[2J".utf8)
            known = ScreenGrid(size: new.size)
        }
        let emptyCount = bytes.count
        var style = CellStyle.plain
        for row in 0..<new.size.rows {
            self.appendRow(row, from: known, to: new, style: &style, into: &bytes)
        }
        if bytes.count == emptyCount, old?.size == new.size { return [] }
        bytes += Self.frameEnd
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
            bytes += self.select(cell.style)
            style = cell.style
        }
        bytes += Array(cell.text.utf8)
    }

    private func select(_ style: CellStyle) -> [UInt8] {
        var codes = "0"
        if style.attributes.contains(.bold) { codes += ";1" }
        if style.attributes.contains(.dim) { codes += ";2" }
        if style.attributes.contains(.reversed) { codes += ";7" }
        if style.attributes.contains(.struck) { codes += ";9" }
        if self.colour {
            switch style.ink {
            case .plain: break
            case .rising, .good: codes += ";32"
            case .falling, .alarm: codes += ";31"
            case .warning: codes += ";33"
            }
        }
        return Array("\u{1B}[\(codes)m".utf8)
    }
}
