/// The keys that the display knows.
package enum TerminalKey: Sendable, Equatable {
    /// `q` or Ctrl-C.
    case quit
    /// Ctrl-Z.
    case suspend
    /// Ctrl-\, which asks for an end with a core dump.
    case abort
    /// Ctrl-L: draw everything anew.
    case redraw
}

/// A terminal's input, byte by byte, as keys; escape sequences are swallowed whole, so that no key inside one acts.
package struct TerminalKeys: Sendable {
    private enum State {
        case ground
        case escape
        /// Within `ESC [` or `ESC O`, until the final byte.
        case control
    }

    private var state = State.ground

    package init() {}

    /// Takes one byte of input; gives the key that it completes.
    package mutating func took(_ byte: UInt8) -> TerminalKey? {
        switch self.state {
        case .ground:
            switch byte {
            case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03: return .quit
            case 0x1A: return .suspend
            case 0x1C: return .abort
            case 0x0C: return .redraw
            case 0x1B: self.state = .escape
            default: break
            }
        case .escape:
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"): self.state = .control
            case 0x1B: break
            // A bare Esc and a key typed after it look like Alt and the key. Ctrl-C must act at all times.
            case 0x03:
                self.state = .ground
                return .quit
            default: self.state = .ground
            }
        case .control:
            if byte == 0x03 {
                self.state = .ground
                return .quit
            }
            if byte == 0x1B {
                self.state = .escape
            } else if byte >= 0x40 {
                self.state = .ground
            }
        }
        return nil
    }
}
