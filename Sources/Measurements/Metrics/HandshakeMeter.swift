import CoreMetrics
import NIOConcurrencyHelpers
package import TLS

/// The measurements of the TLS handshakes with the upstream.
package final class HandshakeMeter: Sendable {
    /// The result of the newest handshake.
    struct Newest: Sendable {
        var version: String
        var cipher: String
        var isVerified: Bool
        /// The expiry of the upstream's certificate, seconds since 1970.
        var certificateExpiry: Int64?
    }

    private let registry: MetricRegistry
    private let duration: LatencyHistogram
    private let newestHandshake = NIOLockedValueBox<Newest?>(nil)

    init(_ registry: MetricRegistry) {
        self.registry = registry
        self.duration = LatencyHistogram()
        registry.add(self.duration, label: MetricName.handshakeSeconds, dimensions: [])
    }

    /// Counts a completed handshake.
    package func completed(_ session: TLSSession, nanoseconds: Int64) {
        let version = session.version == .tls13 ? "1.3" : "1.2"
        self.count([("result", session.isResumed ? "resumed" : "full"), ("version", version)])
        self.duration.record(nanoseconds: nanoseconds)
        self.newestHandshake.withLockedValue {
            $0 = Newest(
                version: version,
                cipher: session.cipher,
                isVerified: session.isPeerVerified,
                certificateExpiry: session.certificateExpiry
            )
        }
    }

    /// Counts a failed handshake.
    package func failed() { self.count([("result", "failed"), ("version", "")]) }

    private func count(_ labels: [(String, String)]) {
        Counter(label: MetricName.handshakes, dimensions: labels, factory: self.registry).increment()
    }

    /// Writes the metrics of the newest connection; nothing before the first handshake.
    package func write(to out: inout PrometheusText) {
        guard let newest = self.newestHandshake.withLockedValue({ $0 }) else { return }
        out.family(
            "tickertape_tls_connection_info",
            .gauge,
            "1, labelled with the newest handshake's version and cipher."
        )
        out.sample("tickertape_tls_connection_info", [("version", newest.version), ("cipher", newest.cipher)], 1)
        out.single(
            "tickertape_tls_verified",
            .gauge,
            "1 when the upstream's certificate was checked and is good, 0 when it was not checked.",
            newest.isVerified ? 1 : 0
        )
        guard let expiry = newest.certificateExpiry else { return }
        out.single(
            "tickertape_tls_certificate_expiry_timestamp_seconds",
            .gauge,
            "When the upstream's certificate expires, seconds since 1970.",
            Double(expiry)
        )
    }
}
