/// Whose words a frame is in: nothing outside a dialect's own folders parses its bytes or passes them on.
package enum FrameDialect: UInt8, Sendable {
    case finnhub
    /// Tickertape's own, as on `/v1/stream`.
    case tickertape
}
