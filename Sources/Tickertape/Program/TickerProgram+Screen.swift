import Feeds
import Ingest
import Market

/// The keys of the program's screen.
extension TickerProgram {
    /// Has the keys of the screen carried out by the rest of the program.
    func connectKeys(
        of shown: DisplayPart?,
        to feed: FeedService,
        subscriptions: Subscriptions,
        alerts: AlertsPart
    ) {
        guard let shown else { return }
        if let replay = self.played?.remote {
            let display = shown.display
            replay.watch { _ in display.replayMoved() }
            // It may begin with a pause.
            display.replayMoved()
        }
        guard shown.isScreen else { return }
        let desk = Result { () throws(OperatorError) in
            let desk = try ServiceDesk(self.settings)
            return self.played.map { desk.searching(Set($0.symbols), of: $0.name) } ?? desk
        }
        let remote = ScreenControls.make(
            feed: feed,
            source: self.feed.source,
            display: shown.display,
            symbols: self.feed.symbols,
            subscriptions: subscriptions,
            watchlist: self.watchlist,
            recorded: self.played?.allSymbols,
            material: self.played?.name ?? "the recording",
            alerts: alerts,
            replay: self.played?.remote,
            desk: desk
        )
        shown.connect(remote)
    }
}
