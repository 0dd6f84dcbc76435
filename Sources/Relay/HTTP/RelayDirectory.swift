package import Wire

/// Finnhub's headlines and symbols, queried by HTTP requests off the relay's loop.
package struct RelayDirectory: Sendable {
    package var headlines: @Sendable (DirectoryQuery) async -> Result<FoundHeadlines, ServiceFailure>
    package var symbols: @Sendable (DirectoryQuery) async -> Result<FoundSymbols, ServiceFailure>
    /// Returns ns since 1970, by the clock of the failures' times.
    package var wallClock: @Sendable () -> Int64

    package init(
        headlines: @escaping @Sendable (DirectoryQuery) async -> Result<FoundHeadlines, ServiceFailure>,
        symbols: @escaping @Sendable (DirectoryQuery) async -> Result<FoundSymbols, ServiceFailure>,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.headlines = headlines
        self.symbols = symbols
        self.wallClock = wallClock
    }
}
