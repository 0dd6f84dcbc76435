/// The encoder of the bytes that turn one screen into another.
///
/// The bytes depend on the old grid and the new one only. Only cells that differ are sent; equal screens give no bytes. The
/// order of the runs minimizes the bytes: cells of one style together, and short cursor movements.
struct ScreenPainter: Sendable {
    /// The changes between styles that have occurred.
    private var changes: StyleChanges
    /// Whether frames are synchronised (private mode 2026). A terminal that does not know the mode ignores it; it is
    /// left out only where the terminal has reported that.
    var synchronises: Bool

    init(palette: ScreenPalette, synchronises: Bool = true) {
        self.changes = StyleChanges(palette)
        self.synchronises = synchronises
    }

    /// The inks' colours. Attributes such as dim are not colours and remain without them (no-color.org).
    var palette: ScreenPalette { self.changes.palette }

    /// Enters the alternate screen: saves the title on the terminal's stack (xterm's `CSI 22 t`), hides the cursor, and
    /// turns wrapping off, in case the terminal shrinks during a frame.
    static let enter: [UInt8] = Array("\u{1B}[?1049h\u{1B}[22;0t".utf8) + Self.inside
    /// The same on a terminal that other programs may have used meanwhile; its stack already has the title.
    static let enterAgain: [UInt8] = Array("\u{1B}[?1049h".utf8) + Self.inside
    private static let inside: [UInt8] = Array("\u{1B}[?25l\u{1B}[?7l\u{1B}[0m\u{1B}[2J".utf8)
    /// Restores the terminal; also ends a synchronised frame, and a title, that were cut short.
    static let leave: [UInt8] = Array(
        "\u{1B}\\\u{1B}[?2026l\u{1B}[23;0t\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l".utf8
    )

    private static let frameStart: [UInt8] = Array("\u{1B}[?2026h".utf8)
    private static let frameEnd: [UInt8] = Array("\u{1B}[?2026l".utf8)
    /// How many pending runs are compared to choose the next.
    private static let lookahead = 48

    /// Returns the bytes that turn `old` into `new` on the terminal. Without `old`, or with one of another size, the
    /// screen is cleared first.
    mutating func bytes(from old: ScreenGrid?, to new: ScreenGrid) -> [UInt8] {
        var bytes = self.synchronises ? Self.frameStart : []
        let known: ScreenGrid
        if let old, old.size == new.size {
            // The numbers of other links mean other addresses.
            known = old.links == new.links ? old : old.forgettingLinks()
        } else {
            bytes += Array("\u{1B}[0m\u{1B}[2J".utf8)
            known = ScreenGrid(size: new.size)
        }
        let emptyCount = bytes.count
        if let title = new.title, title != old?.title { bytes += Array("\u{1B}]2;\(title)\u{1B}\\".utf8) }
        let changes = ScreenChanges(from: known, to: new)
        if bytes.count == emptyCount, changes.isEmpty, old?.size == new.size { return [] }
        var pen = Pen(changes: self.changes, size: new.size, links: new.links)
        new.withCells { cells in
            for run in changes.careful {
                pen.write(Pen.Stroke(run, style: pen.number(of: run.style)), of: cells, into: &bytes)
                pen.place = nil
            }
            Self.write(changes.free, of: cells, with: &pen, into: &bytes)
        }
        pen.select(pen.number(of: .plain), into: &bytes)
        self.changes = pen.changes
        if self.synchronises { bytes += Self.frameEnd }
        return bytes
    }

    /// Writes the runs; chooses each time the one that needs the fewest bytes.
    private static func write(
        _ runs: [ScreenChanges.Run],
        of cells: UnsafeBufferPointer<ScreenGrid.Cell>,
        with pen: inout Pen,
        into bytes: inout [UInt8]
    ) {
        var near = runs.prefix(Self.lookahead).map { Pen.Stroke($0, style: pen.number(of: $0.style)) }
        var next = near.count
        while !near.isEmpty {
            var best = 0
            var least = Int.max
            for index in near.indices {
                if let cost = pen.cost(of: near[index], below: least) { (best, least) = (index, cost) }
            }
            pen.write(near.remove(at: best), of: cells, into: &bytes)
            if next < runs.count {
                near.append(Pen.Stroke(runs[next], style: pen.number(of: runs[next].style)))
                next += 1
            }
        }
    }
}

/// The cursor and the style of a terminal while a frame is written.
private struct Pen {
    /// A run with the number of its style.
    struct Stroke {
        let run: ScreenChanges.Run
        let style: Int

        init(_ run: ScreenChanges.Run, style: Int) {
            self.run = run
            self.style = style
        }

        var start: CursorMove.Place { CursorMove.Place(row: self.run.row, column: self.run.columns.lowerBound) }
    }

    private let size: ScreenGrid.Size
    private let links: [ScreenLink]
    /// The cursor's place; `nil` where it is uncertain.
    var place: CursorMove.Place?
    private(set) var changes: StyleChanges
    /// The number of the present style.
    private var style: Int

    init(changes: StyleChanges, size: ScreenGrid.Size, links: [ScreenLink]) {
        self.changes = changes
        self.style = self.changes.number(of: .plain)
        self.size = size
        self.links = links
    }

    mutating func number(of style: CellStyle) -> Int { self.changes.number(of: style) }

    /// Returns how many bytes are needed before the run's text; `nil` if they are not fewer than `limit`.
    mutating func cost(of stroke: Stroke, below limit: Int) -> Int? {
        let change = stroke.style == self.style ? 0 : self.changes.length(from: self.style, to: stroke.style)
        guard change < limit else { return nil }
        let cost = CursorMove.length(from: self.place, to: stroke.start) + change
        return cost < limit ? cost : nil
    }

    mutating func write(
        _ stroke: Stroke,
        of cells: UnsafeBufferPointer<ScreenGrid.Cell>,
        into bytes: inout [UInt8]
    ) {
        let run = stroke.run
        if self.place != stroke.start { CursorMove.append(from: self.place, to: stroke.start, into: &bytes) }
        self.select(stroke.style, into: &bytes)
        // A link ends with the run, and so with the line.
        let number = run.style.link
        let link = number > 0 && Int(number) <= self.links.count ? self.links[Int(number) - 1] : nil
        if let link { bytes += link.start(number) }
        defer { if link != nil { bytes += ScreenLink.end } }
        var isCertain = true
        for column in run.columns {
            let cell = cells[run.row * self.size.columns + column]
            cell.append(to: &bytes)
            isCertain = isCertain && cell.isNarrow
        }
        // Terminals disagree about the cursor's place behind the last column.
        let end = run.columns.upperBound
        self.place = isCertain && end < self.size.columns ? CursorMove.Place(row: run.row, column: end) : nil
    }

    mutating func select(_ style: Int, into bytes: inout [UInt8]) {
        guard style != self.style else { return }
        bytes += self.changes.bytes(from: self.style, to: style)
        self.style = style
    }
}
