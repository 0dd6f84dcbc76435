/// The input from a terminal.
enum TerminalInput: Sendable, Equatable {
    case key(TerminalKey)
    case mouse(TerminalMouse)
    /// Pasted text without control characters, its lines joined by blanks.
    case pasted(String)
    /// An answer to a query.
    case answer(TerminalAnswer)
}
