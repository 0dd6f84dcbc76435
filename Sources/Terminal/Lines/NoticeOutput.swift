/// The output of the notices beside the lines of a ``LinePrinter``, such as a gap: the program's standard error.
package struct NoticeOutput: Sendable {
    /// Whether a person reads the notices at a terminal, which also takes a bell.
    let isTerminal: Bool
    /// Takes whole lines, each with its LF. Never waits for their reader.
    let write: @Sendable (String) -> Void

    package init(isTerminal: Bool, write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }
}
