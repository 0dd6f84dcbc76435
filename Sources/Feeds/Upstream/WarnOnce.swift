import NIOConcurrencyHelpers

/// A warning that is issued once, however often its cause returns.
final class WarnOnce: Sendable {
    private let warn: @Sendable (String) -> Void
    private let isReported = NIOLockedValueBox(false)

    init(_ warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    func notify(_ text: String) {
        let isFirst = self.isReported.withLockedValue { isReported in
            defer { isReported = true }
            return !isReported
        }
        if isFirst { self.warn(text) }
    }
}
