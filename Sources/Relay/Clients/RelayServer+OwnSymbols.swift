import NIOCore

/// What becomes of the program's own wish for a symbol, which shares the places upstream with those of the relay's clients.
package enum OwnSymbolAnswer: Sendable, Equatable {
    /// It is there, or asked for.
    case accepted
    /// All places are taken.
    case full
    /// No such symbol can exist.
    case invalid
}

extension RelayServer {
    /// Wants a symbol for the program itself, as for its screen. From any thread.
    package func adopt(_ symbol: String) async -> OwnSymbolAnswer {
        let answer = try? await self.onHub { $0.adopt(symbol) }
        return switch answer {
        case .known, .demand: .accepted
        case .full: .full
        // The loop has gone, and everything with it.
        case .invalid, nil: .invalid
        }
    }

    /// Wants a symbol for the program itself no more; it stays for as long as a client wants it. From any thread.
    package func disown(_ symbol: String) async {
        _ = try? await self.onHub { $0.disown(symbol) }
    }
}
