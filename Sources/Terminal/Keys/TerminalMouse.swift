/// An action of the mouse, as a terminal reports it in xterm's SGR encoding (modes 1000 and 1006).
struct TerminalMouse: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// The left button was pressed.
        case press
        case wheelUp
        case wheelDown
    }

    var kind: Kind
    /// The place, from 0. A hostile terminal may report one outside the screen.
    var row: Int
    var column: Int

    init(_ kind: Kind, row: Int, column: Int) {
        self.kind = kind
        self.row = row
        self.column = column
    }

    /// Parses the numbers of `ESC [ < button ; column ; row M`. A release, another button, a movement, and a click with
    /// Shift, Alt or Ctrl have no meaning.
    init?(final: UInt8, numbers: [Int]) {
        guard final == UInt8(ascii: "M"), numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
        let kind: Kind? =
            switch numbers[0] {
            case 0: .press
            case 64: .wheelUp
            case 65: .wheelDown
            default: nil
            }
        guard let kind else { return nil }
        self.init(kind, row: numbers[2] - 1, column: numbers[1] - 1)
    }
}

/// A part of one line of the screen on which a click acts.
struct ClickArea: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// Selects the symbol, or opens it if it is selected.
        case symbol(String)
        /// Sorts by this, or reverses the order.
        case order(DisplayOrder)
        /// Opens the tab of a group, or that of all symbols.
        case group(Int?)
        /// Closes the open symbol.
        case back
    }

    var row: Int
    var columns: Range<Int>
    var action: Action
}
