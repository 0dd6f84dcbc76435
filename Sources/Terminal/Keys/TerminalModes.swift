/// What is switched on in the terminal while the screen is ours, and off again behind it: the alternate screen, and pasted
/// text in brackets, so that it is known from keys (xterm's mode 2004).
package enum TerminalModes {
    package static let enter: [UInt8] = ScreenPainter.enter + Array("\u{1B}[?2004h".utf8)
    /// The same without what must be done once: the title of before would be pushed off the terminal's stack by our own.
    static let enterAgain: [UInt8] = ScreenPainter.enterAgain + Array("\u{1B}[?2004h".utf8)
    package static let leave: [UInt8] = Array("\u{1B}[?2004l".utf8) + ScreenPainter.leave
}
