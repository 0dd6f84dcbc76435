import Feeds
import Market

extension Assembly {
    /// Follows the market until it is stopped, or the bundled recording when there is no key.
    ///
    /// - Parameter wantsDemo: whether the recording is asked for, with or without a key.
    package static func run(_ settings: Settings, wantsDemo: Bool = false) async throws {
        EarlyStop.take()
        guard let token = settings.token, !wantsDemo else {
            // Whoever wants one price of the market must not take the demo's for it.
            guard wantsDemo || !settings.display.isOnce else {
                throw OperatorError(
                    "no key is set, so there is no price to print: set FINNHUB_TOKEN, or use --token-file; --demo prints the "
                        + "bundled recording's",
                    status: .configuration
                )
            }
            try await Self.demo(settings, isAsked: wantsDemo)
            return
        }
        var settings = settings
        let watchlist =
            DisplayPart.format(settings) == .tui
            ? KeptWatchlist(settings) { Console.complain("warning: \($0)") } : nil
        if let watchlist { settings.finnhub.symbols = watchlist.load() }
        var program = TickerProgram(settings: settings, feed: try settings.liveFeed(token: token))
        program.watchlist = watchlist
        try await program.run()
    }

    /// Replays the bundled recording over and over, marked as what it is.
    ///
    /// - Parameter isAsked: whether somebody wants it, and it is not there in place of the market.
    static func demo(_ settings: Settings, isAsked: Bool) async throws {
        guard let path = BundledRecording.path else {
            throw OperatorError(
                "\(isAsked ? "" : "no key is set, and ")the bundled recording is missing: set FINNHUB_TOKEN, or reinstall "
                    + "the program with its resources",
                status: .failure
            )
        }
        if !settings.display.isQuiet, !isAsked {
            Console.complain("no key is set: this is the bundled recording (DEMO); set FINNHUB_TOKEN for live prices")
        }
        let recording = try OperatorError.opening(recording: path)
        var replay = InnerReplay(settings: settings, material: .recording(recording), speed: 1, source: .demo)
        replay.repeats = true
        try await replay.run()
    }
}
