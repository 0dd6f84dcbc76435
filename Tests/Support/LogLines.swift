package import Logging
import NIOConcurrencyHelpers

/// The log entries, one a line: level, message, metadata sorted by name.
package final class LogLines: Sendable {
    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            self.lines.values.withLockedValue { $0.append("\(event.level) \(event.message)\(facts.joined())") }
        }
    }

    private let values = NIOLockedValueBox<[String]>([])

    package init() {}

    package var all: [String] { self.values.withLockedValue { $0 } }

    package var handler: any LogHandler { Handler(lines: self) }
}
