import Glibc
package import Market
import Platform
import Wire

/// Where alerts are told when nothing else is shown: a line each on standard error, as much as that takes without waiting.
package final class AlertErrors: Sendable {
    private let output: PollingOutput

    package init(_ descriptor: Int32 = STDERR_FILENO) {
        self.output = PollingOutput(descriptor)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Writes `alert: …`; from any thread, never waits.
    package func notify(_ alert: Alert) {
        _ = self.output.write(Array("alert: \(AlertText.line(alert))\n".utf8)[...])
    }
}
