import Market
@testable import Terminal

/// A minimal terminal emulator for ``ScreenPainter``: cursor, clearing, styles, wide characters, no wrapping.
///
/// `strange` lists everything that the painter must not send.
struct TerminalEmulator {
    private(set) var columns: Int
    private(set) var rows: Int
    private(set) var cells: [[ScreenGrid.Cell]]
    private(set) var strange: [String] = []
    private(set) var cellsWritten = 0
    private(set) var title: String?
    /// The address of the open link, and of the link of each cell that has one.
    private var link: String?
    private(set) var links: [[String?]]
    private var row = 0
    private var column = 0
    private var isBehindEdge = false
    private var style = TerminalRendition()
    /// The rendition of each cell.
    private(set) var styles: [[TerminalRendition]]

    init(size: ScreenGrid.Size) {
        self.columns = size.columns
        self.rows = size.rows
        self.cells = Array(repeating: Array(repeating: .blank, count: size.columns), count: size.rows)
        self.links = Array(repeating: Array(repeating: nil, count: size.columns), count: size.rows)
        self.styles = Array(repeating: Array(repeating: TerminalRendition(), count: size.columns), count: size.rows)
    }

    var text: [String] { self.cells.map { $0.map(\.text).joined() } }

    mutating func feed(_ bytes: [UInt8]) {
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            if scalar == "\r" || scalar == "\u{8}" {
                self.move(0, scalar == "\r" ? -self.column : -1)
                continue
            }
            guard scalar == "\u{1B}" else {
                self.put(scalar)
                continue
            }
            let kind = scalars.popFirst()
            if self.link != nil, kind != "]" { self.strange.append("a link that does not end with its text") }
            if kind == "]" {
                self.takeTitle(&scalars)
                continue
            }
            guard kind == "[" else {
                self.strange.append("an escape that is no control sequence")
                continue
            }
            var parameters = ""
            while let next = scalars.popFirst() {
                if next.value >= 0x40 {
                    self.obey(next, parameters)
                    break
                }
                parameters.unicodeScalars.append(next)
            }
        }
        if self.link != nil { self.strange.append("a link that is left open") }
    }

    /// `ESC ] 2 ; text ESC \`, or a link.
    private mutating func takeTitle(_ scalars: inout ArraySlice<Unicode.Scalar>) {
        var text = ""
        while let scalar = scalars.popFirst(), scalar != "\u{1B}" { text.unicodeScalars.append(scalar) }
        let isEnded = scalars.popFirst() == "\\"
        if isEnded, text.hasPrefix("8;") { return self.takeLink(text.dropFirst(2)) }
        guard isEnded, text.hasPrefix("2;"), self.link == nil else {
            self.strange.append("a command that is no title")
            return
        }
        self.title = String(text.dropFirst(2))
    }

    /// `ESC ] 8 ; parameters ; address ESC \`, without an address at the end of a link.
    private mutating func takeLink(_ text: Substring) {
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].isEmpty != (self.link == nil) else {
            self.strange.append("a link in a link, or an end without a beginning")
            return
        }
        let address = String(parts[1])
        guard address.isEmpty || ScreenLink(address)?.address == address && parts[0].hasPrefix("id=") else {
            self.strange.append("a link to \(address)")
            return
        }
        self.link = address.isEmpty ? nil : address
    }

    private mutating func obey(_ final: Unicode.Scalar, _ parameters: String) {
        switch (final, parameters) {
        case ("H", _):
            let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 1 }
            guard let row = numbers.first, case let column = numbers.count == 2 ? numbers[1] : 1,
                1...self.rows ~= row, 1...self.columns ~= column
            else {
                self.strange.append("cursor to \(parameters)")
                return
            }
            (self.row, self.column) = (row - 1, column - 1)
            self.isBehindEdge = false
        case ("A", _): self.move(-(Int(parameters) ?? 1), 0)
        case ("B", _): self.move(Int(parameters) ?? 1, 0)
        case ("C", _): self.move(0, Int(parameters) ?? 1)
        case ("D", _): self.move(0, -(Int(parameters) ?? 1))
        case ("J", "2"):
            let title = self.title
            self = TerminalEmulator(size: .init(columns: self.columns, rows: self.rows))
            self.title = title
        case ("m", _): self.style.take(parameters)
        case ("h", "?2026"), ("l", "?2026"): break
        default: self.strange.append("\(parameters)\(final)")
        }
    }

    private mutating func move(_ rows: Int, _ columns: Int) {
        // Terminals disagree about the cursor's position after the last column.
        if self.isBehindEdge { self.strange.append("a step from behind the edge") }
        guard 0..<self.rows ~= self.row + rows, 0..<self.columns ~= self.column + columns else {
            self.strange.append("a step over the edge")
            return
        }
        self.row += rows
        self.column += columns
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
            self.strange.append("control character \(scalar.value)")
            return
        }
        let unit = ScreenText.units(String(Character(scalar)), columns: 2)
        // A combining mark alone forms no unit.
        if unit.isEmpty, self.column > 0 {
            let at = self.cells[self.row][self.column - 1].width == 0 ? self.column - 2 : self.column - 1
            self.cells[self.row][at].text.unicodeScalars.append(scalar)
            return
        }
        let width = unit.first?.width ?? 1
        guard self.column + width <= self.columns else {
            self.strange.append("written past the right edge")
            return
        }
        self.cellsWritten += 1
        // Overwriting half of a wide character leaves a blank, as on real terminals.
        if self.cells[self.row][self.column].width == 0, self.column > 0 {
            self.cells[self.row][self.column - 1] = .blank
        }
        let end = self.column + width
        if end < self.columns, self.cells[self.row][end].width == 0 { self.cells[self.row][end] = .blank }
        self.cells[self.row][self.column] = .init(text: String(Character(scalar)), width: UInt8(width), style: .plain)
        self.styles[self.row][self.column] = self.style
        self.links[self.row][self.column] = self.link
        if width == 2 {
            self.cells[self.row][self.column + 1] = .init(text: "", width: 0, style: .plain)
            self.styles[self.row][self.column + 1] = self.style
            self.links[self.row][self.column + 1] = self.link
        }
        self.column = end
        self.isBehindEdge = end == self.columns
    }
}

/// The rendition of a character, from the parameters of all `SGR` sequences so far.
struct TerminalRendition: Equatable {
    private(set) var attributes: Set<Int> = []
    private(set) var ink: [Int] = []
    private(set) var ground: [Int] = []
    private(set) var strange: [Int] = []

    init() {}

    init(_ parameters: String) { self.take(parameters) }

    mutating func take(_ parameters: String) {
        var numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }[...]
        while let number = numbers.popFirst() {
            switch number {
            case 0: self = TerminalRendition()
            case 1, 2, 7, 9: self.attributes.insert(number)
            case 22: self.attributes.subtract([1, 2])
            case 27, 29: self.attributes.remove(number - 20)
            case 30...37, 90...97: self.ink = [number]
            case 39: self.ink = []
            case 49: self.ground = []
            case 38, 48:
                let rest = numbers.first == 5 ? numbers.prefix(2) : numbers.prefix(4)
                numbers = numbers.dropFirst(rest.count)
                if number == 38 { self.ink = Array(rest) } else { self.ground = Array(rest) }
            default: self.strange.append(number)
            }
        }
    }
}
