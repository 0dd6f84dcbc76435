import Market

// The state to draw.
extension ScreenController {
    /// Returns the state to draw: the newest, or the frozen one, with the controller's own notices.
    ///
    /// Only the prices freeze: alerts, events, warnings and the feed's status stay current.
    ///
    /// - Parameter now: monotonic ns.
    func shown(_ state: DisplayState, now: Int64) -> DisplayState {
        var shown = self.frozen ?? state
        shown.news = self.news
        shown.room = self.room
        var notices = [state.notice]
        if let frozen {
            shown.alerts = state.alerts
            shown.events = state.events
            shown.liveStart = state.liveStart
            shown.behind = state.facts
            notices.append(self.meanwhile(state.status, frozen: frozen.status))
        }
        notices.append(self.notice)
        // The newest notice wins; of two at the same time, the controller's.
        shown.notice = notices.compactMap(\.self).filter { $0.isShown(at: now) }.reduce(nil) { newest, notice in
            notice.since >= newest?.since ?? .min ? notice : newest
        }
        return shown
    }

    /// Returns a notice about the feed's status behind a frozen screen, if it differs from the frozen one.
    private func meanwhile(_ status: FeedStatus, frozen: FeedStatus) -> DisplayNotice? {
        guard status.spokenWord != frozen.spokenWord, let start = self.choice.frozenSince else { return nil }
        let reason = status.reason.map { ": \($0)" } ?? ""
        return DisplayNotice(
            text: "meanwhile the feed is \(status.spokenWord)\(reason)",
            since: start.monotonic + max(status.since - start.wall, 0),
            isLasting: true
        )
    }
}
