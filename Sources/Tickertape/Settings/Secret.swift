/// A text that must not be seen: prints, logs, dumps and interpolations show only that it is there.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The text itself, for the one place that sends it.
    package func reveal() -> String { self.text }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }

    /// Empty, since `dump` and test failures look through `description`.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
