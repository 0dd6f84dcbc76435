/// The terminal modes during the screen's life: the alternate screen, and bracketed paste, which tells pasted text from
/// keys (xterm's mode 2004).
package enum TerminalModes {
    package static let enter: [UInt8] = ScreenPainter.enter + Array("\u{1B}[?2004h".utf8)
    /// The sequence that enters the screen again. It omits what must be done once: saving the title twice would push
    /// the original off the terminal's stack.
    static let enterAgain: [UInt8] = ScreenPainter.enterAgain + Array("\u{1B}[?2004h".utf8)
    package static let leave: [UInt8] = Array("\u{1B}[?2004l".utf8) + Self.mouseOff + ScreenPainter.leave
    /// Reports of buttons and of the wheel (xterm's mode 1000), in decimal numbers (1006).
    static let mouseOn: [UInt8] = Array("\u{1B}[?1000h\u{1B}[?1006h".utf8)
    /// Part of ``leave``, which is ready for an end by a crash.
    static let mouseOff: [UInt8] = Array("\u{1B}[?1006l\u{1B}[?1000l".utf8)
}
