/// The terminal modes during the screen's life: the alternate screen, and bracketed paste, which tells pasted text from
/// keys (xterm's mode 2004).
package enum TerminalModes {
    package static let enter: [UInt8] = ScreenPainter.enter + Array("\u{1B}[?2004h".utf8)
    /// The sequence that enters the screen again. It omits what must be done once: saving the title twice would push
    /// the original off the terminal's stack.
    static let enterAgain: [UInt8] = ScreenPainter.enterAgain + Array("\u{1B}[?2004h".utf8)
    package static let leave: [UInt8] = Array("\u{1B}[?2004l".utf8) + ScreenPainter.leave
}
