import NIOConcurrencyHelpers

/// A way to warn that is taken once: what fails again and again is told of once.
final class OneWarning: Sendable {
    private let warn: @Sendable (String) -> Void
    private let isTold = NIOLockedValueBox(false)

    init(_ warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    func tell(_ text: String) {
        let isFirst = self.isTold.withLockedValue { isTold in
            defer { isTold = true }
            return !isTold
        }
        if isFirst { self.warn(text) }
    }
}
