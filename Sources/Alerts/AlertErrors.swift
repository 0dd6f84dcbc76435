import Glibc
package import Market
import Platform
import Wire

/// The output of alerts in a program without a screen: a line for each on standard error, as far as it takes bytes
/// without waiting.
package final class AlertErrors: Sendable {
    private let output: PollingOutput

    package init(_ descriptor: Int32 = STDERR_FILENO) {
        self.output = PollingOutput(descriptor)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Writes `alert: …`. May be called on any thread; never waits.
    package func notify(_ alert: Alert) {
        _ = self.output.write(Array("alert: \(AlertText.line(alert))\n".utf8)[...])
    }
}
