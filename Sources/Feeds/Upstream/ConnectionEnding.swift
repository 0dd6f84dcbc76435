import WebSocket

/// The cause of a connection's end, before ``UpstreamFailure`` describes it.
enum ConnectionEnding {
    case closed(WebSocketClosure)
    case failed(any Error)
    case silent(nanoseconds: Int64)
    /// Ended by this program because symbols no longer trade.
    case stale(SymbolSilence)
    case inactive

    /// The code of the close frame, if there was one.
    var closeCode: UInt16? {
        guard case .closed(let closure) = self else { return nil }
        return closure.code.map { UInt16($0.rawValue) }
    }

    /// The reason in the service's close frame, if the service began the closing handshake.
    var goodbye: String? {
        guard case .closed(let closure) = self, closure.cause == .peerClosed else { return nil }
        return closure.reason
    }
}
