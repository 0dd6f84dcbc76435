import Logging
import NIOConcurrencyHelpers

/// The output of warnings: standard error, or the screen once it is drawn, since a line would disturb it.
///
/// May be used on any thread; never blocks.
final class Warnings: Sendable {
    private let screen = NIOLockedValueBox<DisplayService?>(nil)
    private let said = NIOLockedValueBox<Set<String>>([])
    private let levels: @Sendable (LogPart) -> Logger.Level?
    private let print: @Sendable (String, LogPart) -> Void

    /// - Parameters:
    ///   - levels: the levels that were set for single parts; a part without one warns.
    ///   - print: takes a warning where no screen shows it.
    init(
        levels: @escaping @Sendable (LogPart) -> Logger.Level? = { _ in nil },
        print: @escaping @Sendable (String, LogPart) -> Void = { Console.printError("warning: \($0)", part: $1) }
    ) {
        self.levels = levels
        self.print = print
    }

    /// Sends all later warnings to `display` if it has a screen.
    func show(on display: DisplayService) {
        if display.isScreen { self.screen.withLockedValue { $0 = display } }
    }

    /// Prints a warning of one line, unless it was printed before: several feeds may meet the same cause.
    func warnOnce(_ text: String) {
        if self.said.withLockedValue({ $0.insert(text).inserted }) { self.warn(text) }
    }

    /// Prints a warning of one line.
    func warn(_ text: String) { self.warn(text, of: .program) }

    /// Returns the function that prints the warnings of a part.
    func warn(of part: LogPart) -> @Sendable (String) -> Void { { self.warn($0, of: part) } }

    private func warn(_ text: String, of part: LogPart) {
        if let level = self.levels(part), level > .warning { return }
        if let screen = self.screen.withLockedValue({ $0 }) {
            screen.display.notice("warning: \(text)")
        } else {
            self.print(text, part)
        }
    }
}
