/// The answers of a terminal.
struct TerminalAnswers: Sendable, Equatable {
    /// The background; `nil` without an answer.
    var background: ScreenPalette.Background?
    /// Whether it supports synchronised output; `nil` without an answer.
    var synchronises: Bool?
    /// Whether the last answer has arrived.
    var isComplete = false

    /// The queries: synchronised output (DECRQM for mode 2026), the background's colour (`OSC 11`), and the device
    /// attributes (DA1).
    ///
    /// Every terminal answers DA1. It comes last, so that its answer ends the wait for terminals that ignore the
    /// others.
    static let questions: [UInt8] = Array("\u{1B}[?2026$p\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8)

    mutating func take(_ answer: TerminalAnswer) {
        switch answer {
        case .background(let background): self.background = background
        case .synchronises(let synchronises): self.synchronises = synchronises
        case .attributes: self.isComplete = true
        }
    }
}
