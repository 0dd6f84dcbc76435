import NIOConcurrencyHelpers

/// The output of warnings: standard error, or the screen once it is drawn, since a line would disturb it.
///
/// May be used on any thread; never blocks.
final class Warnings: Sendable {
    private let screen = NIOLockedValueBox<DisplayService?>(nil)
    private let said = NIOLockedValueBox<Set<String>>([])

    /// Sends all later warnings to `display` if it has a screen.
    func show(on display: DisplayService) {
        if display.isScreen { self.screen.withLockedValue { $0 = display } }
    }

    /// Prints a warning of one line, unless it was printed before: several feeds may meet the same cause.
    func warnOnce(_ text: String) {
        if self.said.withLockedValue({ $0.insert(text).inserted }) { self.warn(text) }
    }

    /// Prints a warning of one line.
    func warn(_ text: String) {
        if let screen = self.screen.withLockedValue({ $0 }) {
            screen.display.notice("warning: \(text)")
        } else {
            Console.printError("warning: \(text)")
        }
    }
}
