import WebSocket

/// Why a connection ended, before it is put into words (``UpstreamFailure``).
enum ConnectionEnding {
    case closed(WebSocketClosure)
    case failed(any Error)
    case silent(nanoseconds: Int64)
    /// Given up for symbols that do not trade.
    case stale(SymbolSilence)
    case inactive

    /// The code of the close frame, if there was one.
    var closeCode: UInt16? {
        guard case .closed(let closure) = self else { return nil }
        return closure.code.map { UInt16($0.rawValue) }
    }

    /// The reason in the service's close frame, where the service ended the connection with one.
    var goodbye: String? {
        guard case .closed(let closure) = self, closure.cause == .peerClosed else { return nil }
        return closure.reason
    }
}
