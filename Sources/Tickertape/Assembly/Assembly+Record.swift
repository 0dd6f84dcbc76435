import Feeds

extension Assembly {
    /// Follows the market and writes what comes to `record.file`, or to a new file in `record.directory`.
    package static func record(_ settings: Settings) async throws {
        EarlyStop.take()
        guard let token = settings.token else {
            throw OperatorError(
                "record needs a key: set FINNHUB_TOKEN, or use --token-file",
                status: .configuration
            )
        }
        var settings = settings
        if settings.record.file == nil {
            settings.record.file = RecordingName.makeNew(in: settings.record.directory, at: WallClock.now())
        }
        try await TickerProgram(settings: settings, feed: try settings.liveFeed(token: token)).run()
    }
}
