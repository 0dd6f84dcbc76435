package import TLS

/// The end of a TLS handshake with the upstream, for whoever counts them.
package enum UpstreamHandshake: Sendable {
    /// It was completed, in so many ns.
    case completed(TLSSession, nanoseconds: Int64)
    /// It was not.
    case failed
}
