import NIOConcurrencyHelpers

/// The way of warnings to the person: standard error, or the picture once there is one, which a line would tear.
///
/// From any thread; returns at once.
final class Warnings: Sendable {
    private let screen = NIOLockedValueBox<DisplayService?>(nil)

    /// Puts all later warnings into the picture, where `display` has one.
    func show(on display: DisplayService) {
        if display.isScreen { self.screen.withLockedValue { $0 = display } }
    }

    /// Warns in one line.
    func warn(_ text: String) {
        if let screen = self.screen.withLockedValue({ $0 }) {
            screen.display.notice("warning: \(text)")
        } else {
            Console.complain("warning: \(text)")
        }
    }

    /// Warns in one line of what goes to the log, and not into the picture.
    func log(_ text: String) {
        if let screen = self.screen.withLockedValue({ $0 }) {
            screen.logger.warning("A warning", metadata: ["text": "\(text)"])
        } else {
            Console.complain("warning: \(text)")
        }
    }
}
