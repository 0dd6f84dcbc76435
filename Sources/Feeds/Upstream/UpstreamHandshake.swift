package import TLS

/// The end of a TLS handshake with the upstream, for the metrics.
package enum UpstreamHandshake: Sendable {
    /// It was completed after this time.
    case completed(TLSSession, nanoseconds: Int64)
    /// It failed.
    case failed
}
