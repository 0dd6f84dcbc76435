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
    /// `l`: open the latency pane, or close it.
    case latency
    /// Esc by itself: close what is open.
    case back
}

/// A terminal's input, byte by byte, as keys; escape sequences are swallowed whole, so that no key inside one acts.
package struct TerminalKeys: Sendable {
    private enum State {
        case ground
        case escape
        /// Within `ESC [` or `ESC O`, until the final byte.
        case control
        /// Behind an Esc that came alone and has been given out as a key.
        case escaped
    }

    private var state = State.ground

    package init() {}

    /// Takes one byte of input; gives the key that it completes.
    package mutating func took(_ byte: UInt8) -> TerminalKey? {
        switch self.state {
        case .ground:
            return self.plain(byte)
        case .escaped:
            // The rest of a sequence that was cut in half is swallowed; anything else is a key of its own.
            self.state = .ground
            guard byte != UInt8(ascii: "["), byte != UInt8(ascii: "O") else {
                self.state = .control
                return nil
            }
            return self.plain(byte)
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

    /// Notes that nothing more has been typed for now: an Esc at the end was a key by itself.
    package mutating func paused() -> TerminalKey? {
        switch self.state {
        case .escape:
            self.state = .escaped
            return .back
        case .ground, .control, .escaped: return nil
        }
    }

    private mutating func plain(_ byte: UInt8) -> TerminalKey? {
        switch byte {
        case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03: return .quit
        case UInt8(ascii: "l"), UInt8(ascii: "L"): return .latency
        case 0x1A: return .suspend
        case 0x1C: return .abort
        case 0x0C: return .redraw
        case 0x1B: self.state = .escape
        default: break
        }
        return nil
    }
}
