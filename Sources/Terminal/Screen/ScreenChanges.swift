/// The writes that turn one screen into another of the same size.
struct ScreenChanges {
    /// Adjacent cells of one line in one style.
    struct Run: Equatable {
        var row: Int
        var columns: Range<Int>
        var style: CellStyle
    }

    /// The runs of lines with a character whose width may differ between terminals. They are written in order, each
    /// after an absolute cursor movement.
    private(set) var careful: [Run] = []
    /// The runs of all other lines, in the order of the screen; they can be written in any order.
    private(set) var free: [Run] = []

    var isEmpty: Bool { self.careful.isEmpty && self.free.isEmpty }

    /// Returns how many bytes the movement over a number of cells in a line takes (``CursorMove``).
    private static func jump(_ cells: Int) -> Int { cells <= 1 ? 3 : 4 }

    init(from old: ScreenGrid, to new: ScreenGrid) {
        let columns = new.size.columns
        old.withCells { old in
            new.withCells { new in
                guard old.count == new.count else { return }
                for row in 0..<(columns > 0 ? new.count / columns : 0) {
                    let cells = (row * columns)..<((row + 1) * columns)
                    guard let first = cells.first(where: { old[$0] != new[$0] }) else { continue }
                    let line = UnsafeBufferPointer(rebasing: new[cells])
                    let before = UnsafeBufferPointer(rebasing: old[cells])
                    if line.allSatisfy(\.isSimple), before.allSatisfy(\.isSimple) {
                        self.takeFree(row, before, line, from: first - cells.lowerBound)
                    } else {
                        self.takeCareful(row, before, line)
                    }
                }
            }
        }
    }

    private mutating func takeFree(
        _ row: Int,
        _ old: UnsafeBufferPointer<ScreenGrid.Cell>,
        _ new: UnsafeBufferPointer<ScreenGrid.Cell>,
        from first: Int
    ) {
        var column = first
        while column < new.count {
            guard old[column] != new[column] else {
                column += 1
                continue
            }
            let start = column
            let style = new[column].style
            var end = column + 1
            // Unchanged cells are written again where that takes fewer bytes than moving over them.
            var next = end
            var bridge = 0
            while next < new.count, new[next].style == style, bridge < Self.jump(next - end) {
                if old[next] != new[next] {
                    end = next + 1
                    bridge = 0
                } else {
                    bridge += new[next].byteCount
                }
                next += 1
            }
            self.free.append(Run(row: row, columns: start..<end, style: style))
            column = end
        }
    }

    /// Takes each character as a run. The one behind a changed character of uncertain width is written, too: the change
    /// may have covered it.
    private mutating func takeCareful(
        _ row: Int,
        _ old: UnsafeBufferPointer<ScreenGrid.Cell>,
        _ new: UnsafeBufferPointer<ScreenGrid.Cell>
    ) {
        var column = 0
        while column < new.count {
            let end = min(column + max(Int(new[column].width), 1), new.count)
            let differs = (column..<end).contains { old[$0] != new[$0] }
            let isSpilled = column > 0 && !old[column - 1].isSimple && old[column - 1] != new[column - 1]
            if differs || isSpilled {
                self.careful.append(Run(row: row, columns: column..<end, style: new[column].style))
            }
            column = end
        }
    }
}
