package import NIOHTTP1
package import Wire

/// The protocols that a mock server speaks.
package struct MockProtocols: Sendable {
    /// All of them. A path that several own belongs to the first of those that a server speaks.
    private static let all: [any MockProtocol] = [BinanceMock(), KrakenMock(), CoinbaseMock(), FinnhubMock()]

    /// The protocols of one server; never empty.
    private let spoken: [any MockProtocol]

    /// Chooses the protocols of some dialects; Finnhub's without any that a mock server speaks.
    package init(_ dialects: Set<FrameDialect>) {
        let spoken = Self.all.filter { dialects.contains($0.dialect) }
        self.spoken = spoken.isEmpty ? [FinnhubMock()] : spoken
    }

    /// Returns the protocol of a dialect; `nil` for one that no mock server speaks.
    package static func of(_ dialect: FrameDialect) -> (any MockProtocol)? {
        Self.all.first { $0.dialect == dialect }
    }

    /// Returns the protocol of a request. A path that no protocol owns belongs to the only one, or the last.
    package func of(_ head: HTTPRequestHead) -> any MockProtocol {
        self.spoken.first { $0.owns(head) } ?? self.spoken[self.spoken.count - 1]
    }
}

extension FrameDialect {
    /// The dialect of the connection on which a mock server plays a recorded frame. Another Tickertape's trades come on
    /// Finnhub's: this program's own feed gets them as they were recorded, and other clients in Finnhub's format.
    var played: FrameDialect { self == .tickertape ? .finnhub : self.ofConnection }
}
